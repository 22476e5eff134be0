"""One muster-channel: starting it, who asks it, what it costs, what it holds, ending it."""

import http.client
import json
import pathlib
import re
import subprocess
import time

from stranger import Member

from .daemon import LabError


class Server:
    def __init__(self, binary, directory, port):
        directory.mkdir(parents=True)
        self.binary, self.directory, self.port = binary, directory, port
        self.database = ["--database", str(directory / "channel.sqlite")]
        # Where a proxy passes on what laptops say.
        self.proxy = directory / "proxy"
        self.log = directory / "log"
        self.fleet = None
        self.resident = []
        self.process = None

    def start(self):
        with self.log.open("ab") as log:
            said = log.tell()
            command = [self.binary, "--listen", f"127.0.0.1:{self.port}", "--proxy-socket", str(self.proxy), *self.database]
            self.process = subprocess.Popen(command, stderr=log, stdout=log)
        deadline = time.monotonic() + 20
        while not re.search(r"listen=127\.0\.0\.1:\d+.*serving", self.log.read_text()[said:]):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise LabError(f"muster-channel does not serve: {self.log.read_text()[said:]}")
            time.sleep(0.02)
        while not self.proxy.exists():
            time.sleep(0.02)
        return self

    def stop(self):
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def member(self):
        """Somebody of the fleet, who may have 24 requests at a time."""
        return Member(self.fleet, role="office")

    def join(self, fleet):
        """Lets it into a fleet, without which no laptop of that believes it."""
        self.fleet = fleet
        path = self.directory / "server.pem"
        path.write_text(fleet.sign(self._printed("fleet", "request"), "server"))
        self._printed("fleet", "install", str(path))

    def _printed(self, *words):
        done = subprocess.run([self.binary, *words, *self.database], capture_output=True, text=True)
        if done.returncode != 0:
            raise LabError(f"muster-channel {' '.join(words[:2])} failed: {done.stderr}")
        return done.stdout

    @property
    def flags(self):
        """What a laptop is started with to use this server."""
        return ["--server", f"https://127.0.0.1:{self.port}"]

    def look(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        self.resident.append(int(re.search(r"VmRSS:\s*(\d+)", status)[1]) * 1024)

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def asking(self):
        """A function that asks in JSON, on a connection of its own."""
        context = self.member().asking()
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=context)

        def ask(method, path, body=None, **headers):
            sent = {"Content-Type": "application/json", **headers}
            connection.request(method, path, None if body is None else json.dumps(body), sent)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise LabError(f"{method} {path} gave {answer.status}: {text[:200]}")
            return json.loads(text)

        return ask
