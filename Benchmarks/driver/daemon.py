"""One musterd: starting it, asking it, watching what it costs, ending it."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import time

import lab


class LabError(Exception):
    """Something on the way to a figure failed; the message is a sentence."""


class UnixConnection(lab.UnixConnection):
    def __init__(self, path):
        super().__init__(str(path), timeout_seconds=120)


class Daemon:
    def __init__(self, binary, directory, sockets, name, listen, prefix=(), extra=()):
        self.binary, self.prefix, self.extra = binary, list(prefix), list(extra)
        self.state = directory / name
        self.socket = sockets / f"{name}.sock"
        self.log = directory / f"{name}.log"
        self.address = listen
        self.process = None
        self.connection = None

    def start(self):
        """Starts the daemon and waits until it says that it is ready; returns how many seconds that took. The first time
        it is then let into the fleet."""
        self.state.mkdir(parents=True, exist_ok=True)
        notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notice_path = self.socket.with_suffix(".notify")
        notice_path.unlink(missing_ok=True)
        notices.bind(str(notice_path))
        notices.settimeout(0.25)
        command = self.prefix + [
            str(self.binary), "--state-dir", str(self.state), "--socket", str(self.socket), "--listen", self.address,
            "--no-discovery", *self.extra,
        ]
        environment = {**lab.surroundings(), "NOTIFY_SOCKET": str(notice_path)}
        with self.log.open("ab") as log:
            began = time.monotonic()
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            self._await_ready(notices, began + 30)
        finally:
            notices.close()
            notice_path.unlink(missing_ok=True)
        took = time.monotonic() - began
        if not lab.is_enrolled(self.state):
            lab.shared_fleet(str(self.binary.parent)).enrol(str(self.socket))
        self.connection = UnixConnection(self.socket)
        return took

    def _await_ready(self, notices, deadline):
        while True:
            try:
                if b"READY=1" in notices.recv(4096):
                    return
            except TimeoutError:
                if self.process.poll() is not None:
                    raise LabError(f"musterd ended with {self.process.returncode}: {self.last_words()}") from None
                if time.monotonic() > deadline:
                    raise LabError("musterd did not say READY=1 within 30 s") from None

    def last_words(self, count=1):
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return "\n".join(lines[-count:]) if lines else "it said nothing"

    def stop(self):
        if self.connection:
            self.connection.close()
            self.connection = None
        if not self.process:
            return
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None

    def ask(self, method, path, body=None):
        payload = None if body is None else json.dumps(body)
        headers = {"Content-Type": "application/json"} if payload else {}
        try:
            self.connection.request(method, path, payload, headers)
            answer = self.connection.getresponse()
            text = answer.read()
        except (http.client.HTTPException, OSError) as error:
            self.connection.close()
            raise LabError(f"{method} {path} failed: {error!r}; {self.last_words()}") from error
        if answer.status // 100 != 2:
            raise LabError(f"{method} {path} gave {answer.status}: {text[:200].decode(errors='replace')}")
        return json.loads(text) if text else None

    def vector(self, job):
        return self.ask("GET", f"/v1/jobs/{job}")["vector"]

    def peers(self):
        return self.ask("GET", "/v1/peers")

    def sample(self):
        return sample(self.process.pid)


def sample(*pids):
    """What the kernel counts for processes: seconds on a core, wake-ups, bytes resident."""
    processes = [pathlib.Path("/proc") / str(pid) for pid in pids]
    threads = {}
    for task in (task for process in processes for task in process.glob("task/*")):
        # One that ends meanwhile is not there any more.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            nanoseconds = int((task / "schedstat").read_text().split()[0])
            switches = re.findall(r"ctxt_switches:\s*(\d+)", (task / "status").read_text())
            threads[task] = {"cpu": nanoseconds / 1e9, "switches": sum(map(int, switches))}
    resident = sum(
        int(re.search(r"VmRSS:\s*(\d+)", (process / "status").read_text())[1]) * 1024 for process in processes)
    return {
        "cpu": sum(thread["cpu"] for thread in threads.values()), "resident": resident, "at": time.monotonic(),
        "threads": threads}


def watch(watched, seconds):
    """What each costs meanwhile. Looked at every second, because what a thread has counted goes with it."""
    samples = [[one.sample()] for one in watched]
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        time.sleep(min(1, left))
        for one, taken in zip(watched, samples):
            taken.append(one.sample())
    return [cost(taken) for taken in samples]


def cost(samples):
    elapsed = samples[-1]["at"] - samples[0]["at"]
    return {
        "megabytes": samples[-1]["resident"] / 1e6,
        "percent": 100 * spent("cpu", samples) / elapsed,
        "wakeUps": spent("switches", samples) / elapsed,
    }


def spent(key, samples):
    """By threads that are there from one sample to the next, or have come since; what one does after its last sample is not seen."""
    return sum(
        max(0, thread[key] - (before["threads"][task][key] if task in before["threads"] else 0))
        for before, after in zip(samples, samples[1:]) for task, thread in after["threads"].items())
