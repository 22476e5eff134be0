"""A crew's edits and a laptop with a slow disk: how long after the author's answer it holds them, in its own flushes."""

import os
import time

from ..daemon import LabError
from ..lab import fill, percentile

FLUSHES_MILLISECONDS = (5, 50, 200, 500)
EDITS_PER_SECOND = 20
SECONDS = 8
LIMIT_FLUSHES = 3


def measure(lab, report):
    for flush in FLUSHES_MILLISECONDS:
        late = lateness(lab, flush)
        report.add(
            f"{EDITS_PER_SECOND} edits/s to a disk of {flush} ms, p99", percentile(late, 0.99), "ms",
            limit=LIMIT_FLUSHES * flush + 50, goal=f"{LIMIT_FLUSHES} flushes", baseline=flush,
            ratio=percentile(late, 0.99) / flush, detail={"p50": percentile(late, 0.5), "worst": max(late)})


def lateness(lab, flush):
    """Milliseconds from the author's answer until the slow laptop holds each of the edits."""
    a, b = lab.daemon(f"slow-a{flush}"), lab.daemon(f"slow-b{flush}")
    a.start()
    job = a.ask("POST", "/v1/jobs", {"name": "Slow", "kind": "inventory"})["id"]
    items, _ = fill(a, job, 100)
    os.environ.update(LD_PRELOAD=str(lab.tools / "slow_flush.so"), SLOW_FLUSH_MILLISECONDS=str(flush))
    try:
        b.start()
    finally:
        del os.environ["LD_PRELOAD"], os.environ["SLOW_FLUSH_MILLISECONDS"]
    b.ask("POST", "/v1/peers", {"address": a.address})
    replica = a.ask("GET", "/v1/status")["replicaID"]
    await_held(b, job, replica, a.vector(job)[replica])
    first = a.vector(job)[replica]
    answered = []
    arrived = {}
    began = time.monotonic()
    count = EDITS_PER_SECOND * SECONDS
    while len(arrived) < count:
        due = began + len(answered) / EDITS_PER_SECOND
        if len(answered) < count and time.monotonic() >= due:
            item = items[len(answered) % len(items)]
            a.ask("PATCH", f"/v1/jobs/{job}/items/{item}", {"fields": {"room": f"Room {len(answered)}"}})
            answered.append(time.monotonic())
        held = b.vector(job)[replica] - first
        for number in range(len(arrived), min(held, len(answered))):
            arrived[number] = time.monotonic()
        if time.monotonic() > began + SECONDS + 60:
            raise LabError(f"of {count} edits only {len(arrived)} came to the slow disk")
        time.sleep(0.005)
    for daemon in (a, b):
        lab.discard(daemon)
    return [(arrived[number] - answered[number]) * 1000 for number in range(count)]


def await_held(daemon, job, replica, sequence):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if job in [entry["id"] for entry in daemon.ask("GET", "/v1/jobs")] and daemon.vector(job).get(replica) == sequence:
            return
        time.sleep(0.05)
    raise LabError("the slow laptop did not catch up within 60 s")
