"""What it costs to do nothing with many items: memory, processor, wake-ups; and what a person waits for."""

import os
import resource
import subprocess
import time
from statistics import median

from ..daemon import LabError, watch


def measure(lab, report):
    size = lab.sizes["large"]
    pair = lab.pair(size)
    pair.ensure_connected()
    # Long enough for what follows a catch-up (checkpoints, indexes) to be over.
    time.sleep(5 if lab.sizes["idle_seconds"] > 5 else 0.5)
    # A has done all the work of this run: its memory is that of a daemon that has lived, not of a fresh one.
    costs = dict(zip("ab", watch((pair.a, pair.b), lab.sizes["idle_seconds"])))
    worst = {key: max(cost[key] for cost in costs.values()) for key in costs["a"]}
    report.add(f"Idle with {size:,} items: resident", worst["megabytes"], "MB", limit=60, detail=costs)
    report.add("  of one core", worst["percent"], "%", limit=0.3)
    report.add("  wake-ups", worst["wakeUps"], "/s", limit=3)
    calls = shows(lab, pair)
    # The first one may have to compute what the others find ready; the figure is the worse of first and median. A call for
    # which the machine had to read the programs from disk again, because it had paged them out meanwhile, measures the
    # disk: it is told apart in a note, with the number of such faults.
    ready = [call["milliseconds"] for call in calls if call["majorFaults"] == 0] or [calls[0]["milliseconds"]]
    report.add(
        "muster job show, whole process", max(ready[0], median(ready)), "ms", limit=50, detail={"all": calls})
    if calls[0]["majorFaults"] > 0:
        faults = calls[0]["majorFaults"]
        report.note(
            f"The first muster job show after {lab.sizes['idle_seconds']} s of rest took {calls[0]['milliseconds']:.0f} ms: "
            f"the machine had paged the programs out ({faults} faults).")
    starts = []
    for _ in range(lab.sizes["starts"]):
        pair.b.stop()
        starts.append(pair.b.start() * 1000)
    report.add("Daemon ready after start", median(starts), "ms", limit=300, detail={"all": starts})


def shows(lab, pair):
    command = [str(lab.binaries / "muster"), "job", "show", pair.job, "--json", "--socket", str(pair.a.socket)]
    calls = []
    for _ in range(lab.sizes["shows"]):
        before = major_faults(pair.a)
        began = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=os.environ)
        milliseconds = (time.monotonic() - began) * 1000
        if done.returncode != 0:
            raise LabError(f"muster job show ended with {done.returncode}: {done.stderr.decode()[:200]}")
        calls.append({"milliseconds": milliseconds, "majorFaults": major_faults(pair.a) - before})
    return calls


def major_faults(daemon):
    """How often the daemon, and the programs that have ended here, have waited for a page from disk."""
    with open(f"/proc/{daemon.process.pid}/stat", encoding="utf-8") as file:
        own = int(file.read().rsplit(")", 1)[1].split()[9])
    return own + resource.getrusage(resource.RUSAGE_CHILDREN).ru_majflt
