"""An empty laptop joins: how long until it holds the whole job durably, and how many bytes that took."""

import time
from statistics import median


def measure(lab, report):
    size = lab.sizes["large"]
    pair = lab.pair(size)
    goal = pair.a.vector(pair.job)
    transforms = sum(goal.values())
    seconds, raw, received = [], [], []
    for round_number in range(lab.sizes["catch_ups"]):
        raw.append(lab.baseline("rows", lab.directory, size)["seconds"])
        empty = lab.daemon(f"empty{round_number}")
        empty.start()
        request = ("POST", "/v1/peers", {"address": pair.a.address}, goal)
        seconds.append(lab.reach(empty, pair.job, [empty], [request])[0][1] / 1000)
        received.append(sum(peer["bytesReceived"] for peer in empty.peers()))
        check(pair, empty)
        lab.discard(empty)
        # A notices that the laptop is gone before the next one comes.
        time.sleep(0.2)
    detail = {"seconds": seconds, "rawSeconds": raw, "importSeconds": pair.import_seconds, "transforms": transforms}
    ratio = median(one / other for one, other in zip(seconds, raw, strict=True))
    report.add(
        f"Catch-up, {size:,} items", median(seconds), "s", limit=1.5 * median(raw), goal="1.5 x raw",
        baseline=median(raw), ratio=ratio, met=ratio <= 1.5, detail=detail)
    report.add(
        "  on the wire, a transform", median(received) / transforms, "B", limit=20, detail={"bytes": received})


def check(pair, empty):
    """The laptop really holds what its event said: same digest."""
    if empty.ask("GET", f"/v1/jobs/{pair.job}")["digest"] != pair.a.ask("GET", f"/v1/jobs/{pair.job}")["digest"]:
        raise ValueError("the laptop that caught up holds other bytes than the first")
