"""Requests that are not their author's: a member changes one on the way, invents one in another's name, or uses a token first.
None of it counts, on a laptop or at the office; it is told of, and the author's own request goes through."""

import json

import pytest
from asking import CHANCE_BYTES, mutation, mutations, sign, signed_fields, statement, stored, token_of
from attacks import kept
from authors import Author, digest, public
from gateways import Asking, published_states, wait_published
from lab import wait_until
from solo import PATIENCE_SECONDS
from stranger import Member, Stranger, delta
from test_hostile_statements import JOB_ITEM, record

TOLD = "requests to the server that their author has not signed"
REFUSED = "it is not a request of whom it names"


class Delivering(Asking):
    """The same, with a member of the fleet who delivers what anna holds."""

    def __init__(self, solos, office, front):
        super().__init__(solos, office, front)
        self.member = Member(self.anna.fleet)

    def delivered(self):
        """What a gateway would deliver of bert's, as anna holds it."""
        return stored(self.anna, self.token)


@pytest.fixture
def asking(solos, office, front):
    return Delivering(solos, office, front)


def refused(asking, *mutations_of_bert, authors=None):
    """How the office answers who delivers these; it logs that, and knows nothing of the token afterwards."""
    connection, logged = asking.office.connect(), len(asking.office.log())
    try:
        body = {**mutations(asking.member, *mutations_of_bert), **({"authors": authors} if authors else {})}
        status, answer = connection.ask("POST", "/v1/mutations", body)
    finally:
        connection.close()
    assert status == 422, answer
    assert asking.office.ask("GET", f"/v1/jobs/{asking.job}/mutations/{mutations_of_bert[0]['token']}")[0] == 404
    return answer["code"], asking.office.log()[logged:]


def test_a_gateway_changes_nothing_of_what_it_delivers(asking):
    before = published_states(asking.office, asking.job)
    sound = asking.delivered()
    other = json.dumps({"state": "cancelled"})
    alterations = {
        "payload": other, "kind": "openJob", "lane": "office", "priority": 255, "after": None, "job": "another",
        "nonce": "7" * 32, "key": public(asking.member.key).hex(), "token": "0" * 12 + sound["token"][12:],
    }
    for field, value in alterations.items():
        assert sound[field] != value
        code, _ = refused(asking, {**sound, field: value})
        assert code == "forgedRequest", field
    assert REFUSED in asking.office.log()
    assert published_states(asking.office, asking.job) == before
    assert asking.stands()
    asking.is_carried_out()


def test_a_member_invents_nothing_and_uses_up_no_token_of_another(asking):
    """It signs with its own key what names bert's, and what names its own under bert's next token."""
    key, sound = asking.member.key, asking.delivered()
    bert = bytes.fromhex(sound["key"])
    invented = mutation(key, asking.job, asking.token, lane="state", kind="advanceState", payload={"state": "cancelled"})
    next_of_bert = "0" * 2 * CHANCE_BYTES + asking.token[2 * CHANCE_BYTES :]
    for one in (invented, {**invented, "key": bert.hex()}, mutation(key, asking.job, next_of_bert, lane="state", kind="openJob")):
        code, _ = refused(asking, one)
        assert code == "forgedRequest"
    # Signed by a key of its own that nobody has let in.
    stranger = Author()
    outside = mutation(stranger.key, asking.job, token_of(stranger.key), lane="state", kind="openJob", payload={"name": "X"})
    assert refused(asking, outside, authors=[{**stranger.document, "nonce": "0" * 32}])[0] == "outsider"
    asking.is_carried_out()


def test_a_forged_request_in_a_journal_counts_nowhere(asking):
    """The member's journal is taken in, and what else it says counts: only the requests in it do not."""
    sound, key = asking.delivered(), asking.member.key
    bert, nonce = bytes.fromhex(sound["key"]), bytes.fromhex(sound["nonce"])
    cancelled = {"kind": "advanceState", "payload": json.dumps({"state": "cancelled"})}
    genuine = bytes.fromhex(asking.token)
    fields = signed_fields(key, nonce, asking.token, **cancelled).replace(public(key) + nonce, bert + nonce)
    stranger = Stranger(asking.anna, member=asking.member).greet()
    author = stranger.author()
    forgeries = [
        # Bert's token, in his name and signed by the member; and the member's own word under it.
        record(JOB_ITEM, b"\6" + fields + sign(key, asking.job, fields)),
        record(JOB_ITEM, statement(key, author.nonce, asking.job, token=asking.token, **cancelled)),
        # The member's own, for another job; and not its journal's.
        record(JOB_ITEM, statement(key, author.nonce, "another", token=token_of(key), **cancelled)),
        record(JOB_ITEM, statement(key, bytes(16), asking.job, token=token_of(key), **cancelled)),
    ]
    assert all(genuine in one for one in forgeries[:2])
    before = kept(asking.anna)
    stranger.say(delta(asking.job, author, 1, len(forgeries), digest(forgeries), b"".join(forgeries)))
    for daemon in (asking.anna, asking.bert):
        there = lambda: daemon.vector(asking.job).get(author.replica.hex()) == len(forgeries)
        wait_until(there, PATIENCE_SECONDS, f"{daemon.name} takes the journal: {daemon.log()}")
        told = lambda: TOLD in daemon.log() and f"replica={author.replica.hex()}" in daemon.log()
        wait_until(told, PATIENCE_SECONDS, f"{daemon.name} tells of it")
        assert "cancelled" not in str(daemon.get(f"/v1/jobs/{asking.job}/log"))
    after = kept(asking.anna)
    for part in ("item", "request", "outcome", "published", "outbox"):
        assert after[part] == before[part], part
    assert asking.stands()
    stranger.close()
    asking.front.always(None)
    at_office = lambda: author.replica.hex() in str(asking.office.get(f"/v1/jobs/{asking.job}/vector"))
    wait_until(at_office, PATIENCE_SECONDS, "the office has the journal, too")
    asking.is_carried_out()
    assert TOLD in asking.office.log()
    assert asking.office.get(f"/v1/jobs/{asking.job}")["pending"] == []


def test_a_member_asks_for_itself(asking):
    """The same statement, signed by whose journal it stands in, counts."""
    asking.is_carried_out()
    stranger = Stranger(asking.anna, member=asking.member).greet()
    author, key = stranger.author(), asking.member.key
    wish = {"kind": "advanceState", "payload": json.dumps({"state": "awaitingSignature"})}
    said = record(JOB_ITEM, statement(key, author.nonce, asking.job, token=token_of(key), after=asking.token, **wish))
    stranger.say(delta(asking.job, author, 1, 1, digest([said]), said))
    wait_published([asking.anna, asking.bert], asking.job, "awaitingSignature")
    assert TOLD not in asking.anna.log()
    stranger.close()
