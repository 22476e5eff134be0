"""Whoever passes journals on, truly or not: a town of laptops, and hands that hold what others have written."""

import os
import time

import pytest
from authors import digest
from lab import wait_until
from protobuf import fields, number, read_varint, text
from solo import PATIENCE_SECONDS, Solos, wait_agreed
from stranger import DELTA, VECTOR, Stranger, change, frame, request, vector

JOB, REPLICA, FIRST, CHANGES, HEAD = 1, 2, 3, 6, 9


def things(*names):
    """The records of a journal with one item each."""
    return [change(os.urandom(16), int(time.time() * 1000) << 16, name) for name in names]


def is_closed(daemon, stranger):
    """As the daemon says in its log."""
    remote = "remote={}:{} ".format(*stranger.socket.getsockname())
    return any("connection closed" in line and remote in line + " " for line in daemon.log().splitlines())


def records(changes):
    """The records in a run."""
    found = []
    while changes:
        count, begin = read_varint(changes, 0)
        found.append(changes[: begin + count])
        changes = changes[begin + count :]
    return found


def fetched(daemon, job):
    """The first run of a daemon's own journal, as a peer gets it: {field: value}."""
    stranger = Stranger(daemon).greet()
    replica = bytes.fromhex(daemon.replica())
    stranger.say(vector(VECTOR, job, []), request(job, replica))
    run = next(fields(fields(payload)[DELTA]) for kind, payload in stranger.frames() if kind == DELTA)
    stranger.close()
    assert run[REPLICA] == replica and run[FIRST] == 1
    return run


def passed_on(run):
    """As a relay sends it; `run` as of `fetched`."""
    parts = [number(field, value) if isinstance(value, int) else text(field, value) for field, value in run.items()]
    return frame(text(DELTA, b"".join(parts)))


class Town:
    """Bert and carl, who are connected and agree on a job; and anna, whom neither has met, with a job of hers."""

    def __init__(self, solos):
        self.bert = solos("bert").start()
        self.carl = solos("carl").start("--peer", self.bert.address)
        self.job = self.bert.create_job()
        self.bert.add(self.job, name="Sofa")
        wait_agreed([self.bert, self.carl], self.job)
        self.anna = solos("anna").start()
        self.hers = self.anna.create_job("Elm Street")
        for name in ("Lamp", "Chair", "Table"):
            self.anna.add(self.hers, name=name)
        self.run = fetched(self.anna, self.hers)

    def held(self):
        """All that carl has."""
        jobs = sorted(job["id"] for job in self.carl.get("/v1/jobs"))
        return [(job, self.carl.vector(job), self.carl.digest(job), self.carl.items(job)) for job in jobs]

    def journals(self):
        """What carl's doctor finds of what was refused."""
        return next(check["finding"] for check in self.carl.get("/v1/doctor")["checks"] if check["id"] == "signatures")

    def refuses(self, reason, say, names=True):
        """Carl closes the connection of whoever says this, for this reason, and holds what he held.

        names: his doctor names it.
        """
        before, logged = self.held(), len(self.carl.log())
        stranger = Stranger(self.carl).greet()
        stranger.say(say(stranger))
        assert stranger.is_closed_within(5), self.carl.log()[logged:]
        said = lambda: [line for line in self.carl.log()[logged:].splitlines() if "connection closed" in line]
        (line,) = wait_until(said, PATIENCE_SECONDS, "the log says why")
        assert reason in line, line
        named = f"stranger ({stranger.member.device.hex()[:8]}) passed on, once, what its author has not signed"
        assert (named in self.journals()) == names, self.journals()
        assert self.held() == before
        self.goes_on()

    def goes_on(self):
        """What bert writes arrives, over the connection that they had."""
        new = self.bert.add(self.job, name="Box")
        wait_until(lambda: new in self.carl.items(self.job), PATIENCE_SECONDS, "carl has what bert writes")
        assert self.carl.log().count("name=bert") == 1 and "bert" in self.carl.connected()
        wait_agreed([self.bert, self.carl], self.job)

    def names(self, job=None):
        """What carl's items are called."""
        found = self.carl.items(job or self.job).values()
        return {item["fields"].get("colour") or item["fields"].get("name") for item in found}


@pytest.fixture(scope="module")
def town(build_directory):
    with Solos(build_directory) as solos:
        yield Town(solos)
