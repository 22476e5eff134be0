"""A crew far larger than any, with few links each, that works all at once: how often each laptop is sent each edit."""

import os
import random
import threading
import time

from ..crew import Bridge, await_everywhere, received, require_equal, start
from ..lab import LabError, fill

LINKS = 4


def measure(lab, report):
    if os.geteuid() != 0:
        report.note("the storm was left out: network namespaces need root")
        return
    count, edits = lab.sizes["storm_devices"], lab.sizes["storm_edits"]
    draw = random.Random(48)
    with Bridge(count) as bridge:
        crew = start(lab, bridge, count, lambda earlier: draw.sample(earlier, min(LINKS, len(earlier))))
        job = crew[0].ask("POST", "/v1/jobs", {"name": "Crew", "kind": "inventory"})["id"]
        items, _ = fill(crew[0], job, count * edits)
        await_everywhere(crew, job)
        before = received(crew)
        began = time.monotonic()
        together = [
            threading.Thread(target=work, args=(daemon, job, items[at * edits:(at + 1) * edits], at))
            for at, daemon in enumerate(crew)
        ]
        for one in together:
            one.start()
        for one in together:
            one.join()
        await_level(crew, job, count)
        seconds = time.monotonic() - began
        # Acknowledgements and what is still on its way.
        time.sleep(1)
        copies = (received(crew) - before) / (count * edits * (count - 1))
        report.add(
            f"{count} laptops edit {edits} items each at once: copies", copies, "", limit=2,
            detail={"seconds until all hold all": seconds, "links dialled by each": LINKS})
        for daemon in crew:
            lab.discard(daemon)


def work(daemon, job, items, at):
    for item in items:
        daemon.ask("PATCH", f"/v1/jobs/{job}/items/{item}", {"fields": {"room": f"Room of {at}"}})


def await_level(crew, job, authors):
    deadline = time.monotonic() + 120
    while True:
        vectors = [daemon.vector(job) for daemon in crew]
        if len(vectors[0]) == authors and all(vector == vectors[0] for vector in vectors):
            break
        if time.monotonic() > deadline:
            raise LabError("the laptops were not level after 120 s")
        time.sleep(0.1)
    require_equal(crew, job)
