"""A laptop that was shut out gets in by no trick, and nobody shuts others out who may not."""

import os
import time

import attacks
import pytest
from authors import device_of, digest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from invitations import anna, founder
from lab import wait_until
from revoking import (
    CUT_OFF_SECONDS,
    NOT_ALLOWED,
    REFUSED,
    UNREADABLE,
    Crew,
    Flood,
    Root,
    Signer,
    as_signer,
    entries,
    fingerprint,
    fleet_in,
    identifier,
    kept,
    made_certificate,
    member_of,
    pem,
    revoke,
    revoked,
    root_of,
    subject_of,
    with_flipped_bit,
)
from solo import PATIENCE_SECONDS, Solos
from stranger import (
    GOODBYE,
    HELLO,
    PING,
    REVOCATIONS,
    Link,
    Stranger,
    blocks,
    change,
    connect,
    delta,
    hello,
    ping,
    revocations,
    wait_for_log,
)

SIGNED_BYTES = 1 + 32 + 8 + 64


def serial(member):
    return blocks(member.chain)[0].serial_number


def is_refused(daemon, member):
    """Whether nothing is said to it, and its connection is closed."""
    try:
        return next(Stranger(daemon, member=member).frames(), None) is None
    except OSError:
        return True


def test_no_other_certificate_of_the_same_key_lets_it_in(anna):
    """It names the key, and no certificate."""
    member = member_of(anna)
    other = member_of(anna, member.key)
    assert member.device == other.device and serial(member) != serial(other)
    for one in (member, other):
        stranger = Stranger(anna, member=one).greet()
        wait_until(lambda: anna.connected() == ["stranger"], PATIENCE_SECONDS, "it is let in")
    revoke(anna, member.device.hex())
    assert stranger.is_closed_within(CUT_OFF_SECONDS)
    assert is_refused(anna, member) and is_refused(anna, other)
    wait_for_log(anna, REFUSED)
    request = {"request": member.request, "role": "reader"}
    status, answer = anna.ask("POST", "/v1/fleet/certificates", request)
    assert status == 422 and REFUSED in answer["detail"], answer
    wait_until(lambda: anna.connected() == [], PATIENCE_SECONDS, "it is not connected")
    assert Stranger(anna, member=member_of(anna)).greet(), "another one is let in"


def test_what_a_revoked_laptop_still_says_counts_nothing(anna):
    """Its connection takes a moment to close, and it writes on."""
    job = anna.create_job()
    member = member_of(anna)
    stranger = Stranger(anna, member=member).greet()
    wait_until(lambda: anna.connected() == ["stranger"], PATIENCE_SECONDS, "it is let in")
    told = lambda name: [item for item in anna.items(job).values() if item["fields"].get("colour") == name]
    stranger.say(written(job, member, "before"))
    wait_until(lambda: told("before"), PATIENCE_SECONDS, f"it is a peer like any other: {anna.log()}")
    revoke(anna, member.device.hex())
    assert stranger.say(*[written(job, member, "after") for _ in range(20)]), "the connection was not closed yet"
    assert stranger.is_closed_within(CUT_OFF_SECONDS)
    assert not told("after")


def written(job, member, colour):
    """A change under a new name."""
    record = change(os.urandom(16), int(time.time() * 1000) << 16, colour)
    return delta(job, member.author(), 1, 1, digest([record]), record)


def test_no_connection_of_before_is_gone_on_with(anna):
    """TLS lets a connection begin where another one was, without certificates."""
    member = member_of(anna)
    with connect(anna) as connection:
        link = Link(connection, member.context)
        link.send(hello(member.device))
        link.receive(1 << 16)
        session = link.session
    assert session and session.has_ticket, "anna would have it"
    revoke(anna, member.device.hex())
    with connect(anna) as connection:
        heard = b""
        try:
            link = Link(connection, member.context, session)
            link.send(hello(member.device))
            while more := link.receive(1 << 16):
                heard += more
        except OSError:
            pass
    assert heard == b""
    wait_until(lambda: anna.connected() == [], PATIENCE_SECONDS, "it is not connected")


def test_who_connects_over_and_over_while_it_is_revoked_is_cut_off(anna):
    """Some connections have shown their certificates, and are no links yet, when the revocation comes."""
    for _ in range(8):
        flood = Flood(anna)
        wait_until(lambda: len(flood.held) > 20, PATIENCE_SECONDS, "connections come")
        revoke(anna, flood.member.device.hex())
        end = time.monotonic() + CUT_OFF_SECONDS
        flood.end()
        left = [one for one in flood.held if not one.is_closed_within(max(end - time.monotonic(), 0.1))]
        heard = [one.say(ping(1)) and one.read() for one in left]
        assert not left, f"{len(left)} of {len(flood.held)} connections were left: {heard}"
        flood.close()


def test_the_first_word_to_who_knows_less_are_the_revocations(anna):
    """And nobody takes one back."""
    device = os.urandom(32).hex()
    revoke(anna, device)
    before = kept(anna)
    for known, kinds in ((0, [HELLO, REVOCATIONS, PING]), (fingerprint(entries(anna)), [HELLO, PING])):
        stranger = Stranger(anna, member=member_of(anna))
        stranger.say(stranger.hello(revocations=known))
        frames = stranger.frames()
        heard = [next(frames) for _ in kinds]
        assert [kind for kind, _ in heard] == kinds
        if not known:
            assert heard[1][1].endswith(entries(anna)[0]) and bytes.fromhex(device) in heard[1][1]
            stranger.say(revocations([]))
        stranger.close()
    assert kept(anna) == before and revoked(anna) == {device}


class Town:
    """A crew, a member of the fleet in Python that may not sign, and one that may."""

    def __init__(self, solos, founded):
        self.anna = founder(solos, founded)
        self.crew = Crew(solos, self.anna)
        self.bert = identifier(self.crew.bert)
        self.member = member_of(self.anna)
        self.signer = Root(founded).signer(self.anna)
        # The root's own, which nobody here has heard of.
        drawer = founder(solos, founded, "drawer")
        assert drawer.muster("fleet", "revoke", self.bert, "--yes", *Root(founded).options).returncode == 0
        (self.by_root,) = entries(drawer)
        drawer.kill()
        Stranger(self.anna, member=self.member).greet().close()
        wait_until(lambda: self.anna.connected() == ["bert", "cleo"], PATIENCE_SECONDS, "it has gone")

    def true(self):
        return self.signer.revocation(self.bert)

    def by_member(self):
        return as_signer(self.member, self.anna).revocation(self.bert)

    def by_own_issuer(self):
        """Of its own making: its certificate makes an issuer's."""
        own, key = as_signer(self.member, self.anna), Ed25519PrivateKey.generate()
        subject = subject_of("issuer", key, fleet_in(own.root))
        made = made_certificate("issuer", subject, key, under=(own.certificate, self.member.key))
        return Signer(key, made, own.root).revocation(self.bert)

    def by_other_fleet(self, root=None):
        """Rightly signed there; or for this fleet, with that one's certificate."""
        fleet, key = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
        name = device_of(fleet).hex()[:8]
        other = made_certificate("root", subject_of("root", fleet, name), fleet)
        made = made_certificate("issuer", subject_of("issuer", key, name), key, under=(other, fleet))
        return Signer(key, made, root or other).revocation(self.bert)

    def by_false_root(self):
        """Of this fleet's name, but for the hash of its key."""
        key, true = Ed25519PrivateKey.generate(), root_of(self.anna)
        made = made_certificate("root", subject_of("root", key, fleet_in(true)), key)
        return Signer(key, made, true).revocation(self.bert)

    def by_false_root_of_the_same_subject(self):
        key, true = Ed25519PrivateKey.generate(), root_of(self.anna)
        made = made_certificate("root", x509.load_der_x509_certificate(true).subject, key)
        return Signer(key, made, true).revocation(self.bert)

    def by_root_without_key(self):
        return Signer(None, root_of(self.anna), root_of(self.anna)).revocation(self.bert)

    def by_root_with_another_certificate(self):
        """The signature is true. If this were taken, anybody could make one after the other of it."""
        key, true = Ed25519PrivateKey.generate(), x509.load_der_x509_certificate(root_of(self.anna))
        return self.by_root[:SIGNED_BYTES] + made_certificate("root", true.subject, key, public=true.public_key())

    def before_its_certificate(self):
        return self.signer.revocation(self.bert, 1)


@pytest.fixture(scope="module")
def town(build_directory, founded):
    with Solos(build_directory) as solos:
        yield Town(solos, founded)


FORGERIES = {
    "by a member": (Town.by_member, NOT_ALLOWED),
    "by an issuer of a member's making": (Town.by_own_issuer, NOT_ALLOWED),
    "by another fleet's issuer": (Town.by_other_fleet, NOT_ALLOWED),
    "by another fleet's issuer for this one": (lambda town: town.by_other_fleet(root_of(town.anna)), NOT_ALLOWED),
    "by a root of the same fleet's name": (Town.by_false_root, NOT_ALLOWED),
    "by a root of the same subject": (Town.by_false_root_of_the_same_subject, UNREADABLE),
    "by the root without its key": (Town.by_root_without_key, NOT_ALLOWED),
    "by the root with another certificate": (Town.by_root_with_another_certificate, NOT_ALLOWED),
    "before the issuer's certificate": (Town.before_its_certificate, NOT_ALLOWED),
    "after the issuer's certificate": (lambda town: town.signer.revocation(town.bert, 1 << 62), NOT_ALLOWED),
    "long before 1970": (lambda town: town.signer.revocation(town.bert, -(1 << 63)), NOT_ALLOWED),
    "another version": (lambda town: with_flipped_bit(town.true(), 0), UNREADABLE),
    "another device": (lambda town: with_flipped_bit(town.true(), 32), NOT_ALLOWED),
    "another time": (lambda town: with_flipped_bit(town.true(), 40), NOT_ALLOWED),
    "another signature": (lambda town: with_flipped_bit(town.true(), 41), NOT_ALLOWED),
    "another certificate": (lambda town: with_flipped_bit(town.true(), -1), NOT_ALLOWED),
    "something behind it": (lambda town: town.true() + b"\0", UNREADABLE),
    "without a certificate": (lambda town: town.true()[:SIGNED_BYTES], UNREADABLE),
    "nothing": (lambda town: b"", UNREADABLE),
    "as much as can be": (lambda town: bytes(4_096), UNREADABLE),
    "too much": (lambda town: bytes(4_097), "4097"),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forged_one_closes_the_connection_and_changes_nothing(town, what):
    forge, reason = FORGERIES[what]
    before = Before(town)
    end = ends(town, revocations([forge(town)]))
    assert reason in end, end
    before.assert_unchanged()
    status, answer = town.anna.ask("POST", "/v1/fleet/revocations", {"revocation": pem(forge(town))})
    assert status == 422 and (reason in answer["detail"] or what == "too much"), answer
    before.assert_unchanged()


def test_too_many_at_once_close_the_connection(town):
    before = Before(town)
    end = ends(town, revocations([town.true()] * 65))
    assert "65" in end, end
    before.assert_unchanged()


def test_a_true_one_before_the_hello_closes_the_connection(town):
    before = Before(town)
    stranger = Stranger(town.anna, member=town.member)
    assert stranger.say(revocations([town.true()]))
    kinds = [kind for kind, _ in stranger.frames()]
    assert set(kinds) <= {HELLO, GOODBYE}, kinds
    before.assert_unchanged()


def test_the_signer_of_those_may_sign(town):
    """So it was the forgery that was refused: anybody of the fleet may pass a true one on."""
    device = os.urandom(32).hex()
    stranger = Stranger(town.anna, member=town.member).greet()
    assert stranger.say(revocations([town.signer.revocation(device)] * 64))
    for daemon in town.crew.all:
        wait_until(lambda: device in revoked(daemon), PATIENCE_SECONDS, f"{daemon.name} has it: {daemon.log()}")
    assert stranger.say(revocations([town.signer.revocation(device)])), "a later one of the same device is no news"
    stranger.say(revocations([town.by_member()]))
    assert stranger.is_closed_within(PATIENCE_SECONDS)
    assert town.bert not in revoked(town.anna)


def ends(town, *words):
    """Says this as a peer like any other; returns the reason by which its connection was closed."""
    logged = len(town.anna.log())
    stranger = Stranger(town.anna, member=town.member).greet()
    connected = lambda: "name=stranger" in town.anna.log()[logged:]
    wait_until(connected, PATIENCE_SECONDS, "it is connected")
    assert stranger.say(*words)
    stranger.socket.settimeout(CUT_OFF_SECONDS)
    for kind, _ in stranger.frames():
        if kind == GOODBYE:
            break
    stranger.close()
    closed = lambda: [line for line in town.anna.log()[logged:].splitlines() if "connection closed" in line]
    return wait_until(closed, PATIENCE_SECONDS, "the log says why")[0]


class Before:
    """What anna knew and kept, and with whom she was connected."""

    def __init__(self, town):
        self._town, self._devices, self._kept = town, town.anna.get("/v1/fleet/devices"), attacks.kept(town.anna)

    def assert_unchanged(self):
        anna = self._town.anna
        now = lambda: anna.get("/v1/fleet/devices")
        wait_until(lambda: now() == self._devices, PATIENCE_SECONDS, f"it is as before: {self._devices}")
        # Her keys, certificates and revocations among it.
        attacks.assert_kept(anna, self._kept)
        assert self._town.bert not in revoked(anna)
        for name in ("bert", "cleo"):
            assert anna.log().count(f"name={name}") == 1, "honest connections stay"
