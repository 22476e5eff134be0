"""What somebody who scans in another job notices while a very large job is imported, exported, told, caught up, removed."""

import multiprocessing
import sqlite3
import time

from ..daemon import LabError, UnixConnection
from ..lab import fill, percentile

BESIDE = 500
LIMIT_MILLISECONDS = 50
PAUSE_SECONDS = 0.02


def measure(lab, report):
    size = lab.sizes["million"]
    a, b = lab.daemon("busy-a"), lab.daemon("busy-b")
    a.start()
    b.start()
    job = a.ask("POST", "/v1/jobs", {"name": "Warehouse", "kind": "inventory"})["id"]
    scans = {name: Scans(daemon) for name, daemon in (("a", a), ("b", b))}
    phases = []

    def during(what, on, body):
        with scans[on] as answers:
            began = time.monotonic()
            body()
            took = time.monotonic() - began
        phases.append((what, took, answers.times()))

    # As `muster import` sends them.
    during("imported", "a", lambda: fill(a, job, size, rows=1000))
    during("exported", "a", lambda: drain(a, f"/v1/jobs/{job}/export"))
    during("told in the log", "a", lambda: drain(a, f"/v1/jobs/{job}/log"))
    resident = peak(a)
    during("caught up with, giving", "a", lambda: catch_up(a, b, job))
    lab.discard(b)
    b = lab.daemon("busy-c")
    b.start()
    scans["b"] = Scans(b)
    during("caught up with, taking", "b", lambda: catch_up(a, b, job))
    during("removed", "a", lambda: remove(a, job))
    during("removed, told by a peer", "b", lambda: freed(b))
    for what, took, times in phases:
        report.add(
            f"{size:,} items {what}: a scan, p99", percentile(times, 0.99), "ms", limit=LIMIT_MILLISECONDS,
            detail={"seconds": took, "scans": len(times), "p50": percentile(times, 0.5), "worst": max(times)})
    report.note(f"With {size:,} items, after import, export and log: {resident / 1e6:.0f} MB resident at most.")
    lab.discard(b)
    lab.discard(a)


class Scans:
    """Edits and looks up barcodes in a job of its own, every 20 ms, in a process of its own: this one is busy."""

    def __init__(self, daemon):
        self.socket = daemon.socket
        self.job = daemon.ask("POST", "/v1/jobs", {"name": f"Beside {daemon.address}", "kind": "inventory"})["id"]
        fill(daemon, self.job, BESIDE)
        self.barcodes = [item["fields"]["barcode"] for item in daemon.ask("GET", f"/v1/jobs/{self.job}/items")]

    def __enter__(self):
        self.here, there = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=scan, args=(str(self.socket), self.job, self.barcodes, there))
        self.process.start()
        self.milliseconds = []
        return self

    def __exit__(self, *_):
        self.here.send("enough")
        if self.here.poll(60):
            self.milliseconds = self.here.recv()
        self.process.join(10)
        if self.process.is_alive():
            self.process.kill()

    def times(self):
        if len(self.milliseconds) < 5:
            raise LabError("too few scans were made to judge by")
        return self.milliseconds


def scan(path, job, barcodes, pipe):
    connection = UnixConnection(path)
    times = []
    at = 0
    while not pipe.poll(PAUSE_SECONDS) or at < 10:
        barcode = barcodes[at * 7919 % len(barcodes)]
        place = f"/v1/jobs/{job}/items/{barcode}"
        began = time.monotonic()
        if at % 2:
            connection.request("PATCH", place, f'{{"fields": {{"room": "Room {at}"}}}}', {"Content-Type": "application/json"})
        else:
            connection.request("GET", place)
        answer = connection.getresponse()
        answer.read()
        times.append((time.monotonic() - began) * 1000)
        if answer.status != 200:
            break
        at += 1
    pipe.send(times)


def drain(daemon, path):
    connection = UnixConnection(daemon.socket)
    connection.request("GET", path)
    answer = connection.getresponse()
    while answer.read(1 << 20):
        pass
    connection.close()


def peak(daemon):
    with open(f"/proc/{daemon.process.pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def catch_up(a, b, job):
    b.ask("POST", "/v1/peers", {"address": a.address})
    goal = a.vector(job)
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        held = [entry["id"] for entry in b.ask("GET", "/v1/jobs")]
        if job in held and b.vector(job) == goal:
            return
        time.sleep(0.5)
    raise LabError("the laptop did not catch up within 600 s")


def remove(daemon, job):
    daemon.ask("DELETE", f"/v1/jobs/{job}?confirmed=true")
    freed(daemon)


def freed(daemon):
    """Waits until nothing of a removed job is left."""
    deadline = time.monotonic() + 600
    with sqlite3.connect(f"file:{daemon.state / 'muster.sqlite'}?mode=ro", uri=True) as database:
        while database.execute("SELECT count(*) FROM garbage").fetchone()[0]:
            if time.monotonic() > deadline:
                raise LabError("what the removed job left was not freed within 600 s")
            time.sleep(0.5)
