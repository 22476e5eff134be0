"""A laptop's state directory was copied, and somebody has the copy on another machine: with Muster, or with a program
of their own that has the key. The owner goes on meanwhile, or does not; and then the laptop is revoked."""

import os
import shutil
from types import SimpleNamespace

import pytest
from attacks import assert_kept, kept, wait_for_reason
from authors import digest
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from invitations import anna, invite, let_in
from lab import is_enrolled, never_during, wait_until
from newcomer import ENROLMENT
from relays import things
from revoking import CUT_OFF_SECONDS, REFUSED, crew, forget_revocations, identifier, revoke, wait_revoked
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import Link, Member, Stranger, connect, delta, frame, number

# Of a laptop that wants its certificate renewed.
RENEWAL = 7
LARGEST = (1 << 64) - 1
TWO = "Another laptop has this laptop's key: one of them is a copy."


def stolen_from(daemon):
    """Whoever has the key and the certificates, in a program that does as it likes."""
    read = lambda name: open(os.path.join(daemon.state, name), encoding="utf-8").read()
    key = load_pem_private_key(read("device.key").encode(), None)
    return Member(SimpleNamespace(sign=lambda *_: read("fleet.pem")), key)


@pytest.fixture
def thief(solos, crew):
    """Bert's directory on a machine with another id; it does not run yet."""
    daemon = solos("thief")
    os.rmdir(daemon.state)
    shutil.copytree(crew.bert.state, daemon.state, ignore=shutil.ignore_patterns("lock"))
    machine = os.path.join(solos.directory, "machine-id")
    with open(machine, "w", encoding="utf-8") as file:
        file.write("f" * 32 + "\n")
    mount = f"mount --bind {machine} /etc/machine-id && exec \"$@\""
    daemon.elsewhere = ["unshare", "--mount", "sh", "-c", mount, "sh"]
    return daemon


@pytest.mark.parametrize("when", ["its owner goes on", "its owner is revoked"])
def test_muster_itself_gives_the_key_up_on_another_machine(crew, thief, when):
    """It tells a copy from the laptop, and has to be let in like any other; what it holds can be read, as any disk."""
    bert = crew.bert
    if when == "its owner is revoked":
        revoke(crew.anna, "bert")
        wait_revoked(crew.cleo, identifier(bert))
    before, logged = [kept(daemon) for daemon in crew.all], [len(daemon.log()) for daemon in crew.all]
    forget_revocations(thief)
    addresses = [word for daemon in crew.all for word in ("--peer", daemon.address)]
    thief.launch(*addresses, prefix=thief.elsewhere)
    wait_until(thief.answers, PATIENCE_SECONDS, "it answers")
    assert "the store was copied or moved" in thief.log() and not is_enrolled(thief.state)
    assert identifier(thief) != identifier(bert) and thief.items(crew.job) == bert.items(crew.job)
    thief.add(crew.job, name="of the thief")
    never_during(lambda: thief.connected() or "thief" in str(crew.anna.get("/v1/peers")), 1, "it is connected")
    for daemon, had, length in zip(crew.all, before, logged):
        assert_kept(daemon, had)
        assert "thief" not in daemon.log()[length:]


def test_who_has_the_key_is_shut_out_with_it(crew):
    """Until then it is that laptop, for all who meet it."""
    anna, bert, cleo = crew.all
    member = stolen_from(bert)
    assert member.device.hex() == identifier(bert)
    assert bert.stop() == 0
    stranger, written = Stranger(cleo, member=member).greet(), things("of the thief")
    stranger.say(delta(crew.job, stranger.author(), 1, 1, digest(written), written[0]))
    there = lambda: "of the thief" in str(anna.items(crew.job))
    wait_until(there, PATIENCE_SECONDS, "before anybody knows it is taken for the owner's")
    revoke(anna, member.device.hex())
    assert stranger.is_closed_within(CUT_OFF_SECONDS)
    wait_revoked(cleo, member.device.hex())
    before = [kept(daemon) for daemon in (anna, cleo)]
    for daemon, had in zip((anna, cleo), before):
        for application in ("muster/1", ENROLMENT):
            member.context.set_alpn_protocols([application])
            is_told = tries(daemon, member, crew.job, application)
            assert not is_told, (daemon.name, application)
        wait_until(lambda: REFUSED in daemon.log(), PATIENCE_SECONDS, f"the log says why: {daemon.log()}")
        assert "a certificate was renewed" not in daemon.log()
        assert_kept(daemon, had)


def tries(daemon, member, job, application):
    """Says what a laptop says; returns what comes back."""
    author, written = member.author(), things("after that")
    with connect(daemon) as connection:
        try:
            link = Link(connection, member.context)
            run = delta(job, author, 1, 1, digest(written), written[0])
            link.send(frame(number(RENEWAL, 1)) if application == ENROLMENT else hello_of(member) + run)
            return link.receive(1 << 16)
        except OSError:
            return b""


def hello_of(member, **fields):
    return Stranger.hello(SimpleNamespace(member=member), **fields)


def test_who_has_the_key_makes_its_owner_take_another_and_no_more(crew):
    """Of two with one key one has to go, and whoever says that it is the other stays: the owner joins anew."""
    anna, bert, cleo = crew.all
    member = stolen_from(bert)
    former, before = identifier(bert), kept(bert)
    stranger = Stranger(bert, member=member)
    remote = "{}:{}".format(*stranger.socket.getsockname())
    stranger.say(hello_of(member, instance=LARGEST))
    assert stranger.is_closed_within(PATIENCE_SECONDS)
    assert TWO in wait_for_reason(bert, remote)
    wait_until(lambda: identifier(bert) != former, PATIENCE_SECONDS, "bert has another key")
    assert bert.get("/v1/fleet")["fleetID"] is None
    # All of the work stands, and belongs to whom it did.
    after = kept(bert)
    for part in ("job", "item", "conflict", "request"):
        assert after[part] == before[part], part
    let_in(anna, bert, invite(anna))
    wait_until(lambda: "bert" in anna.connected(), PATIENCE_SECONDS, "bert is in again")
    revoke(anna, former)
    item = bert.add(crew.job, name="of bert")
    wait_until(lambda: item in cleo.items(crew.job), PATIENCE_SECONDS, "his work comes to all")
    wait_agreed(crew.all, crew.job)
    had = kept(anna)
    assert tries(anna, member, crew.job, "muster/1") == b""
    wait_until(lambda: REFUSED in anna.log(), PATIENCE_SECONDS, f"the thief is refused: {anna.log()}")
    assert_kept(anna, had)
    assert "bert" in anna.connected()
