"""What encryption and signatures cost: the same program with the null cipher and without signatures, in turns with it."""

import time
from statistics import median

from ..lab import LabError, percentile
from . import edit, idle

# How much of a core, and how many wake-ups, two runs of one program differ by while nothing happens.
NOISE_PERCENT, NOISE_WAKE_UPS = 0.1, 0.5


def measure(lab, report):
    bare = lab.unprotected()
    if bare is None:
        raise LabError("there is no unprotected program to compare with: see Benchmarks/unprotected")
    size = lab.sizes["large"]
    labs = (lab, bare)
    pairs = [one.pair(size) for one in labs]
    catch_ups(lab, report, labs, pairs)
    edits(lab, report, labs, pairs)
    idles(lab, report, pairs)


def catch_ups(lab, report, labs, pairs):
    seconds = ([], [])
    for round_number in range(2 * lab.sizes["catch_ups"] + 1):
        for one, pair, taken in zip(labs, pairs, seconds):
            empty = one.daemon(f"protection{round_number}")
            empty.start()
            request = ("POST", "/v1/peers", {"address": pair.a.address}, pair.a.vector(pair.job))
            taken.append(one.reach(empty, pair.job, [empty], [request])[0][1] / 1000)
            one.discard(empty)
            # The other one notices that the laptop is gone before the next one comes.
            time.sleep(0.2)
    transforms = sum(pairs[0].a.vector(pairs[0].job).values())
    ratio = median(one / other for one, other in zip(*seconds))
    report.add(
        f"Protection: catch-up, {transforms:,}", median(seconds[0]), "s", limit=1.15 * median(seconds[1]),
        goal="1.15 x bare", baseline=median(seconds[1]), ratio=ratio, met=ratio <= 1.15,
        detail={"seconds": seconds[0], "bareSeconds": seconds[1]})


def edits(lab, report, labs, pairs):
    for one, pair in zip(labs, pairs):
        pair.ensure_connected()
        edit.block(one, pair, 20)
    times = ([], [])
    for _ in range(0, lab.sizes["edits"], edit.BLOCK):
        for one, pair, taken in zip(labs, pairs, times):
            taken += [reached for _, reached in edit.block(one, pair, edit.BLOCK)]
    protected, bare = (percentile(taken, 0.5) for taken in times)
    report.add(
        "  one edit, p50", protected, "ms", limit=bare + 0.1, goal="bare + 0.1", baseline=bare, ratio=protected / bare,
        detail={"p99": [percentile(taken, 0.99) for taken in times], "count": len(times[0])})


def idles(lab, report, pairs):
    time.sleep(5 if lab.sizes["idle_seconds"] > 5 else 0.5)
    costs = [idle.idle(pair.b, lab.sizes["idle_seconds"]) for pair in pairs]
    for key, name, unit, noise in (
        ("percent", "  idle, of one core", "%", NOISE_PERCENT), ("wakeUps", "  idle, wake-ups", "/s", NOISE_WAKE_UPS),
    ):
        protected, bare = (cost[key] for cost in costs)
        report.add(
            name, protected, unit, limit=bare + noise, goal=f"bare + {noise:g}", baseline=bare,
            ratio=protected / bare if bare else None, detail=costs)
