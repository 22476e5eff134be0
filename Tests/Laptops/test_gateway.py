"""Two laptops, of which one has the internet: what the crew asks for reaches the office once and in order, whatever
stands in between."""

import threading
import time

from gateways import (
    advance,
    crew,
    published_states,
    queue_status,
    server_check,
    server_flags,
    state,
    wait_at_office,
    wait_published,
)
from lab import Program, never_during, wait_at_rest, wait_until
from scenes import play
from solo import PATIENCE_SECONDS, wait_agreed

STATES = ["dispatched", "inProgress", "awaitingSignature"]


def test_states_reach_the_office_once_and_in_order(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = bert.create_job("Smith")
    bert.add(job, name="chair")
    for name in STATES:
        advance(bert, job, name)
        assert state(bert, job)["pending"] == name or state(bert, job)["published"] == name
    wait_published([anna, bert], job, "awaitingSignature")
    assert published_states(office, job) == ["scheduled", *STATES]
    assert bert.get("/v1/queue") == [] and anna.get("/v1/queue") == []
    wait_at_office(office, anna, job, 1)
    log = [attempt["outcome"] for attempt in anna.get("/v1/queue/log")]
    # What the channel tells before the answer has come is not waited for any more.
    assert len(log) == 4 and set(log) <= {"accepted", "cancelled"}, log
    notes = [change["note"] for change in bert.get(f"/v1/jobs/{job}/log") if change["action"] == "decided"]
    assert notes == [change["note"] for change in anna.get(f"/v1/jobs/{job}/log") if change["action"] == "decided"]
    text = "\n".join(notes)
    assert text.index("asked the office: open the job") < text.index("the job is scheduled"), text
    assert text.index("the job is dispatched") < text.index("the job is inProgress"), text
    # A refusal is told where it was asked for, before anything is sent.
    status, answer = bert.ask("POST", f"/v1/jobs/{job}/state", {"state": "scheduled"})
    assert status == 422 and "cannot become scheduled" in answer["detail"]


def test_whoever_watches_sees_what_was_asked_and_what_became_of_it(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = anna.create_job("Smith")
    wait_published([anna, bert], job, "scheduled")
    command = bert.command("job", "watch", job, "--json")
    watch = Program("watch", command, solos.directory)
    try:

        def shows_something():
            bert.add(job, name="chair")
            return watch.events()

        wait_until(shows_something, PATIENCE_SECONDS, "the watch is there")
        advance(anna, job, "dispatched")
        told = lambda: " ".join(event.get("note") or "" for event in watch.events())
        wait_until(lambda: "the job is dispatched" in told(), PATIENCE_SECONDS, "the watch tells of the state")
        assert "asked the office: advance to dispatched" in told() and "accepted: advance to dispatched" in told()
    finally:
        watch.kill()


def test_work_at_the_office_comes_to_the_crew(solos, office, front):
    anna, bert = crew(solos, office, front)
    opening = {"lane": "office", "kind": "openJob", "payload": {"name": "Jones", "kind": "pickup"}}
    status, _ = office.mutate("jones", 1, **opening)
    assert status == 200
    wait_published([anna, bert], "jones", "scheduled")
    # It has the office's name, also where nobody wrote one.
    listed = [(job["id"], job["name"], job["kind"]) for job in bert.get("/v1/jobs")]
    assert listed == [("jones", "Jones", "pickup")], listed
    assert bert.muster("job", "show", "Jones").returncode == 0


def test_a_signature_comes_with_the_inventory_that_it_is_for(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = anna.create_job("Smith")
    wait_published([anna, bert], job, "scheduled")
    # Nothing of what follows reaches the office before all of it is there.
    front.always("503")
    bert.add(job, name="chair")
    for name in STATES:
        advance(bert, job, name)
    shown = bert.get(f"/v1/jobs/{job}/summary")["digest"]
    bert.add(job, name="stool")
    status, answer = bert.ask("POST", f"/v1/jobs/{job}/signature", {"name": "J. Smith", "digest": shown})
    assert status == 422 and "any more" in answer["detail"], answer
    signed = bert.make(f"/v1/jobs/{job}/signature", {"name": "J. Smith"})
    pending = {"name": "J. Smith", "digest": signed["digest"], "serverDigest": None, "isPending": True}
    assert bert.get(f"/v1/jobs/{job}")["signature"] == pending
    advance(bert, job, "completed")
    front.always(None)
    wait_published([anna, bert], job, "completed")
    settled = {**pending, "serverDigest": signed["digest"], "isPending": False}
    assert [daemon.get(f"/v1/jobs/{job}")["signature"] for daemon in (anna, bert)] == [settled, settled]


def test_nobody_signs_for_what_the_office_could_not_be_brought(solos, office, front):
    anna = solos("anna").start(*server_flags(front.url))
    job = anna.create_job("Smith")
    for name in STATES:
        advance(anna, job, name)
    wait_published([anna], job, "awaitingSignature")
    front.trouble = lambda method, path: "503" if method == "POST" and "/journals" in path else None
    anna.add(job, name="chair")
    signed = anna.make(f"/v1/jobs/{job}/signature", {"name": "J. Smith"})
    wait_until(lambda: front.requests("/journals", "503"), PATIENCE_SECONDS, "the fault has fired")
    is_settled = lambda: not anna.get(f"/v1/jobs/{job}")["signature"]["isPending"]
    never_during(is_settled, 2, "the office takes a signature for what it does not have")
    front.always(None)
    wait_until(is_settled, PATIENCE_SECONDS, "the office has it")
    assert anna.get(f"/v1/jobs/{job}")["signature"]["serverDigest"] == signed["digest"]


def test_states_asked_for_on_two_laptops_keep_their_order(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = anna.create_job("Smith")
    wait_published([anna, bert], job, "scheduled")
    # The first one fails, and has to go first all the same.
    front.once("503", "/mutations")
    advance(anna, job, "dispatched")
    wait_until(lambda: state(bert, job)["pending"] == "dispatched", PATIENCE_SECONDS, "bert sees what anna asked for")
    advance(bert, job, "inProgress")
    wait_until(lambda: front.requests("/mutations", "503"), PATIENCE_SECONDS, "the fault has fired")
    wait_published([anna, bert], job, "inProgress")
    assert published_states(office, job) == ["scheduled", "dispatched", "inProgress"]


def test_after_one_failure_the_retry_comes_by_itself(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = bert.create_job("Smith")
    front.once("503", "/mutations")
    advance(bert, job, "dispatched")
    # Nothing else happens: nobody writes, and nobody asks.
    wait_until(lambda: front.requests("/mutations", "503"), PATIENCE_SECONDS, "the fault has fired")
    wait_published([anna, bert], job, "dispatched")
    assert published_states(office, job) == ["scheduled", "dispatched"]
    log = [attempt["outcome"] for attempt in anna.get("/v1/queue/log")]
    # The channel may have told of the outcome before the answer came: then the attempt was called off, and has had its effect once.
    assert log.count("serverBusy") == 1 and len(log) == 3 and set(log) <= {"serverBusy", "accepted", "cancelled"}, log


def test_an_answer_that_is_lost_has_one_effect(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = anna.create_job("Smith")
    wait_published([anna, bert], job, "scheduled")
    front.once("lost", "/mutations")
    advance(bert, job, "dispatched")
    wait_published([anna, bert], job, "dispatched")
    assert front.requests("/mutations", "lost")
    assert published_states(office, job) == ["scheduled", "dispatched"]


def test_a_login_page_is_not_the_server(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = anna.create_job("Smith")
    wait_published([anna, bert], job, "scheduled")
    front.always("login")
    advance(anna, job, "dispatched")
    wait_until(lambda: front.requests("", "login"), PATIENCE_SECONDS, "the login page was shown")
    wait_until(lambda: "login page" in server_check(anna)["finding"], PATIENCE_SECONDS, "the doctor tells of it")
    waiting = {"published": "scheduled", "pending": "dispatched"}
    never_during(lambda: state(anna, job) != waiting, 1, "the login page decides about a request")
    queue = anna.get("/v1/queue")
    assert [entry["kind"] for entry in queue] == ["advanceState"] and queue[0]["state"] != "rejected", queue
    assert "login page" in server_check(anna)["finding"]
    front.always(None)
    wait_published([anna, bert], job, "dispatched")


def test_a_laptop_that_joins_the_fleet_is_let_in_as_soon_as_somebody_says_so(solos, office, front):
    """Before, the server is not even asked: nobody could know who asks."""
    anna = solos("anna").launch(*server_flags(front.url))
    wait_until(anna.answers, PATIENCE_SECONDS, "anna answers")
    job = anna.create_job("Smith")
    advance(anna, job, "dispatched")
    advance(anna, job, "inProgress")
    wait_until(lambda: "belongs to no fleet" in server_check(anna)["finding"], PATIENCE_SECONDS, "the doctor says why")
    queue = lambda: [entry["kind"] for entry in anna.get("/v1/queue")]
    never_during(lambda: queue() != ["openJob", "advanceState", "advanceState"], 1, "a request is dropped")
    assert not front.seen, "nothing was said to the server"
    anna.enrol()
    assert anna.muster("queue", "resume").returncode == 0
    wait_published([anna], job, "inProgress")
    assert published_states(office, job) == ["scheduled", "dispatched", "inProgress"]
    anna.add(job, name="chair")
    wait_at_office(office, anna, job, 1)


def test_what_the_office_misses_and_nobody_can_bring_is_not_asked_for_all_the_time(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = anna.create_job("Smith")
    wait_published([anna, bert], job, "scheduled")
    anna.make("/v1/queue/pause", {})
    bert.make("/v1/queue/pause", {})
    front.always("503")
    [token] = advance(bert, job, "dispatched")
    wait_until(lambda: state(anna, job)["pending"] == "dispatched", PATIENCE_SECONDS, "anna sees what bert asked for")
    advance(anna, job, "cancelled")
    assert bert.muster("queue", "drop", token).returncode == 0
    wait_until(lambda: len(anna.get("/v1/queue")) == 1, PATIENCE_SECONDS, "anna hears that it was taken back")
    # That bert has taken it back stands in a journal, and no journal gets through.
    front.trouble = lambda method, path: "503" if method == "POST" and "/journals" in path else None
    anna.make("/v1/queue/resume", {})
    anna.make(f"/v1/queue/{anna.get('/v1/queue')[0]['token']}/retry", {})
    wait_until(lambda: front.requests("/mutations", 409), PATIENCE_SECONDS, "the office misses one")
    never_during(lambda: len(front.requests("/mutations", 409)) >= 10, 3, "the office is asked all the time")
    front.always(None)
    wait_published([anna, bert], job, "cancelled")
    assert published_states(office, job) == ["scheduled", "cancelled"]


def test_what_changes_during_a_round_is_brought_right_after_it(solos, office, front):
    flags = server_flags(front.url)
    anna = solos("anna").start(*flags[:-1], "15")
    first, second = anna.create_job("Jones"), anna.create_job("Smith")
    for job in (first, second):
        anna.add(job, name="table")
        wait_published([anna], job, "scheduled")
        wait_at_office(office, anna, job, 1)
    reached, released = threading.Event(), threading.Event()

    def hold(_, path):
        if f"{second}/vector" in path and not released.is_set():
            reached.set()
            released.wait(PATIENCE_SECONDS)

    front.trouble = hold
    anna.add(second, name="chair")
    assert reached.wait(PATIENCE_SECONDS)
    # The round is past this one.
    anna.add(first, name="stool")
    wait_at_rest(anna.program, PATIENCE_SECONDS, "anna does nothing but wait for the answer")
    released.set()
    begin = time.monotonic()
    wait_at_office(office, anna, first, 2)
    assert time.monotonic() - begin < 5


def test_a_job_at_which_the_office_fails_holds_no_other_up(solos, office, front):
    anna = solos("anna").start(*server_flags(front.url))
    first, second = anna.create_job("Jones"), anna.create_job("Smith")
    wait_published([anna], first, "scheduled")
    wait_published([anna], second, "scheduled")
    for bad, good in ((first, second), (second, first)):
        front.trouble = lambda _, path: "500" if f"{bad}/" in path else None
        anna.add(bad, name="chair")
        wait_until(lambda: front.requests(f"{bad}/", "500"), PATIENCE_SECONDS, "the fault has fired")
        anna.add(good, name="table")
        wait_at_office(office, anna, good, len(anna.items(good)))
        front.always(None)
        wait_at_office(office, anna, bad, len(anna.items(bad)))


def test_gateway_and_server_are_killed_in_between(solos, office, front):
    anna, bert = crew(solos, office, front)
    flags = server_flags(front.url)
    job = bert.create_job("Smith")
    for count, name in enumerate(STATES):
        advance(bert, job, name)
        # Sleeps: they are killed at another moment each time.
        time.sleep(0.05 * count)
        anna.kill()
        office.program.kill()
        # What the office was told is what it still knows.
        office.start()
        anna.start(*flags)
        wait_until(lambda: bert.connected() == ["anna"], PATIENCE_SECONDS, "the laptops meet again")
    wait_published([anna, bert], job, "awaitingSignature")
    assert published_states(office, job) == ["scheduled", *STATES]
    wait_agreed([anna, bert], job)


def test_a_queue_that_is_paused_and_dropped(solos, office, front):
    anna, _ = crew(solos, office, front)
    job = anna.create_job("Smith")
    wait_published([anna], job, "scheduled")
    assert anna.make("/v1/queue/pause", {}) == queue_status(isPaused=True)
    [token] = advance(anna, job, "dispatched")
    assert anna.get("/v1/status")["queue"] == queue_status(paused=1, isPaused=True)
    waiting = {"published": "scheduled", "pending": "dispatched"}
    never_during(lambda: state(anna, job) != waiting, 1.5, "what is paused is sent")
    assert anna.muster("queue", "drop", token[:8]).returncode == 0
    assert state(anna, job) == {"published": "scheduled", "pending": None}
    assert anna.make("/v1/queue/resume", {}) == {**queue_status(), "wasPaused": True}
    # The next one of the lane follows one that was taken back.
    advance(anna, job, "cancelled")
    wait_published([anna], job, "cancelled")
    assert published_states(office, job) == ["scheduled", "cancelled"]


def test_nothing_is_sent_without_a_route_and_at_once_when_one_appears(build_directory, measured):
    seen = play("route_scene.py", build_directory)
    assert seen["processorSeconds"] < 0.1, seen
    assert "no route" in seen["finding"], seen
    measured("a route appears: the server is asked", seen["secondsToPoll"], 1)
    measured("a route appears after one that went in the middle of a poll", seen["secondsToNextPoll"], 1)


def test_with_another_address_the_server_is_asked_at_once(build_directory, measured):
    seen = play("roaming_scene.py", build_directory)
    measured("another address: the server is asked", seen["secondsToPoll"], 1)


def test_with_another_address_and_the_same_route_what_is_under_way_is_asked_anew(build_directory, measured):
    seen = play("readdress_scene.py", build_directory)
    assert seen["underWay"] == "10.88.0.2"
    measured("another address in the middle of a poll: the server is asked", seen["secondsToPoll"], 3)
    assert "there is no route to the server" not in seen["log"]
    assert "the server cannot be used" not in seen["log"]
