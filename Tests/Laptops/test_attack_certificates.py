"""Certificates that let nobody in: self-signed, by who may sign none, too old, too young, revoked, or somebody else's.

Each is shown by somebody who can do all else; the honest laptop says why it was refused, and keeps what it had.
"""

import pytest
from attacks import (
    Issuing,
    answering,
    assert_kept,
    heard,
    kept,
    show_with_another_key,
    wait_for_reason,
)
from authors import digest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from false_inviters import FalseInviter
from invitations import founder
from lab import wait_until
from relays import things
from revoking import (
    REFUSED,
    Root,
    Signer,
    as_signer,
    certify,
    fleet_in,
    made_certificate,
    pem,
    subject_of,
    wait_revoked,
)
from solo import PATIENCE_SECONDS, Solos, wait_agreed
from stranger import Member, Stranger, delta, hello
from test_renewal import RENEW_SECONDS, valid_until
from time_server import TimeServer

# What the crew's clocks say: so many days after today. A certificate holds 45 days, and 45 more are grace.
LATER = 100
OTHER_FLEET, NOT_ALLOWED = "another fleet, or to none", "issued by someone who may not do so"


class Town:
    """Anna, who may let others in, and bert, who may not: they agree on a job, and live a hundred days from now."""

    def __init__(self, solos, anna, signer, server):
        self.anna, self.bert, self.signer = anna, solos("bert"), signer
        self._flags = ["--server", server.url]
        self.restart(self.anna)
        renewed = lambda: valid_until(self.anna) > server.microseconds() / 1_000_000
        wait_until(renewed, RENEW_SECONDS, f"anna renews her own: {self.anna.log()}")
        self.bert.launch()
        wait_until(self.bert.answers, PATIENCE_SECONDS, "bert answers")
        certify(self.anna, self.bert)
        self.restart(self.bert)
        self.job = self.anna.create_job()
        self.anna.add(self.job, name="Sofa")
        wait_agreed([self.anna, self.bert], self.job)
        self.member = Member(Issuing(self.signer, LATER - 1, LATER + 44))
        self.revoked = Member(Issuing(self.signer, LATER - 1, LATER + 44))
        # Whoever has its database has the server's key.
        self.server, self.lost_server = (Member(Issuing(self.signer, 0, 4 * LATER, role="server")) for _ in range(2))
        for lost in (self.revoked, self.lost_server):
            entry = self.signer.revocation(lost.device.hex())
            self.anna.make("/v1/fleet/revocations", {"revocation": pem(entry)})
            wait_revoked(self.bert, lost.device.hex())

    def restart(self, daemon, *flags):
        """A laptop tells at length of one stranger a minute: each attack is the first that it hears of."""
        if daemon.program:
            assert daemon.stop() == 0
        daemon.launch(*flags, *self._flags, *(["--peer", self.anna.address] if daemon is self.bert else []))
        wait_until(daemon.answers, PATIENCE_SECONDS, f"{daemon.name} answers")
        # From the server, or from the other one.
        knows = lambda: daemon.get("/v1/clock")["isSynchronised"]
        wait_until(knows, PATIENCE_SECONDS, f"{daemon.name} knows the time")

    def wait_together(self):
        for daemon, other in ((self.anna, "bert"), (self.bert, "anna")):
            wait_until(lambda: daemon.connected() == [other], PATIENCE_SECONDS, f"{other} is there: {daemon.log()}")

    def self_signed(self, behind=()):
        """By its own key, as a laptop of this fleet."""
        key = Ed25519PrivateKey.generate()
        subject = subject_of("laptop", key, fleet_in(self.signer.root))
        own = Signer(key, made_certificate("root", subject, key), self.signer.root)
        return Member(Issuing(own, LATER - 1, LATER + 44, behind=behind), key)

    def by_member(self, *behind):
        """By a laptop that may let nobody in, for a key of its own making."""
        signer = as_signer(self.member, self.anna)
        return Member(Issuing(signer, LATER - 1, LATER + 44, behind=[signer.certificate, *behind]))

    def by_own_issuer(self):
        """By a key that a laptop has made an issuer, which it may not."""
        own, key = as_signer(self.member, self.anna), Ed25519PrivateKey.generate()
        subject = subject_of("issuer", key, fleet_in(own.root))
        made = made_certificate("issuer", subject, key, under=(own.certificate, own.key))
        return Member(Issuing(Signer(key, made, own.root), LATER - 1, LATER + 44))

    def by_server(self, *behind):
        """A laptop's certificate by a server's key, for a key that nobody has let in."""
        signer = self._signing(self.server)
        return Member(Issuing(signer, LATER - 1, LATER + 44, behind=[signer.certificate, *behind]))

    def renewed(self, former, by=None, role="member", key=None):
        """What a server's key can sign: it prolongs what an issuer has given, or is said to."""
        by = by or self.server
        behind = [*former.certificates, *by.certificates]
        terms = Issuing(self._signing(by), LATER - 1, LATER + 44, kind="renewal", role=role, behind=behind)
        shown = Member(terms, key or former.key)
        if not key:
            shown.author = former.author
        return shown

    def _signing(self, member):
        return Signer(member.key, member.certificates[0], self.signer.root)

    def with_another_key(self):
        """A certificate that was overheard: it is in each handshake, to whoever answers."""
        copied = Member(Issuing(self.signer, LATER - 1, LATER + 44))
        show_with_another_key(copied.context, copied.key)
        return copied

    def until(self, day):
        return Member(Issuing(self.signer, -1, day))

    def since(self, day):
        return Member(Issuing(self.signer, day, day + 45))


@pytest.fixture(scope="module")
def town(build_directory, founded):
    with Solos(build_directory) as solos:
        anna = founder(solos, founded)
        # An issuer of today, in Python, which signs anything.
        signer = Root(founded).signer(anna)
        office = Issuing(signer, 0, 4 * LATER, role="proxy")
        with TimeServer(office, error_seconds=LATER * 86_400) as server:
            yield Town(solos, anna, signer, server)


ATTACKS = {
    "self-signed": (Town.self_signed, "It showed 1 certificates"),
    "self-signed, the issuer's behind it": (lambda town: town.self_signed([town.signer.certificate]), NOT_ALLOWED),
    "by a member": (Town.by_member, OTHER_FLEET),
    "by a member, all of its chain": (lambda town: town.by_member(town.signer.certificate), "It showed 3 certificates"),
    "by an issuer of a member's making": (Town.by_own_issuer, OTHER_FLEET),
    "an issuer, as if it were a laptop": (
        lambda town: Member(Issuing(town.signer, LATER - 1, LATER + 44, kind="issuer")), "KEY_USAGE_BIT_INCORRECT"),
    "another key": (Town.with_another_key, "BAD_SIGNATURE"),
    "past its grace": (lambda town: town.until(LATER - 46), "ran out long ago"),
    "not yet valid": (lambda town: town.since(LATER + 1), "does not hold yet"),
    "revoked": (lambda town: town.revoked, REFUSED),
    "a stranger, by the server's key": (Town.by_server, OTHER_FLEET),
    "a stranger, by the server's key, all of its chain": (
        lambda town: town.by_server(*town.server.certificates[1:]), "It showed 3 certificates"),
    "a stranger's renewal, before a laptop's certificates": (
        lambda town: town.renewed(town.member, key=Ed25519PrivateKey.generate()), NOT_ALLOWED),
    "a renewal that raises a role": (lambda town: town.renewed(town.member, role="office"), NOT_ALLOWED),
    "a renewal by a member": (lambda town: town.renewed(town.until(LATER - 46), by=town.member), NOT_ALLOWED),
    "revoked, and renewed": (lambda town: town.renewed(town.revoked), REFUSED),
    "renewed by a server that was revoked": (
        lambda town: town.renewed(town.until(LATER - 46), by=town.lost_server), "ran out long ago"),
}


@pytest.mark.parametrize("what", ATTACKS)
def test_it_lets_nobody_in(town, what):
    make, reason = ATTACKS[what]
    shown = make(town)
    refuses(town, town.bert, shown, reason)


def test_an_issuer_hears_who_is_too_old_and_takes_nothing_of_it(town):
    """It may have a new certificate from her, and is no peer before that."""
    refuses(town, town.anna, town.until(LATER - 46), "ran out long ago")


def refuses(town, daemon, shown, reason):
    town.restart(daemon)
    town.wait_together()
    before, lies = kept(daemon), things("a lie")
    author = shown.author()
    said = hello(shown.device) + delta(town.job, author, 1, 1, digest(lies), lies[0])
    words, remote = heard(daemon, shown.context, said)
    assert words == b"", words
    line = wait_for_reason(daemon, remote)
    assert "a connection was refused" in line and reason in line, line
    town.wait_together()
    assert_kept(daemon, before)


@pytest.mark.parametrize("who", ["a member", "in its grace", "quite new", "renewed"])
def test_so_it_was_the_certificate(town, who):
    """What all of those do, with one that holds."""
    member = {"a member": lambda: town.member, "in its grace": lambda: town.until(LATER - 44),
              "quite new": lambda: town.since(LATER - 0.01),
              "renewed": lambda: town.renewed(town.until(LATER - 46))}[who]()
    stranger, written = Stranger(town.bert, member=member).greet(), things(f"true, {who}")
    stranger.say(delta(town.job, stranger.author(), 1, 1, digest(written), written[0]))
    there = lambda: f"true, {who}" in {item["fields"].get("colour") for item in town.anna.items(town.job).values()}
    wait_until(there, PATIENCE_SECONDS, f"anna has it from bert: {town.bert.log()}")
    stranger.close()




class Impostor(FalseInviter):
    """Answers at an address, with a member's certificates."""

    def __init__(self, member, has_key):
        super().__init__()
        self.heard = []
        self._context = answering(member)
        if not has_key:
            show_with_another_key(self._context, member.key)

    def serve(self, conversation):
        self.heard.append(conversation.payload())


@pytest.mark.parametrize("has_key", [False, True], ids=["another key", "its key"])
def test_who_answers_with_an_overheard_certificate_hears_no_word(town, has_key):
    """Bert dials it. With the key that belongs to it, it hears his hello."""
    before = kept(town.bert)
    with Impostor(town.member, has_key) as impostor:
        town.bert.make("/v1/peers", {"address": impostor.address})
        said = lambda: [line for line in town.bert.log().splitlines() if impostor.address in line]
        if has_key:
            wait_until(lambda: impostor.heard, PATIENCE_SECONDS, f"bert says hello: {said()}")
        else:
            failed = lambda: [line for line in said() if "did not show to be of the fleet" in line and "BAD_SIGNATURE" in line]
            wait_until(failed, PATIENCE_SECONDS, f"the log says why: {said()}")
    assert bool(impostor.heard) == has_key
    assert_kept(town.bert, before)
    town.wait_together()
