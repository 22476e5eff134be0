"""Jobs of one name: a removed one gives its name back, two living ones are told of, and any can be called something else."""

import json
import re

import pytest
from gateways import crew, wait_published
from lab import wait_until
from solo import PATIENCE_SECONDS, Solos, wait_agreed

WRONG = 65


def ok(done):
    assert done.returncode == 0, done
    return done.stdout


@pytest.fixture
def pair(build_directory):
    """anna and bert, who have not met yet."""
    with Solos(build_directory) as solos:
        yield solos("anna").start(), solos("bert").start()


def meet(anna, bert, *jobs):
    bert.make("/v1/peers", {"address": anna.address})
    for job in jobs:
        wait_until(lambda: anna.vector(job) == bert.vector(job) is not None, PATIENCE_SECONDS, f"both hold {job}")
    wait_agreed((anna, bert), jobs[0])


def part(anna, bert):
    assert bert.stop() == 0
    bert.start()


def create(daemon, name, *more):
    """Its id, and what else was said."""
    done = daemon.muster("job", "create", "--name", name, *more)
    return ok(done).strip(), done.stderr


def named(daemon, name):
    """The id of the job that a name means; None where it means none or several."""
    done = daemon.muster("job", "show", name, "--json")
    return json.loads(done.stdout)["id"] if done.returncode == 0 else None


def jobs_check(daemon):
    return next(check for check in daemon.get("/v1/doctor")["checks"] if check["id"] == "jobs")


def test_a_removed_job_gives_its_name_back(pair):
    anna, _ = pair
    first, said = create(anna, "Elm")
    assert said == ""
    ok(anna.muster("job", "remove", "Elm", "--yes"))
    assert named(anna, "Elm") == first, "nobody else has the name"
    second, said = create(anna, "Elm")
    assert said == "", "a removed job is nobody to be taken for"
    assert named(anna, "Elm") == second and named(anna, first) == first
    ok(anna.muster("item", "add", "Elm", "name=Sofa"))
    ok(anna.muster("job", "remove", "Elm", "--yes"))
    refused = anna.muster("job", "show", "Elm")
    assert refused.returncode == WRONG and len(refused.stderr.splitlines()) == 1, refused
    assert first in refused.stderr and second in refused.stderr and refused.stderr.count("removed on 20") == 2


def test_late_work_is_found_by_the_name_that_a_living_job_has_taken(pair):
    anna, bert = pair
    job, _ = create(anna, "Elm")
    item = anna.add(job, name="Sofa")
    meet(anna, bert, job)
    part(anna, bert)
    bert.add(job, name="Lamp")
    ok(anna.muster("job", "remove", "Elm", "--yes"))
    living, said = create(anna, "Elm")
    meet(anna, bert, job, living)
    for daemon in (anna, bert):
        wait_until(lambda: "Lamp" in ok(daemon.muster("job", "late", "Elm")), PATIENCE_SECONDS, "it is listed")
        assert named(daemon, "Elm") == living
        # What stands in the list is what the status counts.
        status = daemon.get("/v1/status")
        assert (status["jobs"], status["removedJobs"]) == (1, 1)
    ok(anna.muster("job", "late", "Elm", "--drop", "all", "--yes"))
    assert ok(anna.muster("job", "late", "Elm")) == "There is no late work.\n"
    assert item not in anna.items(living)


def test_two_of_one_name_are_warned_of_and_told_apart(pair):
    anna, bert = pair
    first, _ = create(anna, "Elm")
    anna.add(first, name="Sofa")
    second, said = create(anna, "Elm", "--kind", "pickup")
    (short,) = re.findall(r"muster: (\w+) \(", said)
    assert "muster job rename" in said and len(said.splitlines()) == 1, said
    assert json.loads(ok(anna.muster("job", "show", short, "--json")))["id"] == first, "what is printed can be typed"
    made = anna.muster("job", "create", "--name", "Elm", "--json")
    third = json.loads(ok(made))["id"]
    assert list(json.loads(made.stdout)) == ["id"] and "and 1 other" in made.stderr
    refused = anna.muster("item", "add", "Elm", "name=Lamp")
    head, *jobs = refused.stderr.splitlines()
    assert refused.returncode == WRONG and "fits 3 jobs" in head, refused
    # Below the titles.
    listed = [line.split() for line in jobs[-3:]]
    assert all(id.endswith(line[0]) and line[1] == "Elm" for id, line in zip((first, second, third), listed)), refused
    assert [line[-1] for line in listed] == ["1", "0", "0"], refused
    ok(anna.muster("job", "rename", second, "Elm, second van"))
    renamed = anna.muster("job", "rename", third, "Elm")
    assert renamed.returncode == 0 and f"muster: {short} (" in renamed.stderr, "it still has another's name"
    ok(anna.muster("job", "remove", third, "--yes"))
    assert named(anna, "Elm") == first and named(anna, "Elm, second van") == second


def test_what_two_laptops_made_apart_is_shown_when_they_meet(pair):
    anna, bert = pair
    ids = [create(daemon, "Elm")[0] for daemon in (anna, bert)]
    for daemon in (anna, bert):
        assert jobs_check(daemon)["outcome"] == "ok"
    meet(anna, bert, *ids)
    for daemon in (anna, bert):
        check = jobs_check(daemon)
        assert check["outcome"] == "warn" and "muster job rename" in check["remedy"], check
        assert all(job in check["finding"] for job in ids) and "'Elm'" in check["finding"]
        assert named(daemon, "Elm") is None
    ok(anna.muster("job", "rename", ids[1], "Elm, cellar"))
    wait_until(lambda: named(bert, "Elm, cellar") == ids[1], PATIENCE_SECONDS, "bert has the name")
    for daemon in (anna, bert):
        assert jobs_check(daemon)["outcome"] == "ok" and named(daemon, "Elm") == ids[0]


def test_the_last_name_counts_everywhere_and_the_log_tells_of_it(pair):
    anna, bert = pair
    job, _ = create(anna, "Elm")
    meet(anna, bert, job)
    part(anna, bert)
    ok(anna.muster("job", "rename", "Elm", "Oak"))
    ok(bert.muster("job", "rename", "Elm", "Ash"))
    ok(anna.muster("job", "rename", "Oak", "Yew"))
    meet(anna, bert, job)
    names = {anna.get(f"/v1/jobs/{job}")["name"], bert.get(f"/v1/jobs/{job}")["name"]}
    assert len(names) == 1 and names <= {"Yew", "Ash"}, names
    for daemon in (anna, bert):
        log = ok(daemon.muster("job", "log", job))
        assert "name: Elm → Oak" in log and "name: Oak → Yew" in log and "name: Elm → Ash" in log, log
        assert "renamed" not in log
        assert daemon.get(f"/v1/jobs/{job}")["conflicts"] == 1
    status, _ = anna.ask("PATCH", f"/v1/jobs/{job}", {"name": "\n"})
    assert status == 422
    assert anna.muster("job", "rename", job, "").returncode == WRONG


def test_the_office_hears_of_a_name(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = anna.create_job("Smith")
    wait_published([anna, bert], job, "scheduled")
    assert office.ask("GET", f"/v1/jobs/{job}")[1]["name"] == "Smith"
    ok(bert.muster("job", "rename", "Smith", "Smith, 14 Elm Street"))
    for name in (lambda: office.ask("GET", f"/v1/jobs/{job}")[1]["name"], lambda: anna.get(f"/v1/jobs/{job}")["name"]):
        wait_until(lambda: name() == "Smith, 14 Elm Street", PATIENCE_SECONDS, "the new name outranks the office's word")
    published = office.ask("GET", f"/v1/jobs/{job}")[1]["published"]
    assert published["name"] == "Smith", "what it was opened as is still there"
    ok(anna.muster("job", "remove", "Smith, 14 Elm Street", "--yes"))
    assert named(anna, "Smith, 14 Elm Street") == job
