"""Who was at which laptop: two people at one, two users of one machine, other laptops, the office, a restart."""

import json
import os
import select
import subprocess

import pytest
from clocks import WallClock, milliseconds, true_milliseconds
from gateways import advance, crew, wait_at_office, wait_published
from lab import wait_until
from solo import PATIENCE_SECONDS, wait_agreed

BAD_DATA = 65
# The number of a user whom every Debian has, beside root, who runs the tests.
NOBODY = "nobody"
# The daemon's start lies so much before it is looked at, at most.
DRIFT_MARGIN_MILLISECONDS = 60_000


def begin(daemon, name, *flags):
    done = daemon.muster("session", "start", name, *flags)
    assert done.returncode == 0, done
    return done.stdout


def people(daemon, job):
    """What the log says of each value: who, at which laptop."""
    done = daemon.muster("job", "log", job, "--json")
    assert done.returncode == 0, done
    return {
        field["to"]: (entry["person"], entry["byName"])
        for entry in json.loads(done.stdout) for field in entry["fields"]}


def as_user(daemon, user, *arguments):
    """`muster …` as another user of the machine, whom the socket's group lets in."""
    return subprocess.run(
        daemon.command(*arguments), capture_output=True, text=True, user=user, group="nogroup", extra_groups=["games"])


def test_two_people_at_one_laptop_are_told_apart_everywhere(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = anna.create_job("Elm Street")
    wait_published([anna, bert], job, "scheduled")
    assert "Ann is at this laptop from now on; clock " in begin(anna, "Ann", "--new")
    sofa = anna.add(job, name="Sofa", room="Hall")
    assert "Bob is at this laptop from now on, instead of Ann" in begin(anna, "Bob", "--new")
    assert anna.muster("item", "set", job, sofa, "name=Couch").returncode == 0
    advance(anna, job, "dispatched")
    wait_published([anna, bert], job, "dispatched")
    wait_agreed([anna, bert], job)
    lamp = bert.add(job, name="Lamp")
    wait_agreed([anna, bert], job)
    told = {
        "Sofa": ("Ann", "anna"), "Hall": ("Ann", "anna"), "Couch": ("Bob", "anna"), "Lamp": (None, "bert"),
        "inventory": (None, "anna"), "Elm Street": (None, "anna")}
    for daemon in (anna, bert):
        assert people(daemon, job) == told
        text = daemon.muster("job", "log", job).stdout
        assert "Ann on anna" in text and "Bob on anna" in text and "author." not in text, text
        assert max(map(len, text.splitlines())) <= 80, text
        asked = [entry for entry in json.loads(daemon.muster("job", "log", job, "--json").stdout)
                 if "asked the office: advance to" in (entry["note"] or "")]
        assert [entry["person"] for entry in asked] == ["Bob"]
        shown = json.loads(daemon.muster("item", "show", job, sofa, "--json").stdout)
        assert (shown["person"], shown["updatedByName"]) == ("Bob", "anna") and shown["updatedBy"] == anna.replica()
        assert shown["fieldHistory"]["room"]["person"] == "Ann"
        assert json.loads(daemon.muster("item", "show", job, lamp, "--json").stdout)["person"] is None
        members = {one["name"]: one["person"] for one in json.loads(daemon.muster("job", "roster", job, "--json").stdout)}
        assert members["anna"] == "Bob" and members["bert"] is None

    # What the office reads, and the audit.
    wait_at_office(office, anna, job, 2)
    status, items = office.ask("GET", f"/v1/jobs/{job}/items")
    assert status == 200
    assert {item["fields"]["name"]: (item["person"], item["updatedByName"]) for item in items} == {
        "Couch": ("Bob", "anna"), "Lamp": (None, "bert")}
    audit = bert.muster("job", "audit", job)
    assert audit.returncode == 0 and "At anna, as that laptop says: Ann, Bob" in audit.stdout, audit
    report = json.loads(bert.muster("job", "audit", job, "--json").stdout)
    assert {one["name"]: one["people"] for one in report["journals"]}["anna"] == ["Ann", "Bob"]
    changes = bert.muster("job", "audit", job, "--changes").stdout
    assert f"Ann on anna {anna.get('/v1/status')['deviceID'][:8]}" in changes, changes


def test_conflicts_name_the_people(solos):
    anna = solos("anna").start()
    bert = solos("bert").start("--peer", anna.address)
    job = anna.create_job()
    item = anna.add(job, name="Sofa")
    wait_agreed([anna, bert], job)
    begin(anna, "Ann", "--new")
    begin(bert, "Bob", "--new")
    bert.stop()
    assert anna.muster("item", "set", job, item, "room=Hall").returncode == 0
    anna.stop()
    bert.start()
    assert bert.muster("item", "set", job, item, "room=Den").returncode == 0
    anna.start("--peer", bert.address)
    wait_agreed([anna, bert], job)
    for daemon in (anna, bert):
        edit = json.loads(daemon.muster("job", "conflicts", job, "--json").stdout)["edits"][0]
        assert {value["value"]: value["person"] for value in [edit["winner"], *edit["losers"]]} == {
            "Hall": "Ann", "Den": "Bob"}
        text = daemon.muster("job", "conflicts", job).stdout
        assert "Ann on anna" in text and "Bob on bert" in text, text


def test_who_watches_sees_who_it_is(solos):
    anna = solos("anna").start()
    bert = solos("bert").start("--peer", anna.address)
    job = anna.create_job()
    wait_until(lambda: bert.vector(job), PATIENCE_SECONDS, "bert has the job")
    begin(anna, "Ann", "--new")
    watching = subprocess.Popen(
        bert.command("job", "watch", job, "--json"), stdout=subprocess.PIPE, text=True)
    try:
        # Until it listens, changes pass it by; and there are other lines.
        change = {}
        for number in range(100):
            anna.add(job, name=f"Box {number}")
            while "by" not in change and select.select([watching.stdout], [], [], 0.2)[0]:
                change = json.loads(watching.stdout.readline())
            if "by" in change:
                break
        assert (change["person"], change["byName"], change["action"]) == ("Ann", "anna", "added"), change
    finally:
        watching.terminate()
        watching.communicate()


def test_a_session_survives_a_restart_and_ends_when_it_is_ended(solos):
    anna = solos("anna").start()
    job = anna.create_job()
    begin(anna, "Ann", "--new")
    anna.add(job, name="Sofa")
    anna.kill()
    anna.start()
    assert anna.get("/v1/status")["session"]["name"] == "Ann"
    assert anna.muster("session", "show").stdout.startswith("Ann, since ")
    assert "Ann, since" in anna.muster("status").stdout
    length = sum(anna.vector(job).values())
    anna.add(job, name="Lamp")
    assert sum(anna.vector(job).values()) == length + 1, "it is not said twice"
    assert anna.muster("session", "end").stdout == "The session of Ann has ended.\n"
    assert anna.muster("session", "end").stdout == "There was no session to end.\n"
    assert anna.get("/v1/status")["session"] is None
    anna.add(job, name="Rug")
    told = people(anna, job)
    assert [told[name][0] for name in ("Sofa", "Lamp", "Rug")] == ["Ann", "Ann", None]


def test_names_are_those_of_the_list(solos):
    anna = solos("anna").start()
    first = anna.muster("session", "start", "Ann")
    assert first.returncode == BAD_DATA and "if this is somebody new, add --new" in first.stderr, first
    begin(anna, "Ann Miller", "--new")
    anna.add(anna.create_job("Elm Street"), name="Sofa")
    like = anna.muster("session", "start", "Ann Muller")
    assert like.returncode == BAD_DATA and "did you mean 'Ann Miller'?" in like.stderr, like
    assert anna.get("/v1/status")["session"]["name"] == "Ann Miller", "a refusal changes nothing"
    begin(anna, "ann miller")
    assert anna.muster("session", "list").stdout == "Ann Miller\n"
    # Another laptop knows the names of the jobs that it holds.
    bert = solos("bert").start("--peer", anna.address)
    wait_until(lambda: bert.muster("session", "list").stdout == "Ann Miller\n", PATIENCE_SECONDS, "bert knows the name")
    assert bert.muster("session", "start", "Ann").returncode == BAD_DATA
    begin(bert, "ANN MILLER")
    assert bert.get("/v1/session")["session"]["name"] == "Ann Miller"


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_two_users_of_one_machine_have_two_sessions(solos):
    os.chmod(solos.directory, 0o755)
    anna = solos("anna").start("--socket-group", "games")
    job = anna.create_job()
    begin(anna, "Ann", "--new")
    assert as_user(anna, NOBODY, "session", "show", "--json").returncode == 0
    other = json.loads(as_user(anna, NOBODY, "session", "show", "--json").stdout)
    assert other["session"] is None and other["user"] != 0
    assert as_user(anna, NOBODY, "item", "add", job, "name=Rug").returncode == 0
    done = as_user(anna, NOBODY, "session", "start", "Bob", "--new")
    assert done.returncode == 0 and "instead of" not in done.stdout, done
    for name in ("1", "2"):
        assert anna.muster("item", "add", job, f"name=root {name}").returncode == 0
        assert as_user(anna, NOBODY, "item", "add", job, f"name=nobody {name}").returncode == 0
    told = people(anna, job)
    assert {name: told[name][0] for name in ("Rug", "root 1", "nobody 1", "root 2", "nobody 2")} == {
        "Rug": None, "root 1": "Ann", "nobody 1": "Bob", "root 2": "Ann", "nobody 2": "Bob"}
    shown = json.loads(anna.muster("session", "show", "--all", "--json").stdout)
    assert [(one["user"], one["session"]["name"]) for one in shown["sessions"]] == [(0, "Ann"), (other["user"], "Bob")]
    # One user's session is nobody else's to end.
    assert as_user(anna, NOBODY, "session", "end").returncode == 0
    assert anna.get("/v1/session")["session"]["name"] == "Ann"


@pytest.mark.parametrize("setting, drift", [("+0", 0), ("+3h", 10_800_000), ("-2d", -172_800_000)])
def test_the_drift_at_the_start_is_recorded(solos, office, setting, drift):
    """How far the laptop's own clock is off the server's, in milliseconds."""
    clock = WallClock(solos.directory, "anna", setting)
    flags = {"MUSTER_SERVER": office.url, "MUSTER_SERVER_INTERVAL": "1"}
    anna = solos("anna").start(environment={**clock.environment, **flags})
    bert = solos("bert").start("--peer", anna.address)
    wait_until(
        lambda: anna.get("/v1/status")["clock"]["source"] == "server", PATIENCE_SECONDS, "the server's time is known")
    began = milliseconds(anna.get("/v1/status")["startedAt"]) - true_milliseconds()
    assert abs(began - drift) < DRIFT_MARGIN_MILLISECONDS, "the fault is there"
    begin(anna, "Ann", "--new")
    session = anna.get("/v1/session")["session"]
    assert abs(session["driftMilliseconds"] - drift) < 1000 and session["uncertaintyMilliseconds"] >= 0, session
    job = anna.create_job()
    anna.add(job, name="Sofa")
    wait_agreed([anna, bert], job)
    changes = bert.muster("job", "audit", job, "--changes").stdout
    recorded, uncertainty = (int(session[name]) for name in ("driftMilliseconds", "uncertaintyMilliseconds"))
    assert f" {recorded} {uncertainty} Ann" in changes, changes


def test_without_a_session_all_is_as_it_was(solos):
    anna = solos("anna").start()
    job = anna.create_job("Elm Street")
    anna.add(job, name="Sofa")
    assert {person for person, _ in people(anna, job).values()} == {None}
    assert " on anna" not in anna.muster("job", "log", job).stdout
    assert sum(anna.vector(job).values()) == 4, "the laptop's name, the job's two fields, the sofa"
    assert anna.muster("session", "show").stdout.startswith("Nobody has a session here")
    assert anna.muster("session", "list").stdout == ""
