"""Peers that lie about the end of jobs, about decisions and about what time it is: what is no statement closes that
connection, what is one ends the job that it names and brings nothing back, and the daemon goes on with all others."""

import os
import struct
import time

import pytest
from attacks import assert_kept, kept
from authors import CLAIMED, digest
from clocks import milliseconds, true_milliseconds
from lab import wait_at_rest, wait_until
from solo import PATIENCE_SECONDS, Solos, wait_agreed
from stranger import READY, Member, Stranger, delta, frame, number, ping, pong, removed, varint, wait_for_log

JOB_ITEM = bytes(16)
FARTHEST = 1 << 40
YEAR_MICROSECONDS = 31_557_600_000_000
MOST_JOURNALS = 8_192
# In Unicode scalars.
LONGEST_NAME = 256
MEMORY_BYTES = 48 << 20


def record(item, *operations, stamp=None):
    """One change of operations that are encoded already."""
    stamp = stamp or int(true_milliseconds()) << 16
    body = item + struct.pack(">Q", stamp) + varint(0) + b"\0" + varint(len(operations)) + b"".join(operations)
    return varint(len(body)) + body


def decide(identities):
    """`identities` name changes, 64 bits each."""
    return b"\x0a" + varint(len(identities)) + b"".join(struct.pack(">Q", one) for one in sorted(identities))


def remove_job(name, entries):
    """`entries` are (replica, sequence, digest)."""
    heads = b"".join(replica + varint(sequence) + head for replica, sequence, head in sorted(entries))
    return b"\2" + varint(len(name)) + name + varint(len(entries)) + heads


def identities(count):
    return [int.from_bytes(os.urandom(8), "big") for _ in range(count)]


def heads(count, sequence=FARTHEST):
    return [(os.urandom(16), sequence, CLAIMED) for _ in range(count)]


class Pair:
    """anna and bert, with one item that is there and one that was removed; and a job that somebody else removes."""

    def __init__(self, solos):
        self.bert = solos("bert").start()
        self.anna = solos("anna").start("--peer", self.bert.address)
        self.job = self.anna.create_job()
        self.kept, self.gone = self.anna.add(self.job, name="Sofa"), self.anna.add(self.job, name="Box")
        assert self.anna.ask("DELETE", f"/v1/jobs/{self.job}/items/{self.gone}")[0] == 200
        wait_until(lambda: set(self.bert.items(self.job)) == {self.kept}, PATIENCE_SECONDS, "bert has it")
        self.doomed = self.anna.create_job("Elm Street")
        self.anna.add(self.doomed, name="Lamp")
        wait_until(lambda: len(self.bert.items(self.doomed)) == 1, PATIENCE_SECONDS, "bert has that, too")
        for job in (self.job, self.doomed):
            wait_agreed((self.anna, self.bert), job)
        self.settled_bytes = self.anna.memory_bytes()

    def goes_on(self):
        for author, reader in ((self.anna, self.bert), (self.bert, self.anna)):
            new = author.add(self.job, name=f"of {author.name}")
            wait_until(lambda: new in reader.items(self.job), 5, f"{reader.name} has it")
            held = reader.items(self.job)
            assert self.kept in held and self.gone not in held
        wait_agreed((self.anna, self.bert), self.job)

    def tell(self, records, transforms, author=None, job=None):
        stranger = Stranger(self.anna).greet()
        author = author or stranger.author()
        stranger.say(delta(job or self.job, author, 1, transforms, digest(records), b"".join(records)))
        return stranger, author.replica

    def wait_for_the_end(self, job=None):
        """The job ends on both, and stays so."""
        job = job or self.doomed
        for laptop in (self.anna, self.bert):
            ended = lambda: laptop.ask("POST", f"/v1/jobs/{job}/items", {"fields": {"name": "Box"}})[0] == 409
            wait_until(ended, PATIENCE_SECONDS, f"{laptop.name} knows of the end")
            assert laptop.items(job) == {}


@pytest.fixture
def pair(build_directory):
    with Solos(build_directory) as solos:
        pair = Pair(solos)
        yield pair
        pair.goes_on()
        assert pair.anna.program.is_running and pair.bert.program.is_running
        assert pair.anna.memory_bytes() - pair.settled_bytes < MEMORY_BYTES


ONE = (b"\1" * 16, 1, CLAIMED)
NO_STATEMENTS = {
    "decisions on more than there may be": decide(identities(MOST_JOURNALS + 1)),
    "decisions that descend": b"\x0a" + varint(2) + b"\2" * 8 + b"\1" * 8,
    "one decision twice": decide([1, 1]),
    "more decisions than bytes": b"\x0a" + varint(1 << 62),
    "a removal of more journals than there may be": remove_job(b"Home", heads(MOST_JOURNALS + 1)),
    "a removal of one journal twice": remove_job(b"Home", [ONE] * 2),
    "a removal that descends": b"\2\0\2" + (b"\2" * 16 + b"\1" + bytes(32)) + (b"\1" * 16 + b"\1" + bytes(32)),
    "a removal of a sequence without an end": remove_job(b"Home", heads(1, FARTHEST + 1)),
    "a removal of nothing of a journal": remove_job(b"Home", heads(1, 0)),
    "a removal with too long a name": remove_job(b"x" * (LONGEST_NAME + 1), [ONE]),
    "a removal with a name that is no text": remove_job(b"\xff\xfe", [ONE]),
    "a removal that is cut off": remove_job(b"Home", [ONE])[:-1],
    "a third kind, which there was once": b"\3" + varint(0),
    "a fourth kind, which there was once": b"\4" + varint(0),
    "a fifth kind": b"\5" + bytes(17),
    "a kind that nobody knows": b"\x0b",
}
ON_AN_ITEM = {"removal of the job": remove_job(b"Home", [ONE]), "decision": decide(identities(1))}


def test_what_is_no_statement_closes_the_connection_and_nothing_else(pair):
    before = kept(pair.anna)
    cases = [(name, JOB_ITEM, operation) for name, operation in NO_STATEMENTS.items()]
    cases += [(f"{name} on an item", os.urandom(16), operation) for name, operation in ON_AN_ITEM.items()]
    for name, item, operation in cases:
        stranger, replica = pair.tell([record(item, operation)], 1)
        assert stranger.is_closed_within(5), name
        assert replica.hex() not in pair.anna.vector(pair.job), name
    for name, said in {
        "more journals": removed(pair.job, "Home", sorted(heads(MOST_JOURNALS + 1))),
        "a sequence without an end": removed(pair.job, "Home", heads(1, FARTHEST + 1)),
        "nothing of a journal": removed(pair.job, "Home", heads(1, 0)),
        "journals that descend": removed(pair.job, "Home", [(b"\2" * 16, 1, CLAIMED), ONE]),
        "too long a name": removed(pair.job, "x" * (LONGEST_NAME + 1), [ONE]),
    }.items():
        stranger = Stranger(pair.anna).greet()
        stranger.say(said)
        assert stranger.is_closed_within(5), f"a vector whose removal has {name}"
    assert_kept(pair.anna, before)
    # One line for each, with its reason.
    assert pair.anna.log().count("connection closed") >= len(cases), pair.anna.log()


def test_decisions_on_what_nobody_has_and_statements_of_the_channel(pair):
    for author in (None, Member(pair.anna.fleet, role="server").server()):
        records = [record(JOB_ITEM, decide(identities(100)), decide([5])), record(JOB_ITEM, decide([]))]
        stranger, replica = pair.tell(records, 3, author)
        wait_until(lambda: pair.bert.vector(pair.job).get(replica.hex()) == 3, 5, "bert has it from anna")
        stranger.close()
        pair.goes_on()
    stranger, _ = pair.tell([record(JOB_ITEM, *[decide([])] * 256, stamp=(1 << 63) - 1)], 256)
    pair.goes_on()
    stranger.close()


def test_a_thousand_statements_cost_no_more_than_moments(pair):
    many, records, stranger = identities(16), [], Stranger(pair.anna).greet()
    author = stranger.author()
    for first in range(1, 1_001, 100):
        batch = [record(JOB_ITEM, decide(many))] * 100
        records += batch
        stranger.say(delta(pair.job, author, first, first + 99, digest(records), b"".join(batch)))
    wait_until(lambda: pair.bert.vector(pair.job).get(author.replica.hex()) == 1_000, PATIENCE_SECONDS, "bert has them")
    pair.goes_on()
    stranger.close()


@pytest.mark.parametrize("way", ["a journal", "a vector"])
def test_the_removal_of_as_many_journals_as_there_may_be_ends_that_job_only(pair, way):
    name, many = "🛋".encode() * LONGEST_NAME, sorted(heads(MOST_JOURNALS - 8))
    if way == "a journal":
        stranger, _ = pair.tell([record(JOB_ITEM, remove_job(name, many))], 1, job=pair.doomed)
    else:
        stranger = Stranger(pair.anna).greet()
        stranger.say(removed(pair.doomed, name, many))
    pair.wait_for_the_end()
    pair.goes_on()
    # What the liar does not claim to have seen is late, on both.
    for laptop in (pair.anna, pair.bert):
        late = laptop.get(f"/v1/jobs/{pair.doomed}/late")
        assert "Lamp" in str(late), f"{laptop.name} lists what anna wrote"
    pair.anna.stop()
    pair.anna.start("--peer", pair.bert.address)
    pair.wait_for_the_end()
    stranger.close()


@pytest.mark.parametrize("way", ["a journal", "a vector"])
def test_who_claims_to_have_seen_what_anna_never_wrote_ends_the_job_and_loses_nothing_of_hers(pair, way):
    own = pair.anna.replica()
    lie = [(bytes.fromhex(own), FARTHEST, CLAIMED)]
    records = [record(JOB_ITEM, remove_job(b"Elm Street", lie))]
    stranger = Stranger(pair.anna).greet()
    in_a_journal = delta(pair.doomed, stranger.author(), 1, 1, digest(records), records[0])
    said = in_a_journal if way == "a journal" else removed(pair.doomed, "Elm Street", lie)
    stranger.say(said)
    wait_until(lambda: pair.anna.replica() != own, PATIENCE_SECONDS, "it looks as if the store was set back")
    # A journal that showed it is asked for once more.
    Stranger(pair.anna).greet().say(said)
    pair.wait_for_the_end()
    for laptop in (pair.anna, pair.bert):
        listed = lambda: "Lamp" in str(laptop.get(f"/v1/jobs/{pair.doomed}/late"))
        wait_until(listed, PATIENCE_SECONDS, f"{laptop.name} lists what anna wrote")
    stranger.close()


def test_a_store_takes_no_new_name_for_every_lie_about_it(pair):
    stranger, names = Stranger(pair.anna).greet(), {pair.anna.replica()}
    for _ in range(20):
        job = pair.anna.create_job("Elm Street")
        pair.anna.add(job, name="Lamp")
        names.add(pair.anna.replica())
        stranger.say(removed(job, "Elm Street", [(bytes.fromhex(pair.anna.replica()), FARTHEST, CLAIMED)]))
        wait_at_rest(pair.anna.program, PATIENCE_SECONDS, "anna has judged it")
    names.add(pair.anna.replica())
    assert len(names) == 2, f"one new name in ten minutes, not {len(names) - 1}"
    wait_for_log(pair.anna, "not believed a second time so soon")
    stranger.close()


def test_the_end_of_jobs_that_nobody_has_and_the_same_end_by_the_thousand(pair):
    stranger, began = Stranger(pair.anna).greet(), time.monotonic()
    for number in range(200):
        stranger.say(removed(f"nobody-{number}", "Nowhere", sorted(heads(4))))
    # Meanwhile others go on.
    pair.goes_on()
    for _ in range(2_000):
        stranger.say(removed(pair.doomed, "Elm Street", [ONE]))
    pair.wait_for_the_end()
    print(f"{time.monotonic() - began:.1f} s until the job has ended behind the others")
    # Each farther than the one before: every one of them is an end of its own.
    for sequence in range(2, 102):
        stranger.say(removed(pair.doomed, "Elm Street", [(ONE[0], sequence, CLAIMED)]))
    told = lambda: [laptop.vector(pair.doomed).get(ONE[0].hex()) for laptop in (pair.anna, pair.bert)] == [101, 101]
    wait_until(told, PATIENCE_SECONDS, "the last of them has arrived")
    print(f"{time.monotonic() - began:.1f} s until the last of its ends")
    listed = {entry["id"] for entry in pair.anna.get("/v1/jobs")}
    assert not any(job.startswith("nobody-") for job in listed), "what has ended and left nothing is not shown"
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
            wait_at_rest(anna.program, PATIENCE_SECONDS, "anna has judged it")
            clock = anna.get("/v1/clock")
            assert not clock["isSynchronised"] and abs(milliseconds(clock["time"]) - true_milliseconds()) < 1_000, name
            stranger.close()
        for stratum, uncertainty in ((17, 0), (1, 1 << 63)):
            lie = {"received": now(), "answered": now(), "stratum": stratum, "uncertainty": uncertainty}
            stranger = Stranger(anna).greet(clock=lie)
            assert stranger.is_closed_within(5), (stratum, uncertainty)


def test_ready_twice_or_before_the_hello_and_pings_nobody_answers(pair):
    ready = frame(number(READY, 1))
    for stranger, said in ((one := Stranger(pair.anna), one.hello() + ready + ready), (Stranger(pair.anna), ready)):
        stranger.say(said)
        assert stranger.is_closed_within(5)
    silent = Stranger(pair.anna)
    silent.say(silent.hello())
    before = pair.anna.memory_bytes()
    busy = Stranger(pair.anna).greet()
    for _ in range(20):
        busy.say(b"".join(ping(count) for count in range(1_000)))
        busy.read()
    pair.goes_on()
    assert pair.anna.memory_bytes() - before < 16 << 20
    assert silent.is_closed_within(20), "who never says what time it is goes"
    busy.close()
