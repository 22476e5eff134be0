"""The place where daemons are put side by side: directories, tools, and inventories of a given size."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import time

from lab import free_port, shared_fleet

from .backlog import Backlog
from .daemon import Daemon, LabError
from .redis import Redis
from .server import Server

__all__ = ["Lab", "LabError", "Pair", "percentile"]

ROOMS = ("Living room", "Dining room", "Bedroom one", "Guest rooms", "Garage left", "Attic right")
CATEGORIES = (
    "carton-small", "carton-large", "sofa-3-seat", "dining-chair", "office-chair", "lamp-floor", "sofa-sectional",
    "coffee-table",
)
CONDITIONS = ("good", "used", "worn", "torn")
BATCH = 5000


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def fields(index):
    """Six values as a household inventory has them: about 61 bytes, barcodes in no order."""
    return {
        "barcode": f"{2_000_000_000_000 + index * 2_654_435_761 % 99_999_999_977:013d}",
        "category": CATEGORIES[index * 7 % 8],
        "name": f"Numbered item {index:06d}",
        "room": ROOMS[index * 5 % 6],
        "quantity": "1",
        "condition": CONDITIONS[index * 3 % 4],
    }


class Lab:
    def __init__(self, binaries, tools, sizes, unprotected=None):
        self.binaries, self.tools, self.sizes = binaries.resolve(), tools.resolve(), sizes
        self._unprotected = unprotected and Lab(unprotected, tools, sizes)
        self._beside = None
        self.daemons = []
        self.servers = []
        self._pairs = {}
        self._redis = None
        self._backlog = None

    def __enter__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=self.tools))
        # The path of a Unix socket has 107 bytes at most, so these do not lie below the checkout.
        self.sockets = pathlib.Path(tempfile.mkdtemp(prefix="muster-"))
        return self

    def __exit__(self, *those):
        if self._beside:
            self._beside.__exit__(*those)
        for daemon in self.daemons:
            daemon.stop()
        for server in self.servers:
            server.stop()
        if self._redis:
            self._redis.stop()
        shutil.rmtree(self.directory, ignore_errors=True)
        shutil.rmtree(self.sockets, ignore_errors=True)

    def daemon(self, name, listen=None, **how):
        daemon = Daemon(
            self.binaries / "musterd", self.directory, self.sockets, name, listen or f"127.0.0.1:{free_port()}", **how)
        self.daemons.append(daemon)
        return daemon

    def discard(self, daemon):
        daemon.stop()
        self.daemons.remove(daemon)
        shutil.rmtree(daemon.state, ignore_errors=True)

    def server(self, name):
        """A muster-channel of the fleet that is not started yet."""
        server = Server(self.binaries / "muster-channel", self.directory / name, free_port())
        server.join(shared_fleet(str(self.binaries)))
        self.servers.append(server)
        return server

    def unprotected(self):
        """The place of the programs without encryption and signatures; made once, None without them."""
        if self._unprotected and not self._beside:
            self._beside = self._unprotected.__enter__()
        return self._beside

    def backlog(self):
        """A laptop that has asked for much while the server was away; made once."""
        if self._backlog is None:
            self._backlog = Backlog(self, self.sizes["mutations"])
        return self._backlog

    def redis(self):
        """A Redis server with its replica; made once."""
        if self._redis is None:
            self._redis = Redis(self.tools, self.directory, (free_port(), free_port()))
            self._redis.ready()
        return self._redis

    def pair(self, size):
        """Two connected daemons that hold one job of this many items; made once."""
        if size not in self._pairs:
            self._pairs[size] = Pair(self, size)
        return self._pairs[size]

    def baseline(self, what, *arguments):
        command = [str(self.tools / "baseline"), what, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise LabError(f"baseline {what}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def polls(self, where, connections, count, *request):
        """Sends one request over and over: to a Unix socket, or to a "raw" server that only answers."""
        command = [str(self.tools / "polls"), str(where), str(connections), str(count)]
        head = "\n".join([*request, "Host: localhost"]) + "\n"
        done = subprocess.run(command, input=head, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise LabError(f"polls: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def reach(self, on, job, watch, requests, pause=0.0):
        """Sends (method, path, body, goal) one by one; per request, milliseconds to the answer and to each watcher."""
        lines = []
        for method, path, body, goal in requests:
            text = " ".join(f"{replica}={sequence}" for replica, sequence in sorted(goal.items()))
            lines.append("\t".join((method, path, json.dumps(body), text)) + "\n")
        command = [str(self.tools / "reach"), "--on", str(on.socket), "--job", job, "--pause", str(pause)]
        for daemon in watch:
            command += ["--watch", str(daemon.socket)]
        done = subprocess.run(command, input="".join(lines), capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise LabError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "reach failed")
        return [tuple(map(float, line.split())) for line in done.stdout.splitlines()]


class Pair:
    """Two laptops, A and B, of which A wrote everything."""

    def __init__(self, lab, size):
        self.lab, self.size, self.edits = lab, size, 0
        self.a, self.b = lab.daemon(f"a{size}"), lab.daemon(f"b{size}")
        self.a.start()
        self.job = self.a.ask("POST", "/v1/jobs", {"name": f"Benchmark {size}", "kind": "inventory"})["id"]
        self.items, self.import_seconds = fill(self.a, self.job, size)
        self.a_replica = self.a.ask("GET", "/v1/status")["replicaID"]

    def connect(self):
        """B dials A; returns once both hold everything, with the milliseconds that took."""
        held = {self.a: self.a.vector(self.job), self.b: self.b_vector()}
        goal = merged(*held.values())
        # Who lacks nothing has nothing to tell.
        lacking = [daemon for daemon, vector in held.items() if vector != goal]
        request = ("POST", "/v1/peers", {"address": self.a.address}, goal)
        return max(self.lab.reach(self.b, self.job, lacking, [request])[0])

    def b_vector(self):
        held = [job["id"] for job in self.b.ask("GET", "/v1/jobs")]
        return self.b.vector(self.job) if self.job in held else {}

    def ensure_connected(self):
        if self.b.process is None:
            self.b.start()
        if not any(peer["state"] == "connected" for peer in self.b.peers()):
            self.connect()

    def edit_requests(self, count, replica, sequence):
        """Edits of one field, one by one, with the sequence that each of them will have."""
        for at in range(1, count + 1):
            self.edits += 1
            item = self.items[self.edits * 7919 % len(self.items)]
            body = {"fields": {"room": f"Room {self.edits}"}}
            yield "PATCH", f"/v1/jobs/{self.job}/items/{item}", body, {replica: sequence + at}


def merged(one, other):
    return {replica: max(one.get(replica, 0), other.get(replica, 0)) for replica in {*one, *other}}


def fill(daemon, job, size, rows=BATCH):
    ids = []
    began = time.monotonic()
    for first in range(0, size, rows):
        batch = {"items": [{"fields": fields(index)} for index in range(first, min(first + rows, size))]}
        results = daemon.ask("POST", f"/v1/jobs/{job}/import", batch)["results"]
        refused = [result["reason"] for result in results if result["outcome"] != "added"]
        if refused:
            raise LabError(f"the daemon did not add an item of the benchmark: {refused[0]}")
        ids += [result["id"] for result in results]
    return ids, time.monotonic() - began
