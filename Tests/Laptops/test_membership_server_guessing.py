"""Who is not on a job, and never was, guesses its number at the server: it changes nothing, and by no route hears more than of one that
there is not."""

import os

import pytest
from asking import mutation, mutations, token_of
from lab import wait_until
from office import Connection
from revoking import identifier
from solo import PATIENCE_SECONDS
from stranger import Member
from test_membership_server import lead

SECRET, NOWHERE = "smith-12", "smith-13"


class Guessing:
    """Lea's job, of which the office knows its state and its items, and a member of the fleet who was never on it."""

    def __init__(self, solos, office):
        self.office, self.lea = office, lead(solos, office)
        self.lea.make("/v1/jobs", {"name": "Smith", "id": SECRET, "laptops": [identifier(self.lea)]})
        self.lea.add(SECRET, name="lamp")
        (self.token,) = self.lea.make(f"/v1/jobs/{SECRET}/state", {"state": "dispatched"})["tokens"]
        said = lambda: self.lea.get(f"/v1/jobs/{SECRET}")["state"] == {"published": "dispatched", "pending": None}
        wait_until(said, PATIENCE_SECONDS, f"the office has said so: {self.lea.log()}")
        wait_until(lambda: len(office.get(f"/v1/jobs/{SECRET}/items")) == 1, PATIENCE_SECONDS, "the office has the lamp")
        self.member = Member(office.fleet)
        self.connection = Connection(office.port, self.member)

    def both(self, method, path, body=lambda job: None):
        """How the server answers about the job, and about one that there is not."""
        return [self.connection.ask(method, path.format(job=job), body(job)) for job in (SECRET, NOWHERE)]

    def asked(self, job, **wish):
        one = mutation(self.member.key, job, token_of(self.member.key), lane="state", **wish)
        return mutations(self.member, one)


@pytest.fixture
def guessing(solos, office):
    guessing = Guessing(solos, office)
    yield guessing
    guessing.connection.close()


def test_the_log_says_who_has_moved_a_job_along(guessing):
    """Asked by a member who may, with no journal: nobody can find out afterwards who that was."""
    open_job = guessing.lea.make("/v1/jobs", {"name": "Jones", "id": "jones-1"})["id"]
    published = lambda: guessing.lea.get(f"/v1/jobs/{open_job}")["state"]["published"]
    wait_until(lambda: published() == "scheduled", PATIENCE_SECONDS, "the office knows the job")
    wish = {"kind": "advanceState", "payload": {"state": "cancelled"}}
    assert guessing.connection.ask("POST", "/v1/mutations", guessing.asked(open_job, **wish))[0] == 200
    wait_until(lambda: published() == "cancelled", PATIENCE_SECONDS, "lea hears it")
    short = guessing.member.device.hex()[:8]
    told = guessing.lea.muster("job", "log", open_job).stdout + guessing.office.log()
    assert short in told, f"{short} is named nowhere"


def test_a_refusal_does_not_tell_in_what_state_the_job_is(guessing):
    wish = {"kind": "advanceState", "payload": {"state": "scheduled"}}
    (_, told), _ = guessing.both("POST", "/v1/mutations", lambda job: guessing.asked(job, **wish))
    assert "dispatched" not in str(told)


def test_a_request_does_not_tell_how_long_the_channel_is(guessing):
    wish = {"kind": "openJob", "payload": {"name": "x"}, "channel": 10_000}
    (status, told), _ = guessing.both("POST", "/v1/mutations", lambda job: guessing.asked(job, **wish))
    assert status == 200 and told["channels"] == [], told


def test_it_takes_nothing_back(guessing):
    before = guessing.office.channel(SECRET)
    (status, _), _ = guessing.both("DELETE", "/v1/jobs/{job}/mutations/" + os.urandom(16).hex())
    assert status == 404 and guessing.office.channel(SECRET) == before


@pytest.mark.parametrize("is_known", [True, False])
def test_what_came_of_a_request_is_not_told(guessing, is_known):
    token = guessing.token if is_known else os.urandom(16).hex()
    told, nothing = guessing.both("GET", "/v1/jobs/{job}/mutations/" + token)
    assert told == nothing
