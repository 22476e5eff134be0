"""A thousand who begin to talk and do not go on, while a crew works, or a server: they hardly notice, and nothing of those
is left."""

import os
import socket
import time

import pytest
from crowds import Crowd, standing
from gateways import advance, server_flags, wait_published
from lab import UnixConnection, wait_until
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import Member, Stranger, ping, wait_for_log

HANDSHAKES = 1_000
# A laptop gives so many places to who is not known yet (ConnectionLimits), and the kernel as many to who waits for one.
PLACES = 64
# Without them and with them by turns, so that whatever else the machine does meanwhile falls on both.
TURNS, EDITS = 5, 40
# An attack may make the slowest of a hundred edits take twice as long. So much is the noise of the two figures; what a busy machine adds to
# one of them only is gone in one of a few attempts, and what the attack adds is not.
TWICE, NOISE_SECONDS, ATTEMPTS = 2, 0.02, 3
# Who connect to the server and say nothing.
SILENT = 200
MEMORY_BYTES = 48 << 20


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


class Attack:
    """Edits beside a crowd and without it, by turns; and what the daemon that is attacked needed meanwhile."""

    def __init__(self, work, anna):
        self._work, self._anna = work, anna
        self.quiet, self.beside, self.stood = [], [], []
        self._had, self._memory = files(anna), anna.memory_bytes()
        self.most_files = self.largest = 0
        self._busy = self._took = self._came = 0
        for _ in range(TURNS):
            self.quiet += work.seconds(EDITS)
            with Crowd(anna.port, HANDSHAKES) as crowd:
                wait_until(lambda: crowd.is_complete, PATIENCE_SECONDS, f"all have come: {crowd.begun}")
                self._watch(crowd)
            wait_until(lambda: standing(anna.port) == 0, PATIENCE_SECONDS, "all have gone")

    def _watch(self, crowd):
        came, busy, began = crowd.begun, self._anna.processor_seconds(), time.monotonic()
        for _ in range(0, EDITS, 10):
            self.beside += self._work.seconds(10)
            self.stood.append(standing(self._anna.port))
            self.largest = max(self.largest, self._anna.memory_bytes() - self._memory)
            self.most_files = max(self.most_files, files(self._anna) - self._had)
        self._took += time.monotonic() - began
        self._busy += self._anna.processor_seconds() - busy
        self._came += crowd.begun - came

    @property
    def is_borne(self):
        return is_borne(self.quiet, self.beside)

    def __str__(self):
        return (
            f"{compared(self.quiet, self.beside)}; {min(self.stood)} to {max(self.stood)} stood, "
            f"{self._came / self._took:.0f} came a second, {self._busy / self._took:.2f} of a core, "
            f"{self.most_files} files, {self.largest >> 20} MiB")


def is_borne(quiet, beside):
    return percentile(beside, 0.99) <= TWICE * percentile(quiet, 0.99) + NOISE_SECONDS


def compared(quiet, beside):
    shown = lambda part: f"{percentile(quiet, part) * 1000:.0f} ms undisturbed and {percentile(beside, part) * 1000:.0f} ms beside them"
    return f"half take at most {shown(0.5)}, 99 % {shown(0.99)}"


def test_a_crew_works_on_while_a_thousand_handshakes_do_not_end(solos):
    bert = solos("bert").start()
    anna = solos("anna").start("--peer", bert.address)
    job = anna.create_job()
    wait_agreed([anna, bert], job)
    work = Work(job, anna, bert)
    work.seconds(20)
    had = files(anna)
    attacks = []
    while len(attacks) < ATTEMPTS and not any(attack.is_borne for attack in attacks):
        logged = len(anna.log())
        attacks.append(attack := Attack(work, anna))
        print(attack)
        assert anna.connected() == ["bert"] and bert.connected() == ["anna"], "they stay connected"
        # One that has to go makes room for the next one a moment later.
        assert percentile(attack.stood, 0.5) >= PLACES and min(attack.stood) >= PLACES / 2, f"they are there: {attack.stood}"
        wait_for_log(anna, "a connection was refused")
        assert anna.log()[logged:].count("a connection") < 10, "they do not fill the log"
        assert attack.largest < MEMORY_BYTES and attack.most_files <= 2 * PLACES, str(attack)
    assert any(attack.is_borne for attack in attacks), [str(attack) for attack in attacks]
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
    with Crowd(anna.port, HANDSHAKES) as crowd:
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


def request_seconds(office, count):
    """Of requests each of which begins with a handshake."""
    taken = []
    for _ in range(count):
        began = time.monotonic()
        assert office.ask("GET", "/v1/jobs")[0] == 200
        taken.append(time.monotonic() - began)
    return taken


def test_the_server_serves_its_laptops_beside_those_who_say_nothing(solos, office):
    anna = solos("anna").start(*server_flags(office.url))
    job, had = anna.create_job(), files(office)
    wait_published([anna], job, "scheduled")
    request_seconds(office, 10)
    attempts = []
    while len(attempts) < ATTEMPTS and not any(is_borne(*attempt) for attempt in attempts):
        quiet, beside = [], []
        for _ in range(TURNS):
            quiet += request_seconds(office, EDITS)
            with Crowd(office.port, SILENT, hello=b"") as crowd:
                wait_until(lambda: standing(office.port) == SILENT, PATIENCE_SECONDS, f"all have come: {crowd.begun}")
                beside += request_seconds(office, EDITS)
                assert crowd.begun >= SILENT and standing(office.port) >= SILENT / 2, "they are there"
            wait_until(lambda: standing(office.port) == 0, PATIENCE_SECONDS, "all have gone")
        print(compared(quiet, beside))
        attempts.append((quiet, beside))
    assert any(is_borne(*attempt) for attempt in attempts), [compared(*attempt) for attempt in attempts]
    with Crowd(office.port, SILENT, hello=b"") as crowd:
        wait_until(lambda: standing(office.port) == SILENT, PATIENCE_SECONDS, "all have come")
        # A laptop that works through its gateway, and one that has never been there.
        item = anna.add(job, name="lamp")
        advance(anna, job, "dispatched")
        wait_published([anna], job, "dispatched")
        bert = solos("bert").start(*server_flags(office.url))
        wait_until(lambda: item in bert.items(job), PATIENCE_SECONDS, "bert has it from the server")
        # Nobody of them is waited for: they come again.
        wait_until(lambda: crowd.begun >= 2 * SILENT, PATIENCE_SECONDS, f"they are sent away: {crowd.begun}")
        told = lambda: "reason=it had not ended in time" in office.log()
        wait_until(told, PATIENCE_SECONDS, "the log tells of them")
    wait_until(lambda: standing(office.port) == 0, PATIENCE_SECONDS, "all have gone")
    # Beside the connections of the two laptops.
    wait_until(lambda: files(office) <= had + 8, PATIENCE_SECONDS, f"no file is left open: {files(office)} of {had}")
