"""A laptop receives the jobs that it is on, and no others; what anybody has written is taken from them."""

from invitations import anna
from lab import never_during, wait_until
from membership import QUIET_SECONDS, assign, jobs
from revoking import certify, enlist
from solo import PATIENCE_SECONDS, wait_agreed

DATA, NOT_PERMITTED = 65, 77


def wait_met(*daemons):
    for daemon in daemons:
        others = sorted(other.name for other in daemons if other is not daemon)
        wait_until(lambda: daemon.connected() == others, PATIENCE_SECONDS, f"{daemon.name} has all: {daemon.log()}")


def test_a_job_goes_to_those_who_are_on_it_and_to_the_office(solos, anna):
    bert = enlist(solos, anna, "bert", anna.address)
    carl = enlist(solos, anna, "carl", anna.address, bert.address)
    dora = solos("dora").launch("--peer", anna.address, "--peer", bert.address, "--peer", carl.address)
    wait_until(dora.answers, PATIENCE_SECONDS, "dora answers")
    certify(anna, dora, "office")
    wait_met(anna, bert, carl, dora)
    done = anna.muster("job", "create", "--name", "Smith", "--for", "bert", "--json")
    assert done.returncode == 0, done
    (job,) = jobs(anna)
    lamp = bert_sees(bert, anna, job, "lamp")
    wait_agreed([anna, bert, dora], job)
    assert lamp in dora.items(job), "the office sees all jobs"
    never_during(lambda: jobs(carl), QUIET_SECONDS, "carl hears of the job")
    shown = anna.muster("job", "roster", "Smith").stdout
    assert shown.startswith("On this job: bert.\n"), shown
    shown = dora.get(f"/v1/jobs/{job}")["membership"], bert.get(f"/v1/jobs/{job}")["membership"]
    assert shown == ("office", "on")
    for daemon, names in (anna, "bert"), (bert, "bert (this one)"), (dora, "bert"):
        told = daemon.muster("job", "show", job).stdout
        assert f"On it {names}" in [" ".join(line.split()) for line in told.splitlines()], told

    # What carl writes to a job that he was told of by other means is taken, and nothing comes back.
    made = carl.ask("POST", "/v1/jobs", {"name": "Smith, as carl heard", "id": job})
    assert made[0] == 201, made
    chair = carl.add(job, name="chair of carl")
    wait_agreed([anna, bert, dora], job)
    assert chair in bert.items(job)
    never_during(lambda: lamp in carl.items(job), QUIET_SECONDS, "anything of the job comes to carl")
    assert carl.get(f"/v1/jobs/{job}")["membership"] == "off", "he has heard that he is not on it"
    assert "is not on the job" in carl.muster("job", "show", job).stdout

    assign(dora, job, "carl")
    wait_agreed([anna, bert, carl, dora], job)
    assert lamp in carl.items(job)
    assert carl.get(f"/v1/jobs/{job}")["membership"] == "on"


def bert_sees(bert, writer, job, name):
    item = writer.add(job, name=name)
    wait_until(lambda: job in jobs(bert) and item in bert.items(job), PATIENCE_SECONDS, f"{name} comes to bert")
    return item


def test_who_is_taken_off_gets_nothing_more_and_loses_nothing(solos, anna):
    bert = enlist(solos, anna, "bert", anna.address)
    job = anna.create_job()
    before = anna.add(job, name="before")
    wait_agreed([anna, bert], job)
    refused = anna.ask("POST", f"/v1/jobs/{job}/assignments", {"unassign": ["bert"]})
    assert refused[0] == 422 and "Every laptop receives this job" in refused[1]["detail"], refused
    assign(anna, job, "anna")
    wait_until(
        lambda: bert.get(f"/v1/jobs/{job}")["membership"] == "off", PATIENCE_SECONDS, f"bert hears it: {bert.log()}"
    )
    after = anna.add(job, name="after")
    own = bert.add(job, name="of bert")
    wait_until(lambda: own in anna.items(job), PATIENCE_SECONDS, "what bert writes is taken")
    never_during(lambda: after in bert.items(job), QUIET_SECONDS, "what anna writes comes to bert")
    assert {before, own} <= set(bert.items(job))
    # Not after a restart of either, and not by way of the other laptop.
    anna.kill()
    anna.start()
    bert.kill()
    bert.start("--peer", anna.address)
    wait_met(anna, bert)
    later = anna.add(job, name="later")
    never_during(lambda: {after, later} & set(bert.items(job)), QUIET_SECONDS, "bert gets it after a restart")
    own2 = bert.add(job, name="of bert, later")
    wait_until(lambda: own2 in anna.items(job), PATIENCE_SECONDS, "what bert writes is taken")
    peers = anna.get(f"/v1/jobs/{job}")
    assert peers["peersBehind"] == [], "nobody is behind in what it does not get"
    assign(anna, job, "bert")
    wait_agreed([anna, bert], job)
    assert {after, later, own2} <= set(bert.items(job))


def test_a_laptop_that_has_just_been_put_on_a_job_passes_it_on_to_nobody_else(solos, anna):
    """Carl is connected with bert alone, who hears of a job with some work in it all at once."""
    bert = enlist(solos, anna, "bert")
    carl = enlist(solos, anna, "carl", bert.address)
    wait_met(bert, carl)
    made = anna.make("/v1/jobs", {"name": "Smith", "laptops": ["anna"]})
    job = made["id"]
    for number in range(300):
        anna.add(job, name=f"item {number}")
    bert.ask("POST", "/v1/peers", {"address": anna.address})
    wait_until(lambda: "bert" in anna.connected(), PATIENCE_SECONDS, "anna has bert")
    never_during(lambda: jobs(bert), 0.5, "bert hears of it before he is on it")
    assign(anna, job, "bert")
    wait_agreed([anna, bert], job)
    never_during(lambda: jobs(carl), QUIET_SECONDS, "carl hears of it")
    assert "item 7" not in carl.log()


def test_a_lead_stays_on_a_job_that_it_narrows(solos, anna):
    lea = enlist(solos, anna, "lea", anna.address)
    certify(anna, lea, "lead")
    bert = enlist(solos, anna, "bert", lea.address)
    wait_until(lambda: set(lea.connected()) == {"anna", "bert"}, PATIENCE_SECONDS, f"lea has both: {lea.log()}")
    job = lea.create_job()
    wait_agreed([anna, lea, bert], job)
    done = lea.muster("job", "assign", "Home", "bert")
    assert done.stdout == "On this job: bert, lea (this one).\n", done
    done = lea.muster("job", "unassign", "Home", "bert")
    assert done.stdout == "On this job: lea (this one).\n", done
    lamp = lea.add(job, name="lamp")
    wait_agreed([anna, lea], job)
    never_during(lambda: lamp in bert.items(job), QUIET_SECONDS, "bert gets more of it")


def test_a_member_assigns_nobody(solos, anna):
    bert = enlist(solos, anna, "bert", anna.address)
    wait_met(anna, bert)
    job = anna.make("/v1/jobs", {"name": "Smith", "laptops": ["anna", "bert"]})["id"]
    wait_until(lambda: job in jobs(bert), PATIENCE_SECONDS, "bert has the job")
    done = bert.muster("job", "unassign", "Smith", "anna")
    assert done.returncode == NOT_PERMITTED and "a lead's or the office's may" in done.stderr, done
    done = anna.muster("job", "assign", "Smith", "nobody")
    assert done.returncode == DATA and "No laptop is known as 'nobody'" in done.stderr, done
    assert anna.get(f"/v1/jobs/{job}/assignments") == {
        "isEverybodys": False,
        "laptops": anna.get(f"/v1/jobs/{job}/assignments")["laptops"],
    }
    assert [laptop["isOn"] for laptop in bert.get(f"/v1/jobs/{job}/assignments")["laptops"]] == [True, True]
