"""Two laptops that were apart for ten edits: how soon they agree after connecting, and what that sends."""

import time
from statistics import median

EACH = 5


def measure(lab, report):
    sizes = (lab.sizes["large"], lab.sizes["small"])
    pairs = [lab.pair(size) for size in sizes]
    for pair in pairs:
        pair.ensure_connected()
    milliseconds = {size: [] for size in sizes}
    sent = {size: [] for size in sizes}
    for _ in range(lab.sizes["differences"]):
        for pair in pairs:
            took, total = part_and_meet(pair)
            milliseconds[pair.size].append(took)
            sent[pair.size].append(total)
    large, small = sizes
    report.add(
        f"10 edits apart, {large:,} items", median(milliseconds[large]), "ms", limit=20,
        detail={"all": milliseconds[large], "worst": max(milliseconds[large])})
    report.add("  on the wire, both ways", median(sent[large]), "B", limit=4000, detail={"all": sent[large]})
    ratio = median(milliseconds[large]) / median(milliseconds[small])
    report.add(
        f"  beside {small:,} items", median(milliseconds[large]), "ms", limit=2 * median(milliseconds[small]),
        goal="factor 2", baseline=median(milliseconds[small]), ratio=ratio, met=0.5 <= ratio <= 2,
        detail={"all": milliseconds[small], "bytes": sent[small]})


def part_and_meet(pair):
    """Five edits on each side while B is away from A; milliseconds and bytes from the call to dial to agreement."""
    pair.b.stop()
    write(pair, pair.a)
    pair.b.start()
    write(pair, pair.b)
    took = pair.connect()
    # The last acknowledgement is part of the bill.
    time.sleep(0.05)
    peers = pair.b.peers()
    if pair.a.ask("GET", f"/v1/jobs/{pair.job}")["digest"] != pair.b.ask("GET", f"/v1/jobs/{pair.job}")["digest"]:
        raise ValueError("the two laptops hold different bytes after they agreed")
    return took, sum(peer["bytesReceived"] + peer["bytesSent"] for peer in peers)


def write(pair, daemon):
    for method, path, body, _ in pair.edit_requests(EACH, pair.a_replica, 0):
        daemon.ask(method, path, body)
