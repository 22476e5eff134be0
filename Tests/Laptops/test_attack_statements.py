"""Withdrawals, answers and states of jobs that somebody else says: a laptop's own word counts where it is its own, the
server's where the server has said it."""

import hashlib
import sqlite3

import pytest
from attacks import assert_kept, kept
from authors import CHANNEL, CLAIMED, Server, digest
from gateways import Asking, advance, published_states, state, wait_published
from lab import wait_until
from protobuf import fields, fixed, number, text
from relays import is_closed
from solo import PATIENCE_SECONDS
from stranger import PROBE, PROBE_ANSWER, REQUEST, VECTOR, Member, Stranger, delta, forked, frame, vector
from test_hostile_statements import JOB_ITEM, record

UNSIGNED = "has not signed what was sent as its work"
# As StatementCodec and RequestCodec write them.
WITHDRAW, OUTCOME, PUBLISH = 7, 8, 9
ACCEPTED, REJECTED = 1, 2


def string(text):
    return bytes([len(text)]) + text.encode()


def withdrawal(token):
    return record(JOB_ITEM, bytes([WITHDRAW]) + bytes.fromhex(token))


def outcome(token, verdict, reason=""):
    return record(JOB_ITEM, bytes([OUTCOME]) + bytes.fromhex(token) + bytes([verdict]) + string(reason))


def publication(name, value):
    return record(JOB_ITEM, bytes([PUBLISH]) + string(name) + string(value))


def next_of_bert(asking):
    """The name of his journal, and the place behind what anna holds of it."""
    name = bytes.fromhex(asking.bert.replica())
    return name, asking.anna.vector(asking.job)[name.hex()] + 1


@pytest.fixture
def asking(solos, office, front):
    return Asking(solos, office, front)


STATEMENTS = {
    "a withdrawal": lambda asking: withdrawal(asking.token),
    "an answer": lambda asking: outcome(asking.token, REJECTED, "no"),
    "a state": lambda asking: publication("state", "completed"),
}


def test_nobody_takes_back_or_answers_in_the_name_of_another(asking):
    """Bert's, and the office's where a laptop says it in its own."""
    for what, make in STATEMENTS.items():
        said, before, logged = make(asking), kept(asking.anna), len(asking.anna.log())
        stranger = Stranger(asking.anna).greet()
        name, next = next_of_bert(asking)
        stranger.say(delta(asking.job, stranger.author(name), next, next, digest([said]), said))
        wait_until(lambda: is_closed(asking.anna, stranger), PATIENCE_SECONDS, f"{what}: {asking.anna.log()[logged:]}")
        assert UNSIGNED in asking.anna.log()[logged:], what
        assert_kept(asking.anna, before)
        assert asking.stands(), what


def test_a_laptops_word_is_not_the_offices(asking):
    """What only the office says counts nothing in a laptop's journal, where it stands under that one's name."""
    said = [outcome(asking.token, REJECTED, "no"), outcome(asking.token, ACCEPTED), publication("state", "completed")]
    before = kept(asking.anna)
    stranger = Stranger(asking.anna).greet()
    author = stranger.author()
    stranger.say(delta(asking.job, author, 1, 3, digest(said), b"".join(said)))
    there = lambda: asking.bert.vector(asking.job).get(author.replica.hex()) == 3
    wait_until(there, PATIENCE_SECONDS, f"bert has it: {asking.anna.log()}")
    after = kept(asking.anna)
    for part in ("job", "item", "request", "outcome", "published", "accepted", "outbox"):
        assert after[part] == before[part], part
    assert asking.stands()
    stranger.close()
    asking.is_carried_out()


def test_who_takes_anothers_request_back_stands_there_with_it(asking):
    """A member may: then the office does not carry it out, and the job's log says under which name that was said."""
    said, before = withdrawal(asking.token), kept(asking.anna)
    stranger = Stranger(asking.anna).greet()
    author = stranger.author()
    stranger.say(delta(asking.job, author, 1, 1, digest([said]), said))
    for daemon in (asking.anna, asking.bert):
        taken = lambda: state(daemon, asking.job) == {"published": "dispatched", "pending": None}
        wait_until(taken, PATIENCE_SECONDS, f"{daemon.name} shows it as taken back: {state(daemon, asking.job)}")
        log = daemon.get(f"/v1/jobs/{asking.job}/log")
        withdrawn = [
            one["by"] for one in log for said in one["decisions"]
            if said["kind"] == "withdrew" and said["token"] == asking.token]
        assert withdrawn == [author.replica.hex()]
    asking.front.always(None)
    held = lambda: asking.office.get(f"/v1/jobs/{asking.job}/vector")
    wait_until(lambda: author.replica.hex() in str(held()), PATIENCE_SECONDS, f"the office has it: {held()}")
    assert published_states(asking.office, asking.job) == ["scheduled", "dispatched"]
    assert kept(asking.anna)["item"] == before["item"]
    stranger.close()
    advance(asking.bert, asking.job, "inProgress")
    wait_published([asking.anna, asking.bert], asking.job, "inProgress")


def end_of_the_office(daemon):
    """How far a laptop holds the office's journal in its only job, and its digest there."""
    database = sqlite3.connect(f"file:{daemon.store}?mode=ro", uri=True)
    try:
        query = "SELECT sequence, digest FROM journal WHERE replica = zeroblob(16)"
        (end,) = database.execute(query).fetchall()
        return end
    finally:
        database.close()


def test_a_member_does_not_speak_as_the_office(asking):
    """One more run of the office's own journal, which bert and anna hold: whoever made it, no server of the fleet has."""
    said = publication("state", "completed")
    last, head = end_of_the_office(asking.anna)
    run = lambda author, **fields: delta(asking.job, author, last + 1, last + 1, digest([said], head), said, **fields)
    before, member = kept(asking.anna), Member(asking.anna.fleet)
    for author in (Server(), Server(member.key, member.author().certificates)):
        logged = len(asking.anna.log())
        stranger = Stranger(asking.anna).greet()
        stranger.say(run(author))
        refused = f"device={author.device.hex()[:8]} replica={32 * '0'} [Engine] the server's word is not taken"
        wait_until(lambda: refused in asking.anna.log()[logged:], PATIENCE_SECONDS, "anna refuses it")
        check = next(one for one in asking.anna.get("/v1/doctor")["checks"] if one["id"] == "signatures")
        assert f"server {author.device.hex()[:8]}, which is not of this fleet" in check["finding"], check
        assert_kept(asking.anna, before)
        stranger.close()
    # With the office's own key in the signature, which everybody has seen.
    own = office_key(asking.anna)
    forged = Server()
    for tells in (True, False):
        stranger = Stranger(asking.anna).greet()
        signature = forged.sign(asking.job, last + 1, digest([said], head))[:64] + own
        stranger.say(run(forged, signature=signature, tells=tells))
        wait_until(lambda: is_closed(asking.anna, stranger), PATIENCE_SECONDS, asking.anna.log())
        assert_kept(asking.anna, before)
    assert f"Server {hashlib.sha256(own).hexdigest()[:8]} {UNSIGNED}" in asking.anna.log()
    assert asking.stands()
    asking.is_carried_out()


@pytest.mark.parametrize("is_member", [False, True], ids=["a key of nobody", "a member's key"])
def test_nobody_settles_a_fork_of_the_offices_journal(asking, is_member):
    """A member says that the office's journal parts at its beginning, shows that whenever anna asks, and has another branch of it."""
    anna, job = asking.anna, asking.job
    last, _ = end_of_the_office(anna)
    said, before = publication("state", "completed"), kept(anna)
    stranger = Stranger(anna).greet()
    author = stranger.member.server() if is_member else Server()
    stranger.say(vector(VECTOR, job, [(CHANNEL, last, CLAIMED)]), forked(job, CHANNEL))
    stranger.socket.settimeout(2)
    probed = shown = 0
    try:
        for kind, payload in stranger.frames():
            asked = fields(fields(payload)[kind]) if kind in (PROBE, REQUEST) else {}
            if asked.get(2) != CHANNEL:
                continue
            if kind == PROBE:
                probed += 1
                boundary = number(1, asked[3]) + text(3, CLAIMED)
                answer = text(1, job) + text(2, CHANNEL) + number(3, asked[3]) + fixed(4, 0) + text(5, boundary)
                stranger.say(frame(text(PROBE_ANSWER, answer)))
            else:
                shown += 1
                stranger.say(delta(job, author, 1, 1, digest([said]), said))
                if shown == 3:
                    break
    except TimeoutError:
        pass
    assert probed and shown, "anna has asked for it"
    refused = f"device={author.device.hex()[:8]} replica={32 * '0'} [Engine] the server's word is not taken"
    wait_until(lambda: refused in anna.log(), PATIENCE_SECONDS, "anna refuses it")
    stranger.close()
    assert_kept(anna, before)
    assert asking.stands()
    asking.is_carried_out()


def office_key(daemon):
    """Of the server whose word a laptop has last believed."""
    database = sqlite3.connect(f"file:{daemon.store}?mode=ro", uri=True)
    try:
        query = "SELECT signature FROM segment WHERE replica = zeroblob(16) ORDER BY last DESC LIMIT 1"
        ((signature,),) = database.execute(query).fetchall()
        return signature[64:]
    finally:
        database.close()
