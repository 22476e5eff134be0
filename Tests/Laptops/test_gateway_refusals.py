"""What the office refuses for good: it leaves the queue's way, is not shown any more, and the person hears of it."""

from gateways import advance, crew, published_states, queue_status, server_flags, state, wait_published
from lab import wait_until
from solo import PATIENCE_SECONDS


def test_what_the_office_refuses_is_listed_until_somebody_takes_note(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = bert.create_job("Smith")
    wait_until(lambda: anna.vector(job), PATIENCE_SECONDS, "anna has the job")
    advance(bert, job, "dispatched")
    wait_published([anna, bert], job, "dispatched")
    bert.make("/v1/queue/pause", {})
    front.always("503")
    [token] = advance(bert, job, "inProgress")
    [next_token] = advance(bert, job, "awaitingSignature")
    assert state(bert, job)["pending"] == "awaitingSignature"
    # Meanwhile somebody at the office cancels the job.
    cancelling = {"lane": "office", "kind": "advanceState", "payload": {"state": "cancelled"}}
    status, _ = office.mutate(job, 2, **cancelling)
    assert status == 200
    front.always(None)
    wait_published([anna, bert], job, "cancelled")
    wait_until(
        lambda: [entry["state"] for entry in bert.get("/v1/queue")] == ["rejected", "rejected"],
        PATIENCE_SECONDS,
        "both are refused",
    )
    listed = bert.get("/v1/queue")
    assert [entry["token"] for entry in listed] == [token, next_token]
    assert all("is cancelled and cannot become" in entry["lastError"] for entry in listed), listed
    assert bert.get("/v1/status")["queue"] == queue_status(rejected=2, isPaused=True)
    # Whoever brought it has nothing to take note of.
    assert anna.get("/v1/queue") == []
    notes = "\n".join(change["note"] for change in anna.get(f"/v1/jobs/{job}/log") if change["action"] == "decided")
    assert notes.count("rejected: advance to") == 2 and "nothing follows that" in notes, notes
    assert published_states(office, job) == ["scheduled", "dispatched", "cancelled"]
    # Listed still after a restart, and told of without being asked.
    bert.kill()
    bert.start("--peer", anna.address)
    assert len(bert.get("/v1/queue")) == 2
    [check] = [check for check in bert.get("/v1/doctor")["checks"] if check["id"] == "queue"]
    assert check["outcome"] == "warn" and "queue list" in check["remedy"], check
    for entry in listed:
        assert bert.muster("queue", "drop", entry["token"]).returncode == 0
    assert bert.get("/v1/queue") == []
    assert bert.get("/v1/status")["queue"] == queue_status(isPaused=True)


def test_a_lane_that_is_not_there_is_not_said_to_wait_or_to_go_on(solos):
    anna = solos("anna").start()
    anna.create_job("Smith")
    done = anna.muster("queue", "pause", "Smith/stat")
    assert done.returncode == 65 and "no job 'Smith/stat'" in done.stderr, done
    assert anna.muster("queue", "pause", "Smith").returncode == 0
    assert anna.muster("queue", "pause").returncode == 0
    done = anna.muster("queue", "resume", "Smith/state")
    assert done.returncode == 65 and "without a job" in done.stderr, done
    assert anna.muster("queue", "resume").returncode == 0
    assert anna.muster("queue", "resume", "Smith/state").returncode == 0
