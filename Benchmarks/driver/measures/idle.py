"""What it costs to do nothing with many items: memory, processor, wake-ups; and what a person waits for."""

import os
import subprocess
import time
from statistics import median

from ..lab import LabError


def measure(lab, report):
    size = lab.sizes["large"]
    pair = lab.pair(size)
    pair.ensure_connected()
    # Long enough for what follows a catch-up (checkpoints, indexes) to be over.
    time.sleep(5 if lab.sizes["idle_seconds"] > 5 else 0.5)
    # A has done all the work of this run: its memory is that of a daemon that has lived, not of a fresh one.
    costs = {name: idle(daemon, lab.sizes["idle_seconds"]) for name, daemon in (("a", pair.a), ("b", pair.b))}
    worst = {key: max(cost[key] for cost in costs.values()) for key in costs["a"]}
    report.add(f"Idle with {size:,} items: resident", worst["megabytes"], "MB", limit=60, detail=costs)
    report.add("  of one core", worst["percent"], "%", limit=0.3)
    report.add("  wake-ups", worst["wakeUps"], "/s", limit=3)
    worst_show, times = shows(lab, pair)
    report.add("muster job show, whole process", worst_show, "ms", limit=50, detail={"all": times})
    starts = []
    for _ in range(lab.sizes["starts"]):
        pair.b.stop()
        starts.append(pair.b.start() * 1000)
    report.add("Daemon ready after start", median(starts), "ms", limit=300, detail={"all": starts})


def idle(daemon, seconds):
    before = daemon.sample()
    time.sleep(seconds)
    after = daemon.sample()
    elapsed = after["at"] - before["at"]
    return {
        "megabytes": after["resident"] / 1e6,
        "percent": 100 * (after["cpu"] - before["cpu"]) / elapsed,
        "wakeUps": (after["switches"] - before["switches"]) / elapsed,
    }


def shows(lab, pair):
    command = [str(lab.binaries / "muster"), "job", "show", pair.job, "--json", "--socket", str(pair.a.socket)]
    times = []
    for _ in range(lab.sizes["shows"]):
        began = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=os.environ)
        times.append((time.monotonic() - began) * 1000)
        if done.returncode != 0:
            raise LabError(f"muster job show ended with {done.returncode}: {done.stderr.decode()[:200]}")
    # The first one may have to compute what the others find ready; the figure is the worse of first and median.
    return max(times[0], median(times)), times
