"""A muster-channel on the machine's own loopback, for tests of the server."""

import base64
import http.client
import json
import os
import shutil
import ssl
import struct
import subprocess
import tempfile
from types import SimpleNamespace

from asking import mutation, mutations, token_of
from authors import digest
from lab import ChannelAnswers, Program, free_port, wait_until
from solo import PATIENCE_SECONDS
from stranger import Member, change


class Office(ChannelAnswers):
    """A context manager: one server with its database, started and ended as often as one likes."""

    def __init__(self, build_directory):
        self.directory = tempfile.mkdtemp(prefix="muster-office-")
        self.store = os.path.join(self.directory, "channel.sqlite")
        # Where a proxy passes on what laptops say.
        self.proxy_socket = os.path.join(self.directory, "proxy.sock")
        self.port = free_port()
        self.program = None
        self.fleet = None
        self._executable = os.path.join(build_directory, "muster-channel")
        self._starts = 0
        # Who asks for the tests: a laptop of the fleet, once there is one.
        self.member = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.program:
            self.program.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def command(self, *arguments):
        """The command line `muster-channel …` for this server."""
        return [self._executable, *arguments, "--database", self.store]

    def muster_channel(self, *arguments):
        """Runs a command of it to its end."""
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, check=True)

    def join(self, fleet, *flags):
        """Lets it into a fleet, as its administrator does; a server that runs knows that a moment later."""
        self.fleet = fleet
        self.member = Member(fleet, role="office")
        papers = os.path.join(self.directory, "server.pem")
        with open(papers, "w", encoding="utf-8") as file:
            file.write(fleet.sign(self.muster_channel("fleet", "request").stdout, "server"))
        self.muster_channel("fleet", "install", papers, *flags)
        return self

    def launch(self, *flags, environment=None):
        """Starts it and returns at once."""
        self._starts += 1
        # The state directory from the environment, as systemd gives it.
        self.program = Program(
            f"office-{self._starts}",
            [self._executable, "--listen", f"127.0.0.1:{self.port}", "--proxy-socket", self.proxy_socket, *flags],
            self.directory,
            {"STATE_DIRECTORY": self.directory, **(environment or {})},
        )
        return self

    def start(self, *flags, environment=None):
        """Starts it and returns when it answers."""
        self.launch(*flags, environment=environment)
        wait_until(self.answers, PATIENCE_SECONDS, "the server answers")
        return self

    def stop_and_start(self):
        assert self.program.stop(PATIENCE_SECONDS) == 0
        return self.start()

    def back_up(self):
        """Keeps a copy of the database, for `put_back`; the server is not running."""
        for suffix in ("", "-wal"):
            if os.path.exists(self.store + suffix):
                shutil.copyfile(self.store + suffix, f"{self.store}.backup{suffix}")

    def put_back(self):
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(self.store + suffix):
                os.remove(self.store + suffix)
            if os.path.exists(f"{self.store}.backup{suffix}"):
                shutil.copyfile(f"{self.store}.backup{suffix}", self.store + suffix)

    def answers(self):
        assert self.program.is_running, f"the server has ended: {self.log()}"
        try:
            return self.ask("GET", "/v1/time")[0] == 200
        except OSError:
            return False

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def author(self):
        """Somebody of the fleet who writes a journal."""
        return Member(self.fleet).author()

    def connect(self):
        return Connection(self.port, self.member)

    def ask(self, method, path, body=None, **headers):
        """One request on a connection of its own."""
        connection = self.connect()
        try:
            return connection.ask(method, path, body, **headers)
        finally:
            connection.close()

    def mutate(self, job, chance, **asked):
        """Asks for a change of what the server owns: the status, and what that one request was answered with. `chance` is the
        number in its token."""
        connection = self.connect()
        try:
            return connection.mutate(self.member, job, chance, **asked)
        finally:
            connection.close()

    def get(self, path):
        status, answer = self.ask("GET", path)
        assert status == 200, f"GET {path} gave {status}: {answer}"
        return answer

    def log(self):
        return self.program.errors() + self.program.output()


class Connection(http.client.HTTPSConnection):
    """A member's. Raises OSError or HTTPException when the server is not there, or goes away before it has answered."""

    def __init__(self, port, member):
        super().__init__("127.0.0.1", port, timeout=PATIENCE_SECONDS, context=member.asking())

    def ask(self, method, path, body=None, **headers):
        self.send_request(method, path, body, **headers)
        return self.answer()

    def mutate(self, member, job, chance, **asked):
        one = mutation(member.key, job, token_of(member.key, chance), **asked)
        status, answer = self.ask("POST", "/v1/mutations", mutations(member, one))
        return status, answer["decisions"][0] if status == 200 else answer

    def send_request(self, method, path, body=None, **headers):
        """Returns when it is on its way."""
        sent = {key.replace("_", "-"): headers[key] for key in headers}
        if body is not None:
            sent["Content-Type"] = "application/json"
        self.request(method, path, None if body is None else json.dumps(body), sent)

    def answer(self):
        """The status and the JSON of the answer, waiting for it."""
        answer = self.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None


class Renewed(Member):
    """A member as it shows what a server has prolonged it by."""

    def __init__(self, member, renewal):
        """`renewal` is what the server has answered, in DER."""
        self._former = member
        former = member.certificates[1:3] if isinstance(member, Renewed) else member.certificates
        shown = [renewal[0], *former, *renewal[1:]]
        chain = "".join(ssl.DER_cert_to_PEM_cert(one) for one in shown)
        super().__init__(SimpleNamespace(sign=lambda *_: chain + member.root), member.key)

    def author(self, replica=None):
        """Writes beside its former certificates, as laptops do."""
        return self._former.author(replica)


def renew(port, member):
    """Asks a server to prolong it."""
    status, answer = Connection(port, member).ask("POST", "/v1/certificates")
    assert status == 200, answer
    return Renewed(member, [base64.b64decode(one) for one in answer["certificates"]])


class Journal:
    """A laptop's journal in one job, made by hand: items with one field."""

    def __init__(self, job, author):
        self.sequence = 0
        self._job, self._author = job, author
        self._head = bytes(32)
        self._stamp = 1_000 << 16

    @property
    def replica(self):
        return self._author.replica.hex()

    def add(self, *names):
        """Writes the next run: the JSON by which it is uploaded."""
        first = self.sequence + 1
        records = []
        for name in names:
            self.sequence += 1
            self._stamp += 1
            item = struct.pack(">QQ", int(self.replica[:15], 16), self.sequence)
            records.append(change(item, self._stamp, name))
        self._head = digest(records, self._head)
        run = {
            "replica": self.replica,
            "first": first,
            "last": self.sequence,
            "digest": self._head.hex(),
            "changes": base64.b64encode(b"".join(records)).decode(),
            "signature": base64.b64encode(self._author.sign(self._job, self.sequence, self._head)).decode(),
        }
        return {"segments": [run], "authors": [self._author.document]}
