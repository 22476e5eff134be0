"""What the office accepts, and in which order, when the way to it is bad; and what is told of requests afterwards."""

import itertools
import json

from gateways import advance, crew, published_states, queue_status, server_flags, state, wait_published
from lab import wait_until
from solo import PATIENCE_SECONDS, wait_agreed


def test_after_broken_lines_and_500s_requests_are_accepted_in_their_order(solos, office, front):
    anna = solos("anna").start(*server_flags(front.url))
    # What is asked for before and after a step of the clock may have changed places: the older stamp goes first.
    wait_until(lambda: anna.get("/v1/clock")["source"] == "server", PATIENCE_SECONDS, "the time is known")
    anna.make("/v1/queue/pause", {})
    jobs = [anna.create_job(f"Job {number}") for number in range(9)]
    for job in jobs:
        advance(anna, job, "dispatched")
    # 500s and broken lines in turn, ten of them, for whatever is asked. The first one is of several requests: each then goes alone.
    troubles = itertools.chain(["500", "lost"] * 5, itertools.repeat(None))
    lost = []

    def choose(_, path):
        trouble = next(troubles) if "/mutations" in path else None
        if trouble == "lost":
            lost.append(path)
        return trouble

    front.trouble = choose
    anna.make("/v1/queue/resume", {})
    wait_until(lambda: anna.get("/v1/queue") == [], 3 * PATIENCE_SECONDS, "all is accepted")
    assert lost and front.requests("/mutations", "500"), "the faults have fired"
    attempts = anna.get("/v1/queue/log")
    tried = {attempt["token"]: attempt["job"] for attempt in attempts}
    assert list(tried.values()) == jobs + jobs, "the openings go first, the oldest before the others"
    # What the channel tells before the answer comes, or after it was lost, is not waited for any more.
    accepted = [attempt["token"] for attempt in attempts if attempt["outcome"] == "accepted"]
    assert accepted == [token for token in tried if token in accepted], attempts
    # The openings have the higher priority: all of them come before the first state.
    states = {job: published_states(office, job) for job in jobs}
    assert all(seen == ["scheduled", "dispatched"] for seen in states.values()), states
    decided = [[entry["at"] for entry in office.channel(job) if entry["outcomes"]] for job in jobs]
    assert all(len(times) == 2 for times in decided), decided
    openings, advances = [times[0] for times in decided], [times[1] for times in decided]
    assert openings + advances == sorted(openings + advances), decided


def test_two_laptops_that_ask_for_one_state_apart_have_both_reached_it(solos, office, front):
    anna = solos("anna").start()
    bert = solos("bert").start("--peer", anna.address)
    wait_until(lambda: bert.connected() == ["anna"], PATIENCE_SECONDS, "the laptops meet")
    job = anna.create_job("Smith")
    wait_agreed([anna, bert], job)
    anna.kill()
    advance(bert, job, "dispatched")
    bert.kill()
    flags = server_flags(front.url)
    anna.start(*flags)
    [*_, token] = advance(anna, job, "dispatched")
    wait_published([anna], job, "dispatched")
    bert.start("--peer", anna.address)
    wait_until(lambda: bert.get("/v1/queue") == [] and anna.get("/v1/queue") == [], PATIENCE_SECONDS, "nothing waits")
    wait_published([anna, bert], job, "dispatched")
    assert published_states(office, job) == ["scheduled", "dispatched"], "nothing is published twice"
    assert bert.get("/v1/status")["queue"] == queue_status()
    # What is finished is told by its token, on both, with who asked.
    for laptop in (anna, bert):
        shown = laptop.get(f"/v1/queue/{token[:10]}")
        assert shown["state"] == "accepted" and shown["wish"] == "advance to dispatched", shown
        assert shown["askedBy"] and shown["decidedAt"] and shown["job"] == job, shown
    logged = anna.get("/v1/queue/log")
    assert {attempt["job"] for attempt in logged} == {job} and all(attempt["wish"] for attempt in logged), logged
    for words in (("queue", "show", token), ("queue", "log")):
        assert "advance to dispatched" in " ".join(anna.muster(*words).stdout.split())
    unknown = anna.muster("queue", "show", "f" * 32)
    assert unknown.returncode == 65 and unknown.stderr.count("\n") == 1, unknown
    dropped = anna.muster("queue", "drop", token)
    assert dropped.returncode == 65 and "is finished" in dropped.stderr, dropped
    anna.kill()
    anna.start(*flags)
    assert anna.get(f"/v1/queue/{token}")["state"] == "accepted", "also after a restart"


def attempts_at(daemon, token):
    return [one for one in daemon.get("/v1/queue/log") if one["token"] == token]


def test_an_attempt_that_a_crash_ended_stands_in_the_log(solos, office, front):
    flags = server_flags(front.url)
    anna = solos("anna").start(*flags)
    job = anna.create_job("Smith")
    wait_published([anna], job, "scheduled")
    front.trouble = lambda _, path: "stall" if "/mutations" in path else None
    [token] = advance(anna, job, "dispatched")
    wait_until(lambda: front.requests("/mutations", "stall"), PATIENCE_SECONDS, "the attempt is under way")
    anna.kill()
    front.always(None)
    anna.start(*flags)
    wait_published([anna], job, "dispatched")
    # What the server publishes shows before the attempt that brought it is written down.
    wait_until(lambda: len(attempts_at(anna, token)) == 2, PATIENCE_SECONDS, "the log has both attempts")
    attempts = attempts_at(anna, token)
    assert [one["outcome"] for one in attempts] == ["interrupted", "accepted"], attempts
    assert attempts[0]["detail"] == "the daemon stopped in the middle of an attempt"


def test_status_says_when_the_server_was_last_asked_with_success(solos, office, front):
    flags = server_flags(front.url)
    anna = solos("anna").start(*flags)
    wait_until(lambda: anna.get("/v1/status")["server"]["lastAnswerAt"], PATIENCE_SECONDS, "the server has answered")
    shown = json.loads(anna.muster("status", "--json").stdout)["server"]
    assert shown["address"] == front.url and 0 <= shown["ageSeconds"] < 60 and shown["lastAnswerAt"].endswith("Z")
    assert "last asked with success" in " ".join(anna.muster("status").stdout.split())
    # Also after a restart without a way to it.
    anna.kill()
    front.trouble = lambda *_: "login"
    anna.start(*flags)
    again = anna.get("/v1/status")["server"]
    assert again["lastAnswerAt"] and again["lastAnswerAt"] <= shown["lastAnswerAt"], (again, shown)
    bert = solos("bert").start()
    assert bert.get("/v1/status")["server"] is None
