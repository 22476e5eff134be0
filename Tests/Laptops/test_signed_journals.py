"""Journals are signed by who writes them: whoever passes them on changes, leaves out and adds nothing."""

import pytest
from authors import CLAIMED, digest, flipped
from lab import never_during, wait_until
from protobuf import fields, fixed, number, text
from relays import CHANGES, HEAD, JOB, REPLICA, is_closed, passed_on, records, things, town  # noqa: F401
from solo import PATIENCE_SECONDS, journals, wait_agreed
from stranger import PROBE, PROBE_ANSWER, REQUEST, VECTOR, Stranger, delta, forked, frame, vector

UNSIGNED = "has not signed what was sent as its work"
NOT_ITS_OWN = "What was shown as this laptop's own work was not signed by it"
UNKNOWN = "Nobody has told whose journal"


OWN = {
    "a wrong signature": ({"signature": bytes(64)}, UNSIGNED),
    "no signature": ({"signature": b""}, UNSIGNED),
    "a signature that is too short": ({"signature": bytes(63)}, "signature"),
    "the signature of another job": ({"signed": "another"}, UNSIGNED),
    "another digest": ({"head": CLAIMED}, "does not have the digest"),
    "an author whom it does not tell": ({"tells": False}, UNKNOWN),
}


@pytest.mark.parametrize("what", OWN)
def test_a_member_signs_its_own_journal(town, what):
    faults, reason = OWN[what]

    def say(stranger):
        author, written = stranger.author(), things("lie")
        head = faults.get("head", digest(written))
        signature = author.sign("another", 1, head) if "signed" in faults else faults.get("signature")
        return delta(town.job, author, 1, 1, head, written[0], signature, faults.get("tells", True))

    # What is no signature at all is no message either.
    town.refuses(reason, say, names=reason != "signature")


def test_a_signature_is_over_the_sequence(town):
    """Two changes under the signature of one."""

    def say(stranger):
        author, written = stranger.author(), things("one", "two")
        signature = author.sign(town.job, 1, digest(written[:1]))
        return delta(town.job, author, 1, 2, digest(written), b"".join(written), signature)

    town.refuses(UNSIGNED, say)


def without_one(run):
    """A change is left out that others follow."""
    held = records(run[CHANGES])
    return b"".join(held[:-2] + held[-1:])


ALTERED = {
    "one byte": lambda run: flipped(run[CHANGES], run[CHANGES].index(b"Chair")),
    "its last byte": lambda run: flipped(run[CHANGES], -2),
    "a change less": without_one,
    "two changes in another order": lambda run: b"".join(
        [*records(run[CHANGES])[:-2], *records(run[CHANGES])[:-3:-1]]),
}


@pytest.mark.parametrize("what", ALTERED)
@pytest.mark.parametrize("is_digest_true", [False, True], ids=["with anna's digest", "with the digest of that"])
def test_a_relay_alters_nothing(town, what, is_digest_true):
    """Anna's journal passes through hands that change it, which can say another digest, but not sign that."""
    changes = ALTERED[what](town.run)
    assert changes != town.run[CHANGES] and digest(records(town.run[CHANGES])) == town.run[HEAD]
    altered = {**town.run, CHANGES: changes}
    if is_digest_true:
        altered[HEAD] = digest(records(changes))
    reason = UNSIGNED if is_digest_true else "does not have the digest"
    town.refuses(reason, lambda _: passed_on(altered))


def test_a_relay_gives_no_journal_to_another_job(town):
    town.refuses(UNSIGNED, lambda _: passed_on({**town.run, JOB: town.job}))


def next_of(town, laptop):
    """How a stranger goes on with what carl holds of a laptop's journal, with a key of its own."""
    name = bytes.fromhex(laptop.replica())
    next = town.carl.vector(town.job)[name.hex()] + 1
    written = things("lie")
    return lambda stranger: delta(town.job, stranger.author(name), next, next, digest(written), written[0])


def test_nobody_writes_under_the_name_of_a_laptop_that_is_known(town):
    """Carl knows bert, and whose key that is."""
    town.refuses(UNSIGNED, next_of(town, town.bert))


def test_nobody_settles_a_fork_with_what_was_not_signed(town):
    """Who claims that bert's journal is another one is asked where they part, and answers all the way."""
    name = bytes.fromhex(town.bert.replica())
    before, logged = town.held(), len(town.carl.log())
    written = things("lie")
    stranger = Stranger(town.carl).greet()
    held = [(name, town.carl.vector(town.job)[name.hex()], CLAIMED)]
    stranger.say(vector(VECTOR, town.job, held), forked(town.job, name))
    for kind, payload in stranger.frames():
        asked = fields(fields(payload).get(kind, b"")) if kind in (PROBE, REQUEST) else {}
        if kind == PROBE and asked[REPLICA] == name:
            boundary = number(1, asked[3]) + text(3, CLAIMED)
            # The branch with the smaller hash stays.
            answer = text(1, town.job) + text(2, name) + number(3, asked[3]) + fixed(4, 0) + text(5, boundary)
            stranger.say(frame(text(PROBE_ANSWER, answer)))
        if kind == REQUEST and asked[REPLICA] == name:
            stranger.say(delta(town.job, stranger.author(name), 1, 1, digest(written), written[0]))
    assert "a forked journal could not be settled" in town.carl.log()[logged:]
    assert f"stranger ({stranger.member.device.hex()[:8]}) passed on, once" in town.journals()
    assert town.held() == before
    town.goes_on()


def test_nobody_writes_under_the_name_of_a_laptop_that_is_not_known(town):
    """What a name is the hash of, only one key leads to."""
    written = things("lie")

    def say(stranger):
        author = stranger.author(bytes.fromhex(town.anna.replica()))
        return delta(town.hers, author, 1, 1, digest(written), written[0])

    town.refuses(UNKNOWN, say)


def test_nobody_writes_under_the_name_of_the_laptop_that_hears_it(town):
    town.carl.add(town.job, name="of carl")
    wait_agreed([town.bert, town.carl], town.job)
    name = town.carl.replica()
    town.refuses(NOT_ITS_OWN, next_of(town, town.carl))
    assert town.carl.replica() == name, "what nobody has signed shows no future"


def test_an_author_is_told_once(town):
    stranger = Stranger(town.carl).greet()
    author, written = stranger.author(), things("first", "second", "third")
    for count in range(1, 4):
        head = digest(written[:count])
        assert stranger.say(delta(town.job, author, count, count, head, written[count - 1], tells=count == 1))
    wait_until(lambda: {"first", "second", "third"} <= town.names(), PATIENCE_SECONDS, "carl has all three")
    assert "stranger" in town.carl.connected()
    stranger.close()
    town.goes_on()


def test_an_author_is_told_with_a_run_that_comes_too_early(town):
    """What is asked for comes behind it, and without him: peers are told of him once."""
    logged = len(town.carl.log())
    stranger = Stranger(town.carl).greet()
    author, written = stranger.author(), things("early 1", "early 2", "early 3")
    stranger.say(vector(VECTOR, town.job, [(author.replica, 2, digest(written[:2]))]))
    assert REQUEST in (kind for kind, _ in stranger.frames()), "carl asks for both"
    stranger.say(delta(town.job, author, 3, 3, digest(written), written[2]))
    stranger.say(delta(town.job, author, 1, 3, digest(written), b"".join(written), tells=False))
    never_during(lambda: is_closed(town.carl, stranger), 2, "the connection is closed")
    wait_until(lambda: {"early 1", "early 3"} <= town.names(), PATIENCE_SECONDS, "carl has all three")
    stranger.close()


def test_the_run_that_was_altered_is_taken_as_it_is(town):
    """So that the tests above show what they seem to show. Passed on by hands that cannot sign it."""
    stranger = Stranger(town.carl).greet()
    stranger.say(passed_on(town.run))
    wait_agreed([town.anna, town.carl, town.bert], town.hers)
    assert town.carl.items(town.hers) == town.anna.items(town.hers)
    assert town.carl.get(f"/v1/jobs/{town.hers}/export") == town.anna.get(f"/v1/jobs/{town.hers}/export")
    stranger.close()
    town.goes_on()


def test_a_journal_arrives_through_others_also_after_they_were_killed(solos):
    """Carl only ever sees bert."""
    bert = solos("bert").start()
    anna = solos("anna").start("--peer", bert.address)
    carl = solos("carl").start("--peer", bert.address)
    job = anna.create_job()
    anna.add(job, name="Sofa")
    wait_agreed([anna, bert, carl], job)
    assert carl.stop() == 0
    for count in range(20):
        anna.add(job, name=f"Box {count}")
    wait_agreed([anna, bert], job)
    exported = anna.get(f"/v1/jobs/{job}/export")
    bert.kill()
    assert anna.stop() == 0
    bert.start()
    carl.start("--peer", bert.address)
    wait_agreed([bert, carl], job)
    assert carl.get(f"/v1/jobs/{job}/export") == exported and carl.connected() == ["bert"]
    # Together again, it goes on.
    anna.start("--peer", bert.address)
    anna.add(job, name="at last")
    wait_until(lambda: len(carl.items(job)) == 22, PATIENCE_SECONDS, "carl has that, too")
    wait_agreed([anna, bert, carl], job)
    assert carl.connected() == ["bert"]
    for daemon in (anna, bert, carl):
        assert daemon.stop() == 0 and "has not signed" not in daemon.log()
    assert journals(anna) == journals(bert) == journals(carl)
