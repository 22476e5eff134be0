"""Requests of a dishonest member that never can be decided, and those of the crew behind them."""

import base64
import json

from asking import statement, token_of
from authors import digest
from gateways import Asking, advance, state
from lab import wait_until
from revoking import issuer_of
from solo import PATIENCE_SECONDS
from stranger import Member, Stranger, delta
from test_hostile_statements import JOB_ITEM, record


def test_a_circle_of_requests_ends_when_its_author_is_revoked(solos, office, front):
    """Two that follow each other. Nobody can take them back (`queue drop` says: on the other device), so revoking has to be the way out."""
    asking = Asking(solos, office, front)
    asking.is_carried_out()
    member = Member(asking.anna.fleet)
    stranger = Stranger(asking.anna, member=member).greet()
    author, key = stranger.author(), member.key
    first, second = token_of(key), token_of(key)
    wish = {"kind": "advanceState", "payload": json.dumps({"state": "awaitingSignature"})}
    circle = [
        record(JOB_ITEM, statement(key, author.nonce, asking.job, token=token, after=after, **wish))
        for token, after in ((first, second), (second, first))
    ]
    stranger.say(delta(asking.job, author, 1, 2, digest(circle), b"".join(circle)))
    taken = lambda: author.replica.hex() in asking.anna.vector(asking.job)
    wait_until(taken, PATIENCE_SECONDS, f"anna has the journal: {asking.anna.log()}")
    stranger.close()
    (own,) = advance(asking.anna, asking.job, "awaitingSignature")
    for token in (first, second):
        done = asking.anna.muster("queue", "drop", token)
        assert done.returncode and "drop it there" in done.stderr, done
    entry = issuer_of(office.fleet).revocation(member.device.hex())
    status, answer = office.ask("POST", "/v1/revocations", {"revocations": [base64.b64encode(entry).decode()]})
    assert status == 200, answer
    wait_until(lambda: "a laptop was revoked" in asking.anna.log(), PATIENCE_SECONDS, "anna hears of it")
    done = lambda: state(asking.anna, asking.job)["published"] == "awaitingSignature"
    try:
        wait_until(done, PATIENCE_SECONDS, "anna's own request is carried out")
    except AssertionError as error:
        told = asking.anna.muster("queue", "list").stdout + asking.anna.muster("doctor").stdout
        raise AssertionError(f"{error} ({own}):\n{told}") from None
