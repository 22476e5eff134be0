"""What is sent twice, in part, or as if by an older program: it changes nothing, and the log says how it ended.

On the cable, where somebody sees only what is encrypted; and from a member of the fleet, who can say anything.
"""

import socket
import struct

import pytest
from attacks import assert_kept, kept, wait_for_reason
from authors import digest
from lab import wait_at_rest, wait_until
from relays import is_closed, things
from solo import PATIENCE_SECONDS, Solos, wait_agreed
from stranger import HAVE, Member, Stranger, connect, delta, have, hello, text
from wires import ANSWERED, DIALLED, Wire

TLS_1_3, TLS_1_2 = b"\x00\x2b\x00\x03\x02\x03\x04", b"\x00\x2b\x00\x03\x02\x03\x03"
ANSWER_1_3, ANSWER_1_2 = b"\x00\x2b\x00\x02\x03\x04", b"\x00\x2b\x00\x02\x03\x03"
BROKEN = "BAD_DECRYPT"
# The first byte of such a record.
ENCRYPTED = 23
# What a laptop says of one edit is longer; what it says of how it is is shorter.
EDIT_BYTES = 200


class Cable:
    """Anna, who dials bert through a wire. They agree on a job."""

    def __init__(self, solos, wire, bert):
        self.wire, self.bert, self.anna = wire, bert, solos("anna")
        self.restart(self.anna)
        self.job = self.anna.create_job()
        self.anna.add(self.job, name="x" * EDIT_BYTES)
        self.wait_together()
        # So that there is a connection of before.
        self.restart(self.anna)
        self.wait_together()

    def restart(self, *daemons):
        for daemon in daemons:
            if daemon.program and daemon.program.is_running:
                assert daemon.stop() == 0
        for daemon in daemons:
            # Of a dial that came to nothing nobody is told by default.
            daemon.start(*(["--peer", self.wire.address, "--log-level", "debug"] if daemon is self.anna else []))

    def wait_together(self):
        are_connected = lambda: self.bert.connected() == ["anna"]
        wait_until(are_connected, PATIENCE_SECONDS, f"they are connected: {self.bert.log()}")
        wait_agreed([self.anna, self.bert], self.job)


@pytest.fixture(scope="module")
def cable(build_directory):
    with Solos(build_directory) as solos:
        bert = solos("bert").start()
        with Wire(bert) as wire:
            yield Cable(solos, wire, bert)


def in_the_first(way, said, instead):
    """Of each connection."""

    def change(other, number, record):
        if (other, number) != (way, 0):
            return record
        assert said in record
        return record.replace(said, instead)

    return change


DOWNGRADES = {
    "TLS 1.2 is offered": (in_the_first(DIALLED, TLS_1_3, TLS_1_2), "bert", "UNSUPPORTED_PROTOCOL"),
    "TLS 1.2 is answered": (in_the_first(ANSWERED, ANSWER_1_3, ANSWER_1_2), "anna", "UNSUPPORTED_PROTOCOL"),
    # What both have said is part of what they agree on.
    "another protocol is offered": (in_the_first(DIALLED, b"\x08muster/1", b"\x08muster/0"), "bert", BROKEN),
}


@pytest.mark.parametrize("what", DOWNGRADES)
def test_who_holds_the_cable_talks_nobody_into_less(cable, what):
    change, who, reason = DOWNGRADES[what]
    assert cable.anna.stop() == 0
    cable.restart(cable.bert)
    before = [kept(daemon) for daemon in (cable.anna, cable.bert)]
    cable.wire.change, changed = change, cable.wire.changed
    cable.restart(cable.anna)
    try:
        wait_until(lambda: cable.wire.changed > changed, PATIENCE_SECONDS, "the wire has changed something")
        wait_until(lambda: "a connection was refused" in cable.bert.log(), PATIENCE_SECONDS, "bert's log says so")
        log = {"anna": cable.anna, "bert": cable.bert}[who].log
        wait_until(lambda: reason in log(), PATIENCE_SECONDS, f"{who}'s log says why: {log()}")
        assert cable.bert.connected() == cable.anna.connected() == []
        for daemon, had in zip((cable.anna, cable.bert), before):
            assert_kept(daemon, had)
    finally:
        cable.wire.change = None
    cable.wait_together()


def once(way, change):
    """The next edit that goes this way."""
    done = []

    def changed(other, number, record):
        if done or other != way or len(record) < EDIT_BYTES:
            return record
        done.append(record)
        return change(record)

    return changed


def with_another_bit(record):
    return record[:-1] + bytes([record[-1] ^ 1])


SPOILT = {
    "twice": (lambda cable: lambda record: record * 2, BROKEN),
    "not at all": (lambda cable: lambda record: b"", BROKEN),
    "with another bit": (lambda cable: with_another_bit, BROKEN),
    "with one of a former connection before it": (lambda cable: behind(former(cable)), BROKEN),
    "half": (lambda cable: lambda record: None, "the peer closed the connection"),
}


def behind(other):
    return lambda record: other + record


def former(cable):
    """The last edit that went over the wire before this connection was there."""
    said = [record for heard in cable.wire.heard[:-1] for way, record in heard if way == DIALLED]
    return [record for record in said if record[0] == ENCRYPTED and len(record) >= EDIT_BYTES][-1]


@pytest.mark.parametrize("what", SPOILT)
def test_an_edit_that_arrives_spoilt_ends_the_connection_and_comes_again(cable, what):
    make, reason = SPOILT[what]
    cable.wait_together()
    before, logged = kept(cable.bert), len(cable.bert.log())
    items = cable.bert.items(cable.job).keys()
    changed = cable.wire.changed
    cable.wire.change = once(DIALLED, make(cable))
    new = {cable.anna.add(cable.job, name="x" * EDIT_BYTES)}
    wait_until(lambda: cable.wire.changed > changed, PATIENCE_SECONDS, "the wire has changed something")
    # That something is missing shows by what follows.
    new.add(cable.anna.add(cable.job, name="Lamp"))
    said = lambda: [line for line in cable.bert.log()[logged:].splitlines() if "connection closed" in line]
    (line,) = wait_until(said, PATIENCE_SECONDS, f"bert's log says why: {cable.bert.log()[logged:]}")
    assert cable.wire.changed == changed + 1 and reason in line, line
    # It would dial again by itself, after some seconds.
    cable.restart(cable.anna)
    wait_until(lambda: new <= cable.bert.items(cable.job).keys(), PATIENCE_SECONDS, "it comes again")
    cable.wait_together()
    assert cable.bert.items(cable.job).keys() == items | new, "once"
    after = kept(cable.bert)
    assert len(after["item"]) == len(before["item"]) + 2 and after["author"] == before["author"]


def test_a_whole_conversation_that_was_overheard_says_nothing_a_second_time(cable):
    cable.restart(cable.anna, cable.bert)
    cable.wait_together()
    before = kept(cable.bert)
    overheard = b"".join(record for way, record in cable.wire.heard[-1] if way == DIALLED)
    with connect(cable.bert) as connection:
        connection.sendall(overheard)
        remote = "{}:{}".format(*connection.getsockname())
        line = wait_for_reason(cable.bert, remote)
    assert "a connection was refused" in line and BROKEN in line, line
    cable.wait_together()
    assert_kept(cable.bert, before)


class Fleet:
    """Bert and anna, who agree on a job, and a member of the fleet that has written something there."""

    def __init__(self, solos):
        self.bert = solos("bert").start()
        self.anna = solos("anna").start("--peer", self.bert.address)
        self.job = self.anna.create_job()
        self.anna.add(self.job, name="Sofa")
        wait_agreed([self.anna, self.bert], self.job)
        self.member = Member(self.anna.fleet)
        self.author, self.records = self.member.author(), things("one", "two", "three")
        self.said = [
            delta(self.job, self.author, count, count, digest(self.records[:count]), self.records[count - 1])
            for count in (1, 2, 3)
        ]
        self.head = (self.author.replica, 3, digest(self.records))
        stranger = Stranger(self.anna, member=self.member).greet()
        stranger.say(*self.said)
        there = lambda: self.bert.vector(self.job).get(self.author.replica.hex()) == 3
        wait_until(there, PATIENCE_SECONDS, "it is there")
        wait_agreed([self.anna, self.bert], self.job)
        stranger.close()
        self.wait_alone()

    def wait_alone(self):
        wait_until(lambda: self.anna.connected() == ["bert"], PATIENCE_SECONDS, f"others have gone: {self.anna.log()}")


@pytest.fixture(scope="module")
def fleet(build_directory):
    with Solos(build_directory) as solos:
        yield Fleet(solos)


@pytest.mark.parametrize("who", ["the same", "another"])
def test_frames_that_were_true_once_change_nothing_a_second_time(fleet, who):
    """A run that its author has signed may be passed on by anybody, as often as they like."""
    member = fleet.member if who == "the same" else Member(fleet.anna.fleet)
    before, logged = kept(fleet.anna), len(fleet.anna.log())
    stranger = Stranger(fleet.anna, member=member).greet()
    first = (fleet.author.replica, 1, digest(fleet.records[:1]))
    claims = [have(fleet.job, [fleet.head]), have(fleet.job, [first])]
    for _ in range(100):
        stranger.say(*fleet.said, *reversed(fleet.said), *claims)
    wait_at_rest(fleet.anna.program, PATIENCE_SECONDS, "anna has taken all of it")
    assert not is_closed(fleet.anna, stranger), fleet.anna.log()[logged:]
    said = [line for line in fleet.anna.log()[logged:].splitlines() if "peer connected" not in line]
    assert said == [], said
    assert_kept(fleet.anna, before)
    stranger.close()
    fleet.wait_alone()


def test_the_hello_of_another_is_none_of_who_says_it(fleet):
    before, logged = kept(fleet.anna), len(fleet.anna.log())
    stranger = Stranger(fleet.anna)
    stranger.say(hello(fleet.member.device))
    assert stranger.is_closed_within(PATIENCE_SECONDS)
    wait_until(lambda: "another device than the one whose key it has" in fleet.anna.log()[logged:], 5, fleet.anna.log())
    assert_kept(fleet.anna, before)


def long_run(fleet):
    written = things(*[f"half {count}" for count in range(500)])
    return delta(fleet.job, fleet.member.author(), 1, 500, digest(written), b"".join(written))


TRUNCATED = {
    "its length": lambda fleet: long_run(fleet)[:3],
    "half of it": lambda fleet: long_run(fleet)[: len(long_run(fleet)) // 2],
    "all but a byte": lambda fleet: long_run(fleet)[:-1],
}


@pytest.mark.parametrize("what", TRUNCATED)
def test_a_frame_that_is_cut_off_is_none(fleet, what):
    before, logged = kept(fleet.anna), len(fleet.anna.log())
    stranger = Stranger(fleet.anna, member=fleet.member).greet()
    wait_until(lambda: "stranger" in fleet.anna.connected(), PATIENCE_SECONDS, "it is a peer like any other")
    stranger.say(TRUNCATED[what](fleet))
    stranger.socket.shutdown(socket.SHUT_WR)
    wait_until(lambda: is_closed(fleet.anna, stranger), PATIENCE_SECONDS, f"the log says so: {fleet.anna.log()}")
    assert "the connection ended inside a frame" in fleet.anna.log()[logged:]
    stranger.close()
    fleet.wait_alone()
    assert_kept(fleet.anna, before)


PAYLOAD = text(HAVE, text(1, "job"))
NO_FRAMES = {
    "a byte more than may be": (struct.pack(">I", (1 << 20) + 1), "over the limit"),
    "as much as can be": (struct.pack(">I", 0xFFFFFFFF), "over the limit"),
    "shorter than what is in it": (struct.pack(">I", 1) + PAYLOAD, "protobuf"),
}


@pytest.mark.parametrize("what", NO_FRAMES)
def test_a_frame_of_another_length_than_it_says_ends_the_connection(fleet, what):
    said, reason = NO_FRAMES[what]
    before, logged = kept(fleet.anna), len(fleet.anna.log())
    stranger = Stranger(fleet.anna, member=fleet.member).greet()
    stranger.say(said)
    assert stranger.is_closed_within(PATIENCE_SECONDS)
    wait_until(lambda: is_closed(fleet.anna, stranger), PATIENCE_SECONDS, fleet.anna.log())
    assert reason in fleet.anna.log()[logged:], fleet.anna.log()[logged:]
    fleet.wait_alone()
    assert_kept(fleet.anna, before)
