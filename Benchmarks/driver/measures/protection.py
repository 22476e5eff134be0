"""What encryption and signatures cost: the same program with the null cipher and without signatures, in turns with it."""

import subprocess
import time
from statistics import median

from ..daemon import LabError, watch
from ..lab import percentile
from . import edit

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
        goal="1.15x bare", baseline=median(seconds[1]), ratio=ratio, met=ratio <= 1.15,
        detail={"seconds": seconds[0], "bareSeconds": seconds[1]})


def edits(lab, report, labs, pairs):
    for one, pair in zip(labs, pairs):
        pair.ensure_connected()
        edit.block(one, pair, 20)
    # Each round begins with the other one: who comes second finds the disk as the first has left it.
    rounds = ([], [])
    for number in range(lab.sizes["protection_rounds"]):
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            taken = [reached for _, reached in edit.block(labs[which], pairs[which], edit.BLOCK)]
            rounds[which].append(percentile(taken, 0.5))
    more = [one - other for one, other in zip(*rounds)]
    raw = signature()
    report.add(
        "  one edit more, p50", median(more), "ms", limit=0.1, baseline=raw, ratio=raw and median(more) / raw,
        detail={"more": more, "edits": edit.BLOCK * len(more)})
    quarter, three = (percentile(more, share) for share in (0.25, 0.75))
    protected, bare = (median(taken) for taken in rounds)
    report.note(
        f"One edit, {len(more)} rounds of {edit.BLOCK} in turns: {protected:.2f} ms beside {bare:.2f} ms; half of the\n"
        f"differences lie between {quarter:.3f} and {three:.3f} ms. Beside it: a signature and its check.")


def signature():
    """Milliseconds that an Ed25519 signature and its check take by themselves, with OpenSSL; None without it."""
    try:
        done = subprocess.run(
            ["openssl", "speed", "-seconds", "3", "-mr", "ed25519"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    # "+F6:0:253:Ed25519:22402.0:7679.0": how many a second.
    sign, verify = map(float, done.stdout.strip().splitlines()[-1].split(":")[-2:])
    return 1000 * (1 / sign + 1 / verify)


def idles(lab, report, pairs):
    time.sleep(5 if lab.sizes["idle_seconds"] > 5 else 0.5)
    costs = watch([pair.b for pair in pairs], lab.sizes["idle_seconds"])
    for key, name, unit, noise in (
        ("percent", "  idle, of one core", "%", NOISE_PERCENT), ("wakeUps", "  idle, wake-ups", "/s", NOISE_WAKE_UPS),
    ):
        protected, bare = (cost[key] for cost in costs)
        report.add(
            name, protected, unit, limit=bare + noise, goal=f"bare + {noise:g}", baseline=bare,
            ratio=protected / bare if bare else None, detail=costs)
