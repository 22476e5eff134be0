"""The company's server tells of a job who is on it, and the office; what anybody has written is taken from them."""

import base64
import sqlite3

from attacks import Issuing
from gateways import server_flags
from lab import never_during, wait_until
from office import Connection, Journal
from membership import QUIET_SECONDS, assign, jobs, signed, statement, unassign
from revoking import identifier, install, issuer_of
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import Member

NOT_PERMITTED = 77
# Everything that a laptop may ask of a job.
READS = ["", "/items", "/channel", "/vector", "/journals/" + "1" * 32, "/assignments"]


def lead(solos, office, name="lea"):
    daemon = solos(name).start(*server_flags(office.url))
    install(daemon, office.fleet.sign(daemon.get("/v1/fleet")["request"], "lead"))
    return daemon


def gateway(solos, office, name):
    return solos(name).start(*server_flags(office.url))


def membership(daemon, job):
    return daemon.get(f"/v1/jobs/{job}")["membership"]


def test_the_server_tells_of_a_job_who_is_on_it_and_takes_what_others_have_written(solos, office):
    lea = lead(solos, office)
    bert, carl = gateway(solos, office, "bert"), gateway(solos, office, "carl")
    job = lea.make("/v1/jobs", {"name": "Smith", "laptops": [identifier(bert)]})["id"]
    lamp = lea.add(job, name="lamp")
    wait_until(lambda: job in jobs(bert) and lamp in bert.items(job), PATIENCE_SECONDS, f"bert has it: {bert.log()}")
    assert membership(bert, job) == "on"
    never_during(lambda: jobs(carl), QUIET_SECONDS, "carl hears of the job")

    stranger = Connection(office.port, Member(office.fleet))
    replica = lea.replica()
    assert office.get("/v1/jobs")["jobs"], "the office sees it"
    for _ in range(2):
        assert stranger.ask("GET", "/v1/jobs")[1]["jobs"] == []
        for path in [*READS, f"/journals/{replica}"]:
            status, answer = stranger.ask("GET", f"/v1/jobs/{job}{path}")
            nothing = stranger.ask("GET", f"/v1/jobs/nowhere{path}")
            assert (status, answer) == nothing and status == 404, (path, answer, nothing)
    stranger.close()

    # Carl has heard of its number by other means.
    assert carl.ask("POST", "/v1/jobs", {"name": "Smith, as carl heard", "id": job})[0] == 201
    chair = carl.add(job, name="chair of carl")
    for daemon in (lea, bert):
        wait_until(lambda: chair in daemon.items(job), PATIENCE_SECONDS, f"{daemon.name} has the chair: {carl.log()}")
    wait_until(lambda: membership(carl, job) == "off", PATIENCE_SECONDS, f"carl hears that he is not on it: {carl.log()}")
    never_during(lambda: lamp in carl.items(job), QUIET_SECONDS, "carl gets the lamp")
    log = carl.log()
    assert "could not be settled" not in log and "set back" not in log, log

    assign(lea, job, identifier(carl))
    wait_agreed([lea, bert, carl], job)
    assert lamp in carl.items(job) and membership(carl, job) == "on"

    unassign(lea, job, identifier(bert))
    own = bert.add(job, name="of bert")
    wait_until(lambda: own in lea.items(job), PATIENCE_SECONDS, "what bert writes is taken")
    wait_until(lambda: membership(bert, job) == "off", PATIENCE_SECONDS, f"bert hears it: {bert.log()}")
    table = lea.add(job, name="table")
    wait_until(lambda: table in carl.items(job), PATIENCE_SECONDS, "carl has the table")
    never_during(lambda: table in bert.items(job), QUIET_SECONDS, "bert gets the table")
    # It outlasts the server's end, and the laptop's.
    office.stop_and_start()
    bert.kill()
    bert.start(*server_flags(office.url))
    late = bert.add(job, name="of bert, late")
    wait_until(lambda: late in carl.items(job), PATIENCE_SECONDS, "what bert writes is taken")
    never_during(lambda: table in bert.items(job), QUIET_SECONDS, "bert gets the table")
    assert {lamp, chair, own, late} <= set(bert.items(job)), "he keeps what he had"


def test_a_laptop_that_is_not_on_a_job_brings_its_work_once(solos, office, front):
    lea = lead(solos, office)
    bert = solos("bert").start(*server_flags(front.url))
    job = lea.make("/v1/jobs", {"name": "Smith", "laptops": [identifier(bert)]})["id"]
    for number in range(20):
        lea.add(job, name=f"item {number}")
    wait_agreed([lea, bert], job)
    unassign(lea, job, identifier(bert))
    own = bert.add(job, name="of bert")
    wait_until(lambda: own in lea.items(job), PATIENCE_SECONDS, "what bert writes is taken")
    wait_until(lambda: membership(bert, job) == "off", PATIENCE_SECONDS, "bert hears it")
    rounds = lambda: front.requests("/v1/jobs?")
    about = lambda: [seen for seen in front.requests(f"/v1/jobs/{job}")]
    at_rest = len(rounds()) + 3
    wait_until(lambda: len(rounds()) >= at_rest, PATIENCE_SECONDS, "some rounds pass")
    before, at_rest = about(), len(rounds()) + 3
    wait_until(lambda: len(rounds()) >= at_rest, PATIENCE_SECONDS, "more rounds pass")
    assert about() == before, f"it asks about the job with every round: {about()[len(before):]}"
    # All there is, once more, when there is something new.
    later = bert.add(job, name="of bert, later")
    wait_until(lambda: later in lea.items(job), PATIENCE_SECONDS, "what bert writes is taken")


def kept(office):
    database = sqlite3.connect(f"file:{office.store}?mode=ro", uri=True)
    try:
        return database.execute("SELECT job, content FROM assignment").fetchall()
    finally:
        database.close()


def test_a_laptop_that_has_only_looked_at_a_job_is_quiet_about_it_when_it_is_taken_off(solos, office, front):
    lea = lead(solos, office)
    bert = solos("bert").start(*server_flags(front.url))
    job = lea.make("/v1/jobs", {"name": "Smith", "laptops": [identifier(bert)]})["id"]
    lea.add(job, name="lamp")
    lea.make(f"/v1/jobs/{job}/state", {"state": "dispatched"})
    said = lambda: bert.get(f"/v1/jobs/{job}")["state"]["published"] == "dispatched"
    wait_until(lambda: job in jobs(bert) and said(), PATIENCE_SECONDS, "bert has the server's word")
    unassign(lea, job, identifier(bert))
    lea.add(job, name="table")
    rounds = lambda: front.requests("/v1/jobs?")
    about = lambda: [seen for seen in front.requests(f"/v1/jobs/{job}")]
    wait_until(lambda: len(office.get(f"/v1/jobs/{job}/items")) == 2, PATIENCE_SECONDS, "the server has more")
    # Bert hears it from nobody, until he has a reason to speak of the job.
    bert.kill()
    bert.start(*server_flags(front.url))
    wait_until(lambda: membership(bert, job) == "off", PATIENCE_SECONDS, f"bert hears it: {bert.log()}")
    at_rest = len(rounds()) + 2
    wait_until(lambda: len(rounds()) >= at_rest, PATIENCE_SECONDS, "some rounds pass")
    before, at_rest = about(), len(rounds()) + 3
    wait_until(lambda: len(rounds()) >= at_rest, PATIENCE_SECONDS, "more rounds pass")
    assert about() == before, f"it asks about the job with every round: {about()[len(before):]}"
    log = bert.log()
    assert "set back" not in log and "could not be settled" not in log, log


def test_who_may_not_assign_puts_nobody_on_a_job(solos, office):
    lea = lead(solos, office)
    job = lea.make("/v1/jobs", {"name": "Smith", "laptops": [identifier(lea)]})["id"]
    wait_until(lambda: kept(office) and office.get("/v1/jobs")["jobs"], PATIENCE_SECONDS, "the server knows")
    before = kept(office)
    member, other = Member(office.fleet), Member(office.fleet, role="lead")
    own = member.device
    good = signed(office.fleet, other, job, {own: True})
    forged = {
        "a member's own": signed(office.fleet, member, job, {own: True}),
        "in a lead's name": signed(office.fleet, member, job, {own: True}, signer=other),
        "with a lead's certificates": signed(office.fleet, other, job, {own: True}, key=member.key),
        "a lead's, of another job": (good[0], *signed(office.fleet, other, "other", {own: True})[1:]),
    }
    connection = Connection(office.port, member)
    for name, said in forged.items():
        status, answer = connection.ask("POST", "/v1/assignments", {"assignments": [statement(said)]})
        assert status == 422 and "let a lead or the office assign it" in answer["detail"], (name, status, answer)
        assert connection.ask("GET", f"/v1/jobs/{job}/vector")[0] == 404
    for broken in (
        {"content": "", "signature": "", "certificates": []},
        {**statement(good), "signature": "AAAA"},
        {**statement(good), "content": "!"},
    ):
        status, answer = connection.ask("POST", "/v1/assignments", {"assignments": [broken]})
        assert status in (400, 422), (broken, status, answer)
    assert kept(office) == before
    # The same in the name of one who may is taken.
    status, answer = connection.ask("POST", "/v1/assignments", {"assignments": [statement(good)]})
    assert status == 200 and len(answer["assignments"]) == 1, answer
    assert connection.ask("GET", f"/v1/jobs/{job}/vector")[0] == 200
    # And said again it is no news.
    assert connection.ask("POST", "/v1/assignments", {"assignments": [statement(good)]})[1]["assignments"] == []
    connection.close()


def test_who_may_only_look_changes_nothing(solos, office):
    lea = lead(solos, office)
    rita = solos("rita").start(*server_flags(office.url))
    install(rita, office.fleet.sign(rita.get("/v1/fleet")["request"], "reader"))
    job = lea.make("/v1/jobs", {"name": "Smith", "laptops": [identifier(rita)]})["id"]
    lamp = lea.add(job, name="lamp")
    wait_until(lambda: job in jobs(rita) and lamp in rita.items(job), PATIENCE_SECONDS, "rita sees the job")
    done = rita.muster("item", "set", "Smith", lamp, "name=chair")
    assert done.returncode == NOT_PERMITTED and "to look only" in done.stderr, done
    for method, path in (("POST", "/v1/jobs"), ("DELETE", f"/v1/jobs/{job}"), ("POST", f"/v1/jobs/{job}/state")):
        status, answer = rita.ask(method, path, {})
        assert status == 403 and answer["code"] == "notPermitted", (path, answer)
    # One that does not keep to it is not heard.
    reader = Member(office.fleet, role="reader")
    connection = Connection(office.port, reader)
    run = Journal(job, reader.author()).add("forged")
    status, answer = connection.ask("POST", f"/v1/jobs/{job}/journals", run)
    assert status == 422 and answer["code"] == "outsider", answer
    removal = {"name": "Smith", "entries": []}
    status, answer = connection.ask("PUT", f"/v1/jobs/{job}/removal", removal)
    assert status == 422 and answer["code"] == "outsider", answer
    connection.close()
    assert set(lea.items(job)) == {lamp}


def unassigned(daemon, job):
    return membership(daemon, job) == "everybody"


def test_in_its_grace_a_laptop_goes_on_with_its_jobs_and_gets_no_others(solos, office):
    lea = lead(solos, office)
    old, young = (lea.make("/v1/jobs", {"name": name})["id"] for name in ("Smith", "Jones"))
    assert unassigned(lea, old) and unassigned(lea, young)
    wait_until(lambda: len(office.get("/v1/jobs")["jobs"]) == 2, PATIENCE_SECONDS, "the server has both")
    ended = Member(Issuing(issuer_of(office.fleet), since=0, until=1 / 86_400))
    connection = Connection(office.port, ended)
    seen = lambda: [job["job"] for job in connection.ask("GET", "/v1/jobs")[1]["jobs"]]
    wait_until(lambda: seen() == [], PATIENCE_SECONDS, "its certificate has run out")
    assert connection.ask("GET", f"/v1/jobs/{old}")[0] == 404
    journal = Journal(old, ended.author())
    status, answer = connection.ask("POST", f"/v1/jobs/{old}/journals", journal.add("chair"))
    assert status == 200, answer
    assert seen() == [old] and connection.ask("GET", f"/v1/jobs/{old}")[0] == 200
    assert connection.ask("GET", f"/v1/jobs/{young}")[0] == 404
    connection.close()
