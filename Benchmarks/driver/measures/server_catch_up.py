"""An empty laptop gets a job from the server, beside an empty laptop that gets the same from a peer."""

import json
import time
from statistics import median

from ..daemon import UnixConnection
from ..lab import LabError

PATIENCE_SECONDS = 120
# Nothing in the stream for so long: perhaps all of it came before the stream was open.
QUIET_SECONDS = 0.5


def measure(lab, report):
    size = lab.sizes["large"]
    pair = lab.pair(size)
    goal = pair.a.vector(pair.job)
    with lab.server("catch-up").start() as server:
        upload = fill(lab, pair, server, goal)
        taken = {"peer": [], "server": []}
        for number in range(lab.sizes["catch_ups"]):
            ways = {"peer": ["--peer", pair.a.address], "server": server.flags}
            for way, flags in ways.items():
                taken[way].append(catch_up(lab, pair, goal, f"{way}{number}", flags))
    server_seconds, peer_seconds = (median(one["seconds"] for one in taken[way]) for way in ("server", "peer"))
    ratio = median(one["seconds"] / other["seconds"] for one, other in zip(taken["server"], taken["peer"], strict=True))
    report.add(
        f"Catch-up from server, {size:,} items", server_seconds, "s", limit=3 * peer_seconds, goal="3 x peer",
        baseline=peer_seconds, ratio=ratio, met=ratio <= 3, detail={**taken, "uploadSeconds": upload})
    # The first poll of a laptop comes by chance within 0.3 s, so that a fleet does not ask all at once.
    bare_server, bare_peer = (median(one["sinceFirst"] for one in taken[way]) for way in ("server", "peer"))
    report.add(
        "  from its first run of changes", bare_server, "s", limit=2 * bare_peer, goal="2 x peer", baseline=bare_peer,
        ratio=bare_server / bare_peer)


def fill(lab, pair, server, goal):
    """A laptop gets everything from A and brings it to the server; the seconds that the way to the server took."""
    gateway = lab.daemon("gateway", extra=["--peer", pair.a.address, *server.flags])
    gateway.start()
    await_held(gateway, pair.job, goal)
    began = time.monotonic()
    ask = server.asking()
    while True:
        try:
            vector = ask("GET", f"/v1/jobs/{pair.job}/vector")["entries"]
            held = {entry["replica"]: entry["sequence"] for entry in vector}
            if all(held.get(replica, 0) >= sequence for replica, sequence in goal.items()):
                break
        except LabError:
            held = {}
        if time.monotonic() - began > PATIENCE_SECONDS:
            raise LabError(f"the gateway has brought {sum(held.values())} transforms to the server and no more")
        time.sleep(0.02)
    took = time.monotonic() - began
    # The server says what it has accepted.
    time.sleep(1)
    lab.discard(gateway)
    return took


def catch_up(lab, pair, goal, name, flags):
    """Seconds from the laptop's start until it holds everything durably, and since it held the first of it."""
    laptop = lab.daemon(name, extra=flags)
    began = time.monotonic()
    laptop.start()
    first, last = await_held(laptop, pair.job, goal)
    if laptop.ask("GET", f"/v1/jobs/{pair.job}")["digest"] != pair.a.ask("GET", f"/v1/jobs/{pair.job}")["digest"]:
        raise ValueError(f"what came from the {name.rstrip('0123456789')} is not what the first laptop holds")
    lab.discard(laptop)
    time.sleep(0.2)
    return {"seconds": last - began, "sinceFirst": max(last - first, 1e-6)}


def events(laptop):
    stream = UnixConnection(laptop.socket)
    stream.timeout = QUIET_SECONDS
    stream.request("GET", "/v1/events?type=job")
    return stream, stream.getresponse()


def await_held(laptop, job, goal):
    """When the laptop first told of something that the goal names, and when of all of it."""
    stream, answer = events(laptop)
    first, deadline = None, time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            line = answer.readline()
        except TimeoutError:
            # After a time-out the buffered file cannot be read on.
            stream.close()
            if any(one["id"] == job for one in laptop.ask("GET", "/v1/jobs")):
                if reached(laptop.vector(job), goal):
                    now = time.monotonic()
                    return first or now, now
            stream, answer = events(laptop)
            continue
        if not line.startswith(b"data:") or job.encode() not in line:
            continue
        vector = json.loads(line[5:]).get("vector", {})
        first = first or (time.monotonic() if any(replica in vector for replica in goal) else None)
        if reached(vector, goal):
            stream.close()
            return first, time.monotonic()
    raise LabError(f"a laptop did not catch up within {PATIENCE_SECONDS} s")


def reached(vector, goal):
    return all(vector.get(replica, 0) >= sequence for replica, sequence in goal.items())
