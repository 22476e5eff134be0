"""Peers that lie about what is forgotten, who takes part and what time it is: what is no statement closes that
connection, what is one brings nothing back that was removed, and the daemon goes on."""

import os
import struct
import time

import pytest
from clocks import milliseconds, true_milliseconds
from lab import wait_until
from solo import PATIENCE_SECONDS, Solos, wait_agreed
from stranger import READY, Stranger, delta, digest, frame, hello, number, ping, pong, varint

JOB_ITEM = CHANNEL = bytes(16)
FARTHEST = 1 << 40
YEAR_MICROSECONDS = 31_557_600_000_000


def record(item, *operations, stamp=None):
    """One change of operations that are encoded already."""
    stamp = stamp or int(true_milliseconds()) << 16
    body = item + struct.pack(">Q", stamp) + varint(0) + b"\0" + varint(len(operations)) + b"".join(operations)
    return varint(len(body)) + body


def stub(count, after):
    body = varint(count) + struct.pack(">Q", after)
    return varint(len(body)) + body


def positions(entries):
    return varint(len(entries)) + b"".join(replica + varint(sequence) for replica, sequence in sorted(entries))


def hold(entries):
    return b"\1" + positions(entries)


def expel(replica, known):
    return b"\2" + replica + varint(known)


def fold(bounds, members, runs=b"\0", items=()):
    ids = [b"".join(sorted(group)) for group in (members, items)]
    return b"\3" + positions(bounds) + varint(len(members)) + ids[0] + varint(len(items)) + ids[1] + runs


def remove_job(entries):
    return b"\4" + positions(entries)


def decide(replica, up_to):
    return b"\5" + replica + varint(up_to)


def replicas(count):
    return [(os.urandom(16), FARTHEST) for _ in range(count)]


class Pair:
    """anna and bert, with one item that is there and one that was removed."""

    def __init__(self, solos):
        self.bert = solos("bert").start()
        self.anna = solos("anna").start("--peer", self.bert.address)
        self.job = self.anna.create_job()
        self.kept, self.gone = self.anna.add(self.job, name="Sofa"), self.anna.add(self.job, name="Box")
        assert self.anna.ask("DELETE", f"/v1/jobs/{self.job}/items/{self.gone}")[0] == 200
        wait_until(lambda: set(self.bert.items(self.job)) == {self.kept}, PATIENCE_SECONDS, "bert has it")
        wait_agreed((self.anna, self.bert), self.job)

    def goes_on(self):
        for author, reader in ((self.anna, self.bert), (self.bert, self.anna)):
            new = author.add(self.job, name=f"of {author.name}")
            wait_until(lambda: new in reader.items(self.job), 5, f"{reader.name} has it")
            held = reader.items(self.job)
            assert self.kept in held and self.gone not in held
        wait_agreed((self.anna, self.bert), self.job)

    def tell(self, records, transforms, replica=None, claimed=None):
        stranger = Stranger(self.anna).greet()
        replica = replica or os.urandom(16)
        after = digest(records) if claimed is None else claimed
        stranger.say(delta(self.job, replica, 1, transforms, after, b"".join(records)))
        return stranger, replica


@pytest.fixture
def pair(build_directory):
    with Solos(build_directory) as solos:
        pair = Pair(solos)
        yield pair
        pair.goes_on()


NO_STATEMENTS = {
    "257 positions": hold(replicas(257)),
    "positions that descend": b"\1" + varint(2) + b"\2" * 16 + b"\1" + b"\1" * 16 + b"\1",
    "a sequence without an end": hold([(os.urandom(16), FARTHEST + 1)]),
    "a sixth kind": b"\6",
    "a fold of no run": fold([], [], b"\1" + os.urandom(24) + b"\0"),
    "a fold of runs without an end": fold([], [], b"\1" + os.urandom(24) + varint(FARTHEST)),
    "a fold that overlaps itself": fold([], [], b"\1" + os.urandom(24) + b"\2\1\5\0\5"),
    "a fold of one item twice": fold([], [], items=[b"\1" * 16] * 2),
}
ON_AN_ITEM = {
    "hold": hold([]), "expel": expel(os.urandom(16), 1), "fold": fold([], []), "removal of the job": remove_job([]),
    "decide": decide(os.urandom(16), 1),
}


def test_what_is_no_statement_closes_the_connection_and_nothing_else(pair):
    cases = [(name, JOB_ITEM, operation) for name, operation in NO_STATEMENTS.items()]
    cases += [(f"{name} on an item", os.urandom(16), operation) for name, operation in ON_AN_ITEM.items()]
    for name, item, operation in cases:
        stranger, replica = pair.tell([record(item, operation)], 1)
        assert stranger.is_closed_within(5), name
        assert replica.hex() not in pair.anna.vector(pair.job), name


def test_stubs_without_end_and_across_each_other(pair):
    for records, last in (
        ([stub(0, 5)], 1), ([stub(257, 5)], 257), ([stub(1 << 63, 5)], FARTHEST), ([stub(256, 5)] * 9, FARTHEST),
    ):
        _, replica = pair.tell(records, last)
        time.sleep(0.2)
        assert replica.hex() not in pair.anna.vector(pair.job)
    stranger, replica = pair.tell([stub(10, 7)], 10)
    held = lambda: pair.anna.vector(pair.job).get(replica.hex())
    wait_until(lambda: held() == 10, 5, "a stub of ten transforms is taken")
    stranger.say(delta(pair.job, replica, 11, 30, digest([stub(10, 7), stub(20, 11)]), stub(20, 11)))
    wait_until(lambda: held() == 30, 5, "and what follows it")
    # It begins within what is held: no change is cut in two.
    stranger.say(delta(pair.job, replica, 5, 40, digest([stub(36, 9)]), stub(36, 9)))
    pair.goes_on()
    assert held() == 30
    stranger.close()


def test_statements_with_hundreds_of_positions_and_of_the_channel(pair):
    many = replicas(256)
    for replica in (None, CHANNEL):
        records = [record(JOB_ITEM, hold(many), decide(CHANNEL, 5))]
        records += [record(JOB_ITEM, expel(CHANNEL, 0), expel(many[0][0], 0))]
        stranger, replica = pair.tell(records, 4, replica=replica)
        wait_until(lambda: pair.bert.vector(pair.job).get(replica.hex()) == 4, 5, "bert has it from anna")
        stranger.close()
        pair.goes_on()
    stranger, _ = pair.tell([record(JOB_ITEM, *[hold([])] * 256, stamp=(1 << 63) - 1)], 256)
    pair.goes_on()
    stranger.close()


def test_a_thousand_holds_cost_no_more_than_moments(pair):
    pair.tell([record(JOB_ITEM, expel(os.urandom(16), 0))], 1)
    many, records, stranger, replica = replicas(16), [], Stranger(pair.anna).greet(), os.urandom(16)
    for first in range(1, 1_001, 100):
        batch = [record(JOB_ITEM, hold(many))] * 100
        records += batch
        stranger.say(delta(pair.job, replica, first, first + 99, digest(records), b"".join(batch)))
    wait_until(lambda: pair.bert.vector(pair.job).get(replica.hex()) == 1_000, PATIENCE_SECONDS, "bert has them")
    pair.goes_on()
    stranger.close()


LIES = {
    "in 1970": (lambda: (0, 0), 1, 0),
    "in 2201": (lambda: (now(176), now(176)), 1, 0),
    "at the end of numbers": (lambda: ((1 << 63) - 1, (1 << 63) - 1), 1, 0),
    "at their beginning": (lambda: (-(1 << 63), (1 << 63) - 1), 1, 0),
    "answered before it came": (lambda: (now(1), now()), 1, 0),
    "answered a year later": (lambda: (now(), now(1)), 1, 0),
    "as if it were the server": (lambda: (now(1), now(1)), 0, 0),
    "off by centuries": (lambda: (now(1), now(1)), 1, 1 << 62),
}


def now(years=0):
    return int(true_milliseconds() * 1_000) + years * YEAR_MICROSECONDS


def test_times_that_cannot_be_move_no_clock(build_directory):
    with Solos(build_directory) as solos:
        anna = solos("anna").start()
        for name, (times, stratum, uncertainty) in LIES.items():
            received, answered = times()
            lie = {"received": received, "answered": answered, "stratum": stratum, "uncertainty": uncertainty}
            stranger = Stranger(anna).greet(clock=lie)
            stranger.say(pong(1 << 60, now(1), now(1), 1, 0))
            time.sleep(0.1)
            clock = anna.get("/v1/clock")
            assert not clock["isSynchronised"] and abs(milliseconds(clock["time"]) - true_milliseconds()) < 1_000, name
            stranger.close()
        for stratum, uncertainty in ((17, 0), (1, 1 << 63)):
            lie = {"received": now(), "answered": now(), "stratum": stratum, "uncertainty": uncertainty}
            stranger = Stranger(anna).greet(clock=lie)
            assert stranger.is_closed_within(5), (stratum, uncertainty)


def test_ready_twice_or_before_the_hello_and_pings_nobody_answers(pair):
    ready = frame(number(READY, 1))
    for said in (hello() + ready + ready, ready):
        stranger = Stranger(pair.anna)
        stranger.say(said)
        assert stranger.is_closed_within(5)
    silent = Stranger(pair.anna)
    silent.say(hello())
    before = pair.anna.memory_bytes()
    busy = Stranger(pair.anna).greet()
    for _ in range(20):
        busy.say(b"".join(ping(count) for count in range(1_000)))
        busy.read()
    pair.goes_on()
    assert pair.anna.memory_bytes() - before < 16 << 20
    assert silent.is_closed_within(20), "who never says what time it is goes"
    busy.close()
