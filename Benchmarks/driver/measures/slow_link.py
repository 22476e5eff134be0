"""An empty laptop joins over a slow Wi-Fi: how long until it holds the whole job durably, and what that sends."""

import os
import pathlib
import time
from statistics import median

from ..lab import fill
from ..slow_link import SlowLink

MEGABITS_PER_SECOND = 20
ROUND_TRIP_MILLISECONDS = 30


def measure(lab, report):
    if os.geteuid() != 0 or not pathlib.Path("/dev/net/tun").exists():
        report.note("the slow link was left out: it needs root and /dev/net/tun")
        return
    size = lab.sizes["large"]
    with SlowLink(MEGABITS_PER_SECOND * 1e6, ROUND_TRIP_MILLISECONDS / 2000) as link:
        full = start(lab, link, 0, "far")
        job = full.ask("POST", "/v1/jobs", {"name": "Basement", "kind": "inventory"})["id"]
        fill(full, job, size)
        goal = full.vector(job)
        seconds, received = [], []
        for round_number in range(lab.sizes["catch_ups"]):
            empty = start(lab, link, 1, f"far-empty{round_number}")
            request = ("POST", "/v1/peers", {"address": full.address}, goal)
            seconds.append(lab.reach(empty, job, [empty], [request])[0][1] / 1000)
            received.append(sum(peer["bytesReceived"] for peer in empty.peers()))
            if empty.ask("GET", f"/v1/jobs/{job}")["digest"] != full.ask("GET", f"/v1/jobs/{job}")["digest"]:
                raise ValueError("the laptop that caught up holds other bytes than the first")
            lab.discard(empty)
            time.sleep(0.2)
        lab.discard(full)
    bare = median(received) * 8 / (MEGABITS_PER_SECOND * 1e6)
    report.add(
        f"The same over {MEGABITS_PER_SECOND} Mbit/s and {ROUND_TRIP_MILLISECONDS} ms", median(seconds), "s", limit=1.5,
        baseline=bare, ratio=median(seconds) / bare, detail={"seconds": seconds, "bytes": received})


def start(lab, link, index, name):
    daemon = lab.daemon(name, listen=f"{link.address(index)}:7470", prefix=link.inside(index))
    daemon.start()
    return daemon
