"""A full crew on one network: how soon the last of sixteen laptops has an edit, and how often each one is sent it."""

import os
import time

from ..crew import Bridge, await_everywhere, received, require_equal, start
from ..lab import fill, percentile

WARM_UP = 30


def measure(lab, report):
    if os.geteuid() != 0:
        report.note("sixteen daemons were left out: network namespaces need root")
        return
    count, edits = lab.sizes["devices"], lab.sizes["spread_edits"]
    with Bridge(count) as bridge:
        crew = start(lab, bridge, count)
        first = crew[0]
        job = first.ask("POST", "/v1/jobs", {"name": "Crew", "kind": "inventory"})["id"]
        items, _ = fill(first, job, 100)
        await_everywhere(crew, job)
        replica = first.ask("GET", "/v1/status")["replicaID"]
        spread(lab, crew, job, items, replica, WARM_UP)
        before = received(crew)
        times = spread(lab, crew, job, items, replica, edits)
        time.sleep(0.5)
        after = received(crew)
        require_equal(crew, job)
        last = [max(row[1:]) for row in times]
        median_time, worst_time = percentile(last, 0.5), percentile(last, 0.99)
        report.add(
            f"{count} laptops, the last has an edit, p99", worst_time, "ms", limit=50,
            detail={"p50": median_time, "worst": max(last), "edits": edits})
        copies = (after - before) / (edits * (count - 1))
        report.add("  copies received per device", copies, "", limit=1.2)
        for daemon in crew:
            lab.discard(daemon)


def spread(lab, crew, job, items, replica, count):
    """One edit after the other on the first laptop, watched on all others."""
    sequence = crew[0].vector(job)[replica]
    requests = [
        (
            "PATCH", f"/v1/jobs/{job}/items/{items[at % len(items)]}", {"fields": {"room": f"Room {sequence + at}"}},
            {replica: sequence + at},
        )
        for at in range(1, count + 1)
    ]
    return lab.reach(crew[0], job, crew[1:], requests, pause=20)
