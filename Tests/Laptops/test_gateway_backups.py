"""A laptop, or the office, that was put back from a backup: nothing is lost, and both go on as one."""

import os

from backups import back_up, put_back_in_place
from gateways import (
    advance,
    crew,
    published_states,
    server_check,
    server_flags,
    state,
    wait_at_office,
    wait_published,
)
from lab import wait_until
from solo import PATIENCE_SECONDS


def test_a_laptop_that_was_set_back_and_wrote_on_meets_the_office(solos, office, front):
    flags = server_flags(front.url)
    anna = solos("anna").start(*flags)
    job = anna.create_job("Smith")
    anna.add(job, name="of the backup")
    wait_published([anna], job, "scheduled")
    former = anna.replica()
    assert anna.stop() == 0
    back_up(anna, os.path.join(solos.directory, "backup"))
    anna.start(*flags)
    anna.add(job, name="only the office has it")
    wait_at_office(office, anna, job, 2)
    anna.kill()
    put_back_in_place(anna, os.path.join(solos.directory, "backup"))
    # It writes in the place of what the office has before it hears of the office.
    front.always("503")
    anna.start(*flags)
    anna.add(job, name="after the restore")
    advance(anna, job, "dispatched")
    there = office.get(f"/v1/jobs/{job}/vector")["entries"]
    assert anna.replica() == former and anna.vector(job)[former] > 3, "both have gone on from the backup"
    assert [one["sequence"] for one in there if one["replica"] == former][0] > 3, there
    front.always(None)
    wait_published([anna], job, "dispatched")
    wait_at_office(office, anna, job, 3)
    # Which branch stays the content decides; nothing of the other is lost.
    assert sorted(item["fields"]["name"] for item in anna.items(job).values()) == [
        "after the restore",
        "of the backup",
        "only the office has it",
    ]
    assert published_states(office, job) == ["scheduled", "dispatched"]


def test_a_laptop_that_was_set_back_and_wrote_less_than_before_meets_the_office(solos, office, front):
    flags = server_flags(front.url)
    anna = solos("anna").start(*flags)
    job = anna.create_job("Smith")
    wait_published([anna], job, "scheduled")
    for turn in range(4):
        # Which branch stays the content decides: of four turns hardly all go the same way.
        assert anna.stop() == 0
        backup = os.path.join(solos.directory, f"backup-{turn}")
        back_up(anna, backup)
        anna.start(*flags)
        for count in range(5):
            anna.add(job, name=f"{turn}: {count} that only the office has")
        wait_at_office(office, anna, job, turn * 6 + 5)
        anna.kill()
        put_back_in_place(anna, backup)
        front.always("503")
        anna.start(*flags)
        anna.add(job, name=f"{turn}: after the restore")
        front.always(None)
        wait_at_office(office, anna, job, turn * 6 + 6)
        assert len(anna.items(job)) == turn * 6 + 6


def set_back(office, anna, bert):
    """The office goes on from a backup, from before a state and an item."""
    job = anna.create_job("Smith")
    wait_published([anna, bert], job, "scheduled")
    assert office.program.stop() == 0
    office.back_up()
    office.start()
    bert.add(job, name="chair")
    advance(bert, job, "dispatched")
    wait_published([anna, bert], job, "dispatched")
    wait_at_office(office, anna, job, 1)
    office.program.kill()
    office.put_back()
    return job


def test_an_office_that_was_set_back_is_told_of(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = set_back(office, anna, bert)
    office.start()
    wait_until(
        lambda: "set back" in (server_check(anna)["remedy"] or ""), PATIENCE_SECONDS, "the doctor tells of it"
    )
    # What the crew wrote is brought again; what it has seen published stays.
    wait_until(
        lambda: office.get(f"/v1/jobs/{job}")["items"] == 1, PATIENCE_SECONDS, "the office has the chair again"
    )
    for daemon in (anna, bert):
        assert state(daemon, job) == {"published": "dispatched", "pending": None}


def test_an_office_that_was_set_back_gets_its_own_words_from_the_crew(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = set_back(office, anna, bert)
    office.start("--recover")
    wait_until(
        lambda: published_states(office, job) == ["scheduled", "dispatched"],
        PATIENCE_SECONDS,
        "the office knows again what it had said",
    )
    # Meanwhile it decides nothing, and nothing is lost.
    advance(bert, job, "inProgress")
    wait_until(lambda: front.requests("/mutations", 503), PATIENCE_SECONDS, "the office puts a request off")
    assert state(bert, job) == {"published": "dispatched", "pending": "inProgress"}
    assert office.program.stop() == 0
    office.start()
    wait_published([anna, bert], job, "inProgress")
    assert published_states(office, job) == ["scheduled", "dispatched", "inProgress"]
    wait_at_office(office, anna, job, 1)
    wait_until(lambda: server_check(anna)["outcome"] == "ok", PATIENCE_SECONDS, "the doctor is content")


def test_an_office_that_was_set_back_and_served_on_says_nothing_until_it_is_recovered(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = set_back(office, anna, bert)
    # As if nothing had happened: its people have not noticed.
    office.start()
    wait_until(lambda: "a laptop holds more" in office.log(), PATIENCE_SECONDS, "it says what to do")
    bert.add(job, name="stool")
    advance(bert, job, "inProgress")
    wait_until(lambda: office.get(f"/v1/jobs/{job}")["items"] == 2, PATIENCE_SECONDS, "it takes the crew's work")
    wait_until(lambda: front.requests("/mutations", 409), PATIENCE_SECONDS, "it decides nothing")
    assert office.program.stop() == 0
    office.start("--recover")
    wait_until(
        lambda: published_states(office, job) == ["scheduled", "dispatched"],
        PATIENCE_SECONDS,
        "it has its own words again",
    )
    assert office.program.stop() == 0
    office.start()
    wait_published([anna, bert], job, "inProgress")
    assert published_states(office, job) == ["scheduled", "dispatched", "inProgress"]
    wait_at_office(office, anna, job, 2)


def test_an_office_that_was_set_back_to_before_a_job_gets_it_again(solos, office, front):
    anna, bert = crew(solos, office, front)
    assert office.program.stop() == 0
    office.back_up()
    office.start()
    job = anna.create_job("Smith")
    wait_published([anna, bert], job, "scheduled")
    bert.add(job, name="chair")
    wait_at_office(office, bert, job, 1)
    office.program.kill()
    office.put_back()
    office.start("--recover")
    wait_at_office(office, anna, job, 1)
    assert published_states(office, job) == ["scheduled"]
