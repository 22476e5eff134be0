"""One edit: from the call on A until it is readable and durable on B, with few and with many items."""

from ..lab import LabError, percentile

BLOCK = 100
# Milliseconds between edits.
PAUSE = 2


def measure(lab, report):
    sizes = (lab.sizes["large"], lab.sizes["small"])
    pairs = [lab.pair(size) for size in sizes]
    for pair in pairs:
        pair.ensure_connected()
        block(lab, pair, 20)
    times = {size: [] for size in sizes}
    answers = {size: [] for size in sizes}
    floors, beside = [], []
    try:
        redis = lab.redis()
    except LabError as error:
        redis = None
        report.note(f"One edit beside Redis was not measured: {error}")
    # In turn, so that a busy second of the machine hits both alike.
    for start in range(0, lab.sizes["edits"], BLOCK):
        for pair in pairs:
            for answer, reached in block(lab, pair, min(BLOCK, lab.sizes["edits"] - start)):
                answers[pair.size].append(answer)
                times[pair.size].append(reached)
        commit = lab.baseline("commit", lab.directory, 200)
        echo = lab.baseline("echo", 500)
        floors.append({"commit": commit, "echo": echo})
        if redis:
            beside.append(redis.write(BLOCK, PAUSE))
    for pair in pairs:
        value = pair.b.ask("GET", f"/v1/jobs/{pair.job}/items/{pair.items[pair.edits * 7919 % len(pair.items)]}")
        if f"Room {pair.edits}" not in str(value):
            raise ValueError("the last edit cannot be read on B")
    add(report, sizes, times, answers, floors)
    for share, name, limit in ((0.5, "p50", 1.5), (0.99, "p99", 2.0)) if beside else ():
        value, other = percentile(times[sizes[0]], share), percentile([one[name] for one in beside], 0.5)
        report.add(
            f"  {name} beside Redis, flushed on both", value, "ms", limit=limit * other, goal=f"{limit:g}x Redis",
            baseline=other, ratio=value / other, detail={"redis": beside})


def add(report, sizes, times, answers, floors):
    large, small = sizes
    for share, name, limit in ((0.5, "p50", 1.5), (0.99, "p99", 4.0)):
        # The floor: an edit has to be committed twice, one after the other, and to travel once in each direction.
        floor = percentile([2 * one["commit"][name] + one["echo"][name] for one in floors], 0.5)
        value = percentile(times[large], share)
        report.add(
            f"One edit, {large:,} items, {name}", value, "ms", limit=limit, baseline=floor, ratio=value / floor,
            detail={"answer": percentile(answers[large], share), "count": len(times[large]), "floors": floors})
    with_small, with_large = percentile(times[small], 0.5), percentile(times[large], 0.5)
    # "No slower" allows for the noise of two medians.
    report.add(
        f"  p50 beside {small:,} items", with_large, "ms", limit=1.1 * with_small, goal="no slower",
        baseline=with_small, ratio=with_large / with_small,
        detail={"smallP99": percentile(times[small], 0.99), "smallAnswer": percentile(answers[small], 0.5)})


def block(lab, pair, count):
    sequence = pair.a.vector(pair.job)[pair.a_replica]
    requests = list(pair.edit_requests(count, pair.a_replica, sequence))
    return lab.reach(pair.a, pair.job, [pair.b], requests, pause=PAUSE)
