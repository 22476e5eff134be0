"""A full crew on one network: how soon the last of sixteen laptops has an edit, and how often each one is sent it."""

import os
import time

from ..lab import LabError, fill, percentile
from ..network import Namespaces, ip

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
        if len({daemon.ask("GET", f"/v1/jobs/{job}")["digest"] for daemon in crew}) != 1:
            raise ValueError("the laptops of the crew hold different bytes in the end")
        last = [max(row[1:]) for row in times]
        median_time, worst_time = percentile(last, 0.5), percentile(last, 0.99)
        report.add(
            f"{count} laptops, the last has an edit, p99", worst_time, "ms", limit=50,
            detail={"p50": median_time, "worst": max(last), "edits": edits})
        if None in (before, after):
            raise LabError("the daemons do not count transformsReceived per peer")
        copies = (after - before) / (edits * (count - 1))
        report.add("  copies received per device", copies, "", limit=1.2)
        for daemon in crew:
            lab.discard(daemon)


def start(lab, bridge, count, known=lambda earlier: earlier):
    """Each knows all earlier ones, as discovery would tell it, or those that `known` picks of them."""
    crew = []
    for index in range(count):
        extra = ["--insecure-lan"]
        for earlier in known(crew):
            extra += ["--peer", earlier.address]
        daemon = lab.daemon(
            f"crew{index}", listen=f"{bridge.address(index)}:7470", prefix=bridge.inside(index), extra=extra)
        daemon.start()
        crew.append(daemon)
    return crew


def await_everywhere(crew, job):
    goal = crew[0].vector(job)
    deadline = time.monotonic() + 30
    for daemon in crew:
        while True:
            if any(one["id"] == job for one in daemon.ask("GET", "/v1/jobs")) and daemon.vector(job) == goal:
                break
            if time.monotonic() > deadline:
                raise LabError("not every laptop of the crew got the job within 30 s")
            time.sleep(0.05)


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


def received(crew):
    counts = [peer.get("transformsReceived") for daemon in crew for peer in daemon.peers()]
    return None if None in counts else sum(counts)


class Bridge(Namespaces):
    """A bridge in a namespace of its own and a namespace per laptop."""

    def __init__(self, count):
        super().__init__("mb")
        self.count = count

    def build(self):
        switch = self.namespace("sw")
        ip("-n", switch, "link", "add", "br0", "type", "bridge")
        ip("-n", switch, "link", "set", "br0", "up")
        for index in range(self.count):
            laptop = self.namespace(str(index))
            ip("-n", switch, "link", "add", f"p{index}", "type", "veth", "peer", "name", "eth0", "netns", laptop)
            ip("-n", switch, "link", "set", f"p{index}", "master", "br0", "up")
            ip("-n", laptop, "address", "add", f"{self.address(index)}/24", "dev", "eth0")
            ip("-n", laptop, "link", "set", "lo", "up")
            ip("-n", laptop, "link", "set", "eth0", "up")

    def address(self, index):
        return f"10.77.0.{index + 1}"
