"""Two Redis servers that keep each write on disk before they answer: what a user would pick instead."""

import json
import shutil
import subprocess
import time

from .daemon import LabError


class Redis:
    """A server and its replica, both flushing each write."""

    def __init__(self, tools, directory, ports):
        self.tools, self.port = tools, ports[0]
        self.processes = []
        program = shutil.which("redis-server")
        if program is None:
            raise LabError("there is no redis-server; install Debian's package of that name")
        for port, more in zip(ports, ([], ["--replicaof", "127.0.0.1", str(ports[0])])):
            place = directory / f"redis-{port}"
            place.mkdir()
            self.processes.append(
                subprocess.Popen(
                    [
                        program, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(place), "--save", "",
                        "--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0", *more,
                    ],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def ready(self):
        """Returns once a write reaches both."""
        deadline = time.monotonic() + 20
        while True:
            try:
                return self.write(1, 0)
            except LabError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def write(self, count, pause):
        command = [str(self.tools / "redis"), str(self.port), str(count), str(pause)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise LabError(f"redis: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()
