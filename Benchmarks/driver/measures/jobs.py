"""A laptop that catches up with thousands of small jobs, and what it costs to meet again when nothing has changed."""

import time

from ..daemon import LabError
from ..lab import fill

ITEMS = 20
CATCH_UP_SECONDS = 5
MEETING_BYTES = 20_000
MEETING_CORE_SECONDS = 0.1


def measure(lab, report):
    few, many = lab.sizes["jobs"] // 5, lab.sizes["jobs"]
    caught = {count: catch_up(lab, count) for count in (few, many)}
    per_job = {count: caught[count]["seconds"] / count for count in caught}
    report.add(
        f"Catching up with {many:,} jobs of {ITEMS} items", caught[many]["seconds"], "s", limit=CATCH_UP_SECONDS,
        detail=caught)
    report.add(
        f"  a job, beside {few:,} jobs", per_job[many] * 1000, "ms", limit=2 * per_job[few] * 1000, goal="factor 2",
        baseline=per_job[few] * 1000, ratio=per_job[many] / per_job[few])
    meeting = caught[many]["meeting"]
    report.add(f"  meeting again, {many:,} equal jobs", meeting["bytes"], "B", limit=MEETING_BYTES, detail=meeting)
    report.add("  of a core, the worse side", meeting["core"], "s", limit=MEETING_CORE_SECONDS)


def catch_up(lab, count):
    a, b = lab.daemon(f"jobs-a{count}"), lab.daemon(f"jobs-b{count}")
    a.start()
    for number in range(count):
        job = a.ask("POST", "/v1/jobs", {"name": f"Job {number}", "kind": "inventory"})["id"]
        fill(a, job, ITEMS)
    b.start()
    time.sleep(3)
    before = a.sample()
    began = time.monotonic()
    b.ask("POST", "/v1/peers", {"address": a.address})
    await_same(a, b, count)
    seconds = time.monotonic() - began
    core = a.sample()["cpu"] - before["cpu"]
    time.sleep(5)
    b.stop()
    b.start()
    # After a start what was not added up before the stop is: none of that belongs to the meeting.
    time.sleep(10)
    samples = {daemon: daemon.sample() for daemon in (a, b)}
    b.ask("POST", "/v1/peers", {"address": a.address})
    await_same(a, b)
    time.sleep(2)
    spent = [daemon.sample()["cpu"] - sample["cpu"] for daemon, sample in samples.items()]
    peers = b.ask("GET", "/v1/peers")
    meeting = {"core": max(spent), "bytes": sum(peer["bytesReceived"] + peer["bytesSent"] for peer in peers)}
    for daemon in (a, b):
        lab.discard(daemon)
    return {"seconds": seconds, "giving": core, "meeting": meeting}


def await_same(a, b, count=None):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        peers = b.ask("GET", "/v1/peers") + a.ask("GET", "/v1/peers")
        if len(peers) >= 2 and all(peer["state"] == "connected" and peer["behind"] == 0 == peer["ahead"] for peer in peers):
            # To count the jobs costs more than to meet.
            if count is None or b.ask("GET", "/v1/status")["jobs"] == count:
                return
        time.sleep(0.05)
    raise LabError("the two laptops did not agree within 120 s")
