"""A laptop with a long queue meets the server: how long until the last outcome is durable on the laptop."""

import time

from ..lab import LabError

# Each request has to be committed at the server and its outcome here, and to travel once.
COMMITS_EACH = 2


def measure(lab, report):
    backlog = lab.backlog()
    laptop, server = backlog.laptop, backlog.server
    tokens = sorted(entry["token"] for entry in laptop.ask("GET", "/v1/queue"))
    commits = lab.baseline("commit", lab.directory, backlog.count // 2)["seconds"]
    trips = lab.polls("raw", 1, backlog.count, "GET /v1/time HTTP/1.1")["seconds"]
    # Whoever finds no server tries ever more seldom: the laptop is started when the server is there.
    laptop.stop()
    server.start()
    began = time.monotonic()
    laptop.start()
    await_empty(backlog, began)
    took = time.monotonic() - began
    cores = {"laptop": laptop.sample()["cpu"], "server": server.processor_seconds()}
    check(backlog, tokens)
    # Half of it before and half after: a disk is not always equally busy.
    commits += lab.baseline("commit", lab.directory, backlog.count - backlog.count // 2)["seconds"]
    floor = COMMITS_EACH * commits + trips
    detail = {"commits": commits, "roundTrips": trips, "coreSeconds": cores, "perSecond": backlog.count / took}
    report.add(
        f"Drain, {backlog.count:,} requests", took, "s", limit=10 * floor, goal="10 x raw", baseline=floor,
        ratio=took / floor, detail=detail)
    for side, seconds in cores.items():
        report.add(f"  the {side}'s core, a request", 1000 * seconds / backlog.count, "ms", limit=1.5)


def await_empty(backlog, began):
    while left := backlog.pending():
        elapsed = time.monotonic() - began
        if elapsed > 300:
            raise LabError(f"{left} of {backlog.count} requests still wait after 300 s")
        # Seldom at first: asking is work for the laptop, too.
        rate = max(1, backlog.count - left) / elapsed
        time.sleep(max(0.005, min(0.3 * left / rate, 0.1 * elapsed)))


def check(backlog, tokens):
    """Each token has one outcome at the server, accepted, and each job went through its states in order."""
    ask = backlog.server.asking()
    decided = []
    for job in backlog.jobs:
        states, after = [], 0
        while page := ask("GET", f"/v1/jobs/{job}/channel?after={after}&limit=500")["entries"]:
            after = page[-1]["last"]
            states += [entry["published"]["state"] for entry in page if "state" in entry["published"]]
            outcomes = [outcome for entry in page for outcome in entry["outcomes"]]
            decided += [outcome["token"] for outcome in outcomes if outcome["verdict"] == "accepted"]
        if states != backlog.states:
            raise LabError(f"the office was told {states} of {job}")
    if sorted(decided) != tokens or len(tokens) != backlog.count:
        raise LabError(f"{backlog.count} requests, of which {len(tokens)} were queued, had {len(decided)} effects")
