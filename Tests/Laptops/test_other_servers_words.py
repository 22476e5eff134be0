"""A laptop that was in another fleet holds what that one's server has said: the doctor says so, and accuses no office of losing it."""

import pytest
from gateways import advance, server_check, server_flags, state, wait_published
from lab import wait_until
from lab.fleet import Fleet
from office import Office
from solo import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def other_fleet(build_directory):
    fleet = Fleet(build_directory)
    yield fleet
    fleet.end()


@pytest.fixture
def town_hall(build_directory, other_fleet):
    """The server of the other fleet."""
    with Office(build_directory) as office:
        yield office.join(other_fleet).start()


def member_of(fleet, daemon, *flags):
    daemon.launch(*flags)
    wait_until(daemon.answers, PATIENCE_SECONDS, f"{daemon.name} answers")
    fleet.enrol(daemon.socket)
    return daemon


def moves(daemon):
    """Into the fleet of everybody else here."""
    status, answer = daemon.ask("DELETE", "/v1/fleet")
    assert status in (200, 204), answer
    daemon.enrol()
    assert daemon.stop() == 0


def says(daemon, words):
    check = server_check(daemon)
    return check["outcome"] == "fail" and words in check["finding"] + check["remedy"]


def test_the_doctor_accuses_no_office_of_what_another_server_has_said(solos, town_hall, office, other_fleet):
    """Neither when that was more than the office says, nor when it was less."""
    bert = member_of(other_fleet, solos("bert"), *server_flags(town_hall.url))
    job = bert.create_job("Smith")
    advance(bert, job, "dispatched")
    wait_published([bert], job, "dispatched")
    moves(bert)
    bert.start(*server_flags(office.url))
    chair = bert.add(job, name="Chair")
    wait_until(lambda: says(bert, "another server"), PATIENCE_SECONDS, f"the doctor tells: {server_check(bert)}")
    assert office.url in server_check(bert)["finding"]
    # Nothing of the crew's waits for that.
    anna = solos("anna").start(*server_flags(office.url))
    wait_until(lambda: chair in anna.items(job), PATIENCE_SECONDS, "anna has the chair from the office")
    said = lambda daemon: daemon.vector(job).get(32 * "0", 0)
    for name in ("dispatched", "inProgress", "awaitingSignature"):
        advance(anna, job, name)
        wait_published([anna], job, name)
    more = lambda: said(anna) > said(bert)
    wait_until(more, 60, f"the office has said more: {said(anna)} and {said(bert)}")
    box = anna.add(job, name="The last box")
    wait_until(lambda: box in bert.items(job), PATIENCE_SECONDS, "bert has the last box")
    wait_until(lambda: says(bert, "another server"), PATIENCE_SECONDS, f"it stays so: {server_check(bert)}")
    assert server_check(anna)["outcome"] == "ok"
    assert "it was set back" not in bert.log()
    assert state(bert, job)["published"] == "dispatched" and state(anna, job)["published"] == "awaitingSignature"


def test_an_office_that_lost_its_words_and_is_of_another_fleet_now_is_still_told_of(solos, build_directory, other_fleet):
    """The same key has said them, with other certificates."""
    with Office(build_directory) as office:
        office.join(other_fleet).start()
        bert = member_of(other_fleet, solos("bert"), *server_flags(office.url))
        job = bert.create_job("Smith")
        wait_published([bert], job, "scheduled")
        assert office.program.stop() == 0
        office.back_up()
        office.start()
        advance(bert, job, "dispatched")
        wait_published([bert], job, "dispatched")
        moves(bert)
        office.program.kill()
        office.put_back()
        office.join(bert.fleet, "--another-fleet").start()
        bert.start(*server_flags(office.url))
        wait_until(lambda: says(bert, "set back"), PATIENCE_SECONDS, f"the doctor tells of it: {server_check(bert)}")
        assert "another server's words" not in bert.log()
