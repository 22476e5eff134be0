"""Requests to a server that is away: how many a second become durable on the laptop, one caller after the other."""

from statistics import median

from ..lab import LabError


def measure(lab, report):
    # Half of them before and half after: a disk is not always equally busy.
    raw = [lab.baseline("commit", lab.directory, lab.sizes["mutations"] // 2)]
    backlog = lab.backlog()
    raw.append(lab.baseline("commit", lab.directory, lab.sizes["mutations"] // 2))
    if (waiting := backlog.pending()) != backlog.count:
        raise LabError(f"{backlog.count} requests were answered for and {waiting} wait")
    commits = sum(half["count"] for half in raw) / sum(half["seconds"] for half in raw)
    add(report, f"Enqueue, {backlog.count:,} requests", backlog.advances, commits)
    add(report, "  a job and its request together", backlog.openings, commits)
    # A queue that grows must not make the next request dearer.
    tenth = max(1, len(backlog.advances) // 10)
    first, last = median(backlog.advances[:tenth]), median(backlog.advances[-tenth:])
    report.add(
        "  the last tenth beside the first", last, "ms", limit=1.25 * first, goal="no slower", baseline=first,
        ratio=last / first)


def add(report, name, milliseconds, commits):
    rate = 1000 * len(milliseconds) / sum(milliseconds)
    report.add(
        name, rate, "/s", limit=commits / 10, goal="raw / 10", baseline=commits, ratio=rate / commits,
        met=rate >= commits / 10, detail={"p50": median(milliseconds), "longest": max(milliseconds)})
