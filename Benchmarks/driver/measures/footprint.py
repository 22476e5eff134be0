"""What it costs to have Muster on a laptop all day, beside Syncthing with the same items as files."""

import time
from statistics import median

from lab import free_port

from ..daemon import LabError, watch
from ..lab import fill
from ..syncthing import Syncthing, write_items

JOBS = 100
READY_MILLISECONDS = 300
UNTIL_SAME_SECONDS = 1800
REST_SECONDS = 30


def measure(lab, report):
    count = lab.sizes["large"]
    ours = muster(lab, count)
    report.add(
        f"Ready again, {JOBS} jobs of {count // JOBS:,} items", ours["start"], "ms", limit=READY_MILLISECONDS,
        detail=ours)
    theirs = syncthing(lab, count)
    minutes = lab.sizes["footprint_seconds"] / 60
    for name, key, unit in (
        (f"{minutes:.0f} min idle, {count:,} items: resident", "megabytes", "MB"), ("  of one core", "percent", "%"),
        ("  wake-ups", "wakeUps", "/s"), ("  from start to an answer", "start", "ms"),
    ):
        report.add(
            name, ours[key], unit, limit=theirs[key], goal="Syncthing", baseline=theirs[key],
            ratio=ours[key] / theirs[key] if theirs[key] else None, detail={"muster": ours, "syncthing": theirs})


def muster(lab, count):
    a, b = lab.daemon("footprint-a"), lab.daemon("footprint-b")
    a.start()
    for number in range(JOBS):
        job = a.ask("POST", "/v1/jobs", {"name": f"Job {number}", "kind": "inventory"})["id"]
        fill(a, job, count // JOBS)
    b.start()
    b.ask("POST", "/v1/peers", {"address": a.address})
    wait_for(lambda: same(a, b), "Muster's two daemons")
    costs = rested(lab, (a, b))
    costs["start"] = starts(lab, b)
    for daemon in (a, b):
        lab.discard(daemon)
    return costs


def same(a, b):
    counts = [sum(job["items"] for job in daemon.ask("GET", "/v1/jobs")) for daemon in (a, b)]
    peers = a.ask("GET", "/v1/peers") + b.ask("GET", "/v1/peers")
    return counts[0] == counts[1] and len(peers) >= 2 and all(
        peer["state"] == "connected" and peer["behind"] == 0 == peer["ahead"] for peer in peers)


def syncthing(lab, count):
    pair = [
        Syncthing(lab.directory / f"syncthing-{name}", (free_port(), free_port())) for name in ("a", "b")]
    try:
        pair[0].share_with(pair[1])
        pair[1].share_with(pair[0])
        write_items(pair[0].files, count)
        for daemon in pair:
            daemon.start()
        wait_for(lambda: all(daemon.holds(count) for daemon in pair), "Syncthing's two daemons")
        costs = rested(lab, pair)
        costs["start"] = starts(lab, pair[1])
        return costs
    finally:
        for daemon in pair:
            daemon.stop()


def rested(lab, pair):
    """The worse of the two, once what follows a catch-up is over."""
    seconds = lab.sizes["footprint_seconds"]
    time.sleep(min(REST_SECONDS, seconds))
    costs = watch(pair, seconds)
    return {key: max(cost[key] for cost in costs) for key in costs[0]}


def starts(lab, daemon):
    """Milliseconds; the median."""
    took = []
    for _ in range(lab.sizes["starts"]):
        daemon.stop()
        took.append(daemon.start() * 1000)
    return median(took)


def wait_for(condition, who):
    deadline = time.monotonic() + UNTIL_SAME_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise LabError(f"{who} did not agree within {UNTIL_SAME_SECONDS} s")
        time.sleep(0.5)
