"""A laptop that reaches only the server stays in the fleet: the server prolongs what an issuer has given, and no more."""

import pytest
from lab import Fleet
from newcomer import Identity
from office import Connection, renew
from scenes import play
from stranger import Member


def test_laptops_that_meet_only_the_server_for_months(build_directory):
    """At half-time, and again long after the end of both certificate and grace."""
    seen = play("server_renewal_scene.py", build_directory)
    # Its own, its issuer's and the root's, and what prolongs it.
    assert seen["shown"] == [[6, 6], [6, 6]]
    status, problem = seen["before"]
    assert status == 401 and "ran out" in problem["detail"], "without a renewal nobody is let in any more"
    assert seen["after"] == 200
    status, problem = seen["revoked"]
    assert status == 401 and "It was revoked" in problem["detail"], problem


def test_whoever_has_a_renewal_is_who_it_was(office):
    """The same device, and one renewal in the place of the other."""
    member = renew(office.port, Member(office.fleet))
    assert Connection(office.port, member).ask("GET", "/v1/jobs")[0] == 200
    again = renew(office.port, member)
    assert again.certificates[1:] == member.certificates[1:] and again.certificates[0] != member.certificates[0]
    assert Connection(office.port, again).ask("GET", "/v1/jobs")[0] == 200


@pytest.fixture(scope="module")
def elsewhere(build_directory):
    """Another company's fleet."""
    fleet = Fleet(build_directory)
    yield fleet
    fleet.end()


@pytest.mark.parametrize("who", ["no fleet", "another fleet", "a server", "a proxy"])
def test_nobody_else_is_renewed(office, elsewhere, who):
    caller = {
        "no fleet": Identity,
        "another fleet": lambda: Member(elsewhere),
        "a server": lambda: Member(office.fleet, role="server"),
        "a proxy": lambda: Member(office.fleet, role="proxy"),
    }[who]()
    status, problem = Connection(office.port, caller).ask("POST", "/v1/certificates")
    assert status == 401, problem
