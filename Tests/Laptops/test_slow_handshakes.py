"""A thousand who begin to talk and do not go on, while a crew works: it hardly notices, and nothing of them is left."""

import errno
import itertools
import os
import random
import selectors
import socket
import ssl
import threading
import time

import pytest
from lab import UnixConnection, wait_until
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import Member, Stranger, ping, tls, wait_for_log

HANDSHAKES = 1_000
# A laptop gives so many places to who is not known yet (ConnectionLimits), and the kernel as many to who waits for one.
PLACES = 64
EDITS = 100
# Whoever was sent away comes again after so long.
AGAIN_SECONDS = 1
EDIT_LIMIT_SECONDS = 5
MEMORY_BYTES = 48 << 20


def client_hello():
    """What a link begins with."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        tls().wrap_bio(incoming, outgoing).do_handshake()
    return outgoing.read()


class Slow:
    """One that connects from an address of its own and says its hello byte by byte, or all of it and then nothing, or
    nothing at all; and comes again when it was sent away."""

    def __init__(self, crowd, number):
        self._crowd, self._number = crowd, number
        self._source = f"127.1.{number // 250}.{number % 250 + 1}"
        self.connection, self.begun, self.due = None, 0, 0

    def act(self, now):
        """Begins, or says the next byte. Returns when it wants to act again."""
        if self.connection is None:
            self._begin()
        elif self._said < len(self._words):
            self._say(1)
        return now + random.uniform(0.5, 1) * AGAIN_SECONDS

    def _begin(self):
        connection = socket.socket()
        connection.setblocking(False)
        connection.bind((self._source, 0))
        if connection.connect_ex(("127.0.0.1", self._crowd.port)) not in (0, errno.EINPROGRESS):
            connection.close()
            return
        self.connection, self._said = connection, 0
        self._words = self._crowd.hello if self._number % 3 else b""
        self.begun += 1
        self._crowd.watch(self)
        if self._number % 3 == 1:
            self._say(len(self._words))

    def _say(self, count):
        try:
            self._said += self.connection.send(self._words[self._said : self._said + count])
        except BlockingIOError:
            pass
        except OSError:
            self.end()

    def hear(self):
        try:
            if self.connection.recv(1 << 14):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self.end()

    def end(self):
        if self.connection:
            self._crowd.forget(self)
            self.connection.close()
            self.connection = None


class Crowd:
    """A context manager: all of them at once, in a thread. `settled` is when each has come at least once."""

    def __init__(self, daemon):
        self.port, self.hello = daemon.port, client_hello()
        self._selector = selectors.DefaultSelector()
        self._all = [Slow(self, number) for number in range(HANDSHAKES)]
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def begun(self):
        return sum(one.begun for one in self._all)

    @property
    def is_complete(self):
        return all(one.begun for one in self._all)

    def watch(self, one):
        self._selector.register(one.connection, selectors.EVENT_READ, one)

    def forget(self, one):
        self._selector.unregister(one.connection)

    def _run(self):
        # One after the other within a second, not at the same moment.
        began = time.monotonic()
        for count, one in enumerate(self._all):
            one.due = began + count / HANDSHAKES
        while not self._is_over.is_set():
            for key, _ in self._selector.select(0.01):
                key.data.hear()
            now = time.monotonic()
            for one in self._all:
                if one.due <= now:
                    one.due = one.act(now)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join(PATIENCE_SECONDS)
        for one in self._all:
            one.end()
        self._selector.close()


def standing(port):
    """How many connections from the crowd the kernel has at a port, as it says itself."""
    place, found = f"0100007F:{port:04X}", 0
    with open("/proc/net/tcp", encoding="utf-8") as file:
        for line in itertools.islice(file, 1, None):
            _, local, remote, state = line.split()[:4]
            # 127.1.x.y, established.
            found += local == place and state == "01" and remote[4:8] == "017F"
    return found


def files(daemon):
    return len(os.listdir(f"/proc/{daemon.program.pid}/fd"))


class Work:
    """Edits of anna's and bert's, by turns: how long until the other one shows each."""

    def __init__(self, job, anna, bert):
        self._job, self._laptops = job, (anna, bert)
        self._lines = [UnixConnection(daemon.socket) for daemon in (anna, bert)]

    def seconds(self, count):
        return [self._edit(number % 2) for number in range(count)]

    def _edit(self, author):
        began = time.monotonic()
        status, answer = self._lines[author].ask("POST", f"/v1/jobs/{self._job}/items", {"fields": {"name": "Box"}})
        assert status == 201, answer
        path = f"/v1/jobs/{self._job}/items/{answer['id']}"
        wait_until(lambda: self._lines[1 - author].ask("GET", path)[0] == 200, PATIENCE_SECONDS, "the other has it")
        return time.monotonic() - began


def percentile(seconds, part):
    return sorted(seconds)[min(int(len(seconds) * part), len(seconds) - 1)]


def test_a_crew_works_on_while_a_thousand_handshakes_do_not_end(solos, measured):
    bert = solos("bert").start()
    anna = solos("anna").start("--peer", bert.address)
    job = anna.create_job()
    wait_agreed([anna, bert], job)
    work = Work(job, anna, bert)
    work.seconds(20)
    before = work.seconds(EDITS)
    had, memory = files(anna), anna.memory_bytes()
    stood, largest, most_files = [], 0, 0
    with Crowd(anna) as crowd:
        wait_until(lambda: crowd.is_complete, PATIENCE_SECONDS, f"all have come: {crowd.begun}")
        came, busy, began = crowd.begun, anna.processor_seconds(), time.monotonic()
        during = []
        while len(during) < EDITS:
            during += work.seconds(10)
            stood.append(standing(anna.port))
            largest, most_files = max(largest, anna.memory_bytes()), max(most_files, files(anna))
        took = time.monotonic() - began
        came = crowd.begun - came
        assert anna.connected() == ["bert"] and bert.connected() == ["anna"], "they stay connected"
    print(f"{min(stood)} to {max(stood)} stood, {came / took:.0f} came a second,", end=" ")
    core = (anna.processor_seconds() - busy) / took
    print(f"{core:.2f} of a core, {most_files - had} files, {largest - memory >> 20} MiB")
    assert min(stood) >= PLACES, f"the handshakes are there: {stood}"
    wait_for_log(anna, "a connection was refused")
    assert anna.log().count("a connection") < 10, "they do not fill the log"
    for part, name in ((0.5, "half of the edits"), (0.99, "99 % of the edits")):
        measured(f"{name} arrive, and nobody disturbs", percentile(before, part), EDIT_LIMIT_SECONDS)
        measured(f"{name} arrive beside a thousand slow handshakes", percentile(during, part), EDIT_LIMIT_SECONDS)
    assert largest - memory < MEMORY_BYTES
    assert most_files - had <= 2 * PLACES
    wait_until(lambda: standing(anna.port) == 0, PATIENCE_SECONDS, "all have gone")
    wait_until(lambda: files(anna) <= had, PATIENCE_SECONDS, f"no file is left open: {files(anna)} of {had}")
    assert anna.log().count("name=bert") == 1, "their connection has stood all the while"
    Stranger(anna).greet().close()
    wait_agreed([anna, bert], job)


@pytest.mark.parametrize("source", ["127.0.0.1", "127.200.0.1"])
def test_who_belongs_to_the_fleet_is_let_in_beside_them(solos, source):
    """A handshake takes some hundredths of a second: in that time those that stand longer have to go, whatever
    address they come from."""
    anna = solos("anna").start()
    member = Member(anna.fleet)
    with Crowd(anna) as crowd:
        wait_until(lambda: crowd.is_complete, PATIENCE_SECONDS, f"all have come: {crowd.begun}")
        # One that has to go makes room for the next one a moment later.
        wait_until(lambda: standing(anna.port) >= PLACES, PATIENCE_SECONDS, "all places are taken")
        wait_until(lambda: is_let_in(anna, member, source), PATIENCE_SECONDS, "it is let in")


def is_let_in(daemon, member, source):
    """Whether one attempt gets as far as the first ping, and stays."""
    with socket.socket() as connection:
        connection.settimeout(PATIENCE_SECONDS)
        connection.bind((source, 0))
        try:
            connection.connect(("127.0.0.1", daemon.port))
            stranger = Stranger(daemon, member=member, connection=connection).greet()
            wait_until(lambda: daemon.connected() == ["stranger"], 1, "it is connected")
            return stranger.say(ping(1))
        except (AssertionError, OSError):
            return False
