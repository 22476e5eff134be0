"""One muster-channel: starting it, its tokens, what it costs, what it holds, ending it."""

import http.client
import json
import pathlib
import re
import subprocess
import time

from .daemon import LabError


class Server:
    def __init__(self, binary, directory, port):
        directory.mkdir(parents=True)
        self.binary, self.directory, self.port = binary, directory, port
        self.database = ["--database", str(directory / "channel.sqlite")]
        self.log = directory / "log"
        self.resident = []
        self.process = None

    def start(self):
        with self.log.open("ab") as log:
            said = log.tell()
            command = [self.binary, "--listen", f"127.0.0.1:{self.port}", *self.database]
            self.process = subprocess.Popen(command, stderr=log, stdout=log)
        deadline = time.monotonic() + 20
        while not re.search(r"listen=127\.0\.0\.1:\d+.*serving", self.log.read_text()[said:]):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise LabError(f"muster-channel does not serve: {self.log.read_text()[said:]}")
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

    def token(self, name):
        """A device may have 64 requests at a time."""
        return self._printed("token", "add", name).strip()

    def join(self, fleet):
        """Lets it into a fleet, without which no laptop of that believes it."""
        path = self.directory / "server.pem"
        path.write_text(fleet.sign(self._printed("fleet", "request"), "server"))
        self._printed("fleet", "install", str(path))

    def _printed(self, *words):
        done = subprocess.run([self.binary, *words, *self.database], capture_output=True, text=True)
        if done.returncode != 0:
            raise LabError(f"muster-channel {' '.join(words[:2])} failed: {done.stderr}")
        return done.stdout

    def flags(self, name):
        """What a laptop of that name is started with to use this server."""
        path = self.directory / f"{name}.token"
        path.write_text(self.token(name) + "\n")
        return ["--server", f"http://127.0.0.1:{self.port}", "--server-token", str(path)]

    def look(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        self.resident.append(int(re.search(r"VmRSS:\s*(\d+)", status)[1]) * 1024)

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def asking(self):
        """A function that asks in JSON, on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        token = self.token("benchmark")

        def ask(method, path, body=None, **headers):
            sent = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **headers}
            connection.request(method, path, None if body is None else json.dumps(body), sent)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise LabError(f"{method} {path} gave {answer.status}: {text[:200]}")
            return json.loads(text)

        return ask
