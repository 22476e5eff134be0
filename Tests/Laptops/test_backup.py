"""`muster backup` and `muster restore` while daemons run: what was lost comes back, and nothing that is here is lost."""

import base64
import os
import stat

import pytest
from backups import back_up, put_back_in_place
from lab import Fleet, wait_until
from membership import assign, lea_and_bert
from restores import backup, content, lose_everything, names, parts, restore
from solo import PATIENCE_SECONDS, journals, wait_agreed


def test_another_laptop_of_the_fleet_takes_over_what_a_broken_one_held(solos):
    anna = solos("anna").start()
    home, attic = anna.create_job("Home"), anna.create_job("Attic")
    for count in range(40):
        anna.add(home, name=f"of home {count}")
    gone = anna.add(attic, name="gone")
    assert anna.ask("DELETE", f"/v1/jobs/{attic}/items/{gone}")[0] == 200
    path = backup(anna)
    status = os.stat(path)
    assert stat.S_IMODE(status.st_mode) == 0o600, "the customers' data is its owner's to read"
    assert not parts(os.path.dirname(path))
    held = content(anna)
    anna.kill()

    bert = solos("bert").start()
    before = bert.muster("restore", path)
    assert before.returncode == 64 and "--yes" in before.stderr and "2 jobs" in before.stderr, before
    assert bert.get("/v1/jobs") == [], "nobody has agreed yet"
    report = restore(bert, path)
    assert report["isOwn"] is False and report["leftOut"] == [] and not report["isPreview"], report
    assert {job["name"]: job["isNew"] for job in report["restored"]} == {"Home": True, "Attic": True}
    assert content(bert) == held
    audit = bert.muster("job", "audit", home)
    assert audit.returncode == 0 and "proven" in audit.stdout, audit
    assert os.listdir(bert.state).count("transfer") == 0, "no copy is left"
    again = bert.muster("restore", path)
    assert again.returncode == 0 and "here already" in again.stdout, again
    assert content(bert) == held
    bert.stop()
    journals(bert)


def test_a_laptop_that_lost_its_store_is_a_new_replica_and_has_all_of_it_back(solos):
    bert = solos("bert").start()
    anna = solos("anna").start("--peer", bert.address)
    job = anna.create_job()
    anna.add(job, name="before")
    path = backup(anna)
    former = anna.replica()
    anna.add(job, name="after the backup")
    wait_agreed([anna, bert], job)
    anna.stop()
    lose_everything(anna)
    anna.start()
    assert anna.get("/v1/jobs") == [], "it was lost"
    anna.add(anna.create_job("Another"), name="written since")
    report = restore(anna, path)
    assert report["leftOut"] == [], report
    assert names(anna, job) == {"before"}
    assert anna.replica() != former
    assert {found["name"] for found in anna.get("/v1/jobs")} == {"Home", "Another"}
    anna.add(job, name="new")
    anna.stop()
    anna.start("--peer", bert.address)
    everything = {"before", "after the backup", "new"}
    for daemon in (anna, bert):
        wait_until(lambda: names(daemon, job) == everything, PATIENCE_SECONDS, f"{daemon.name} has all: {anna.log()}")
    wait_agreed([anna, bert], job)


def test_what_a_lost_laptop_had_told_nobody_reaches_the_crew_of_an_assigned_job(solos):
    lea, bert, job = lea_and_bert(solos, is_off=False)
    lea.stop()
    bert.add(job, name="in the basement")
    path = backup(bert)
    bert.kill()
    lea.start()
    carl = solos("carl").start("--peer", lea.address)
    wait_until(lambda: lea.connected() == ["carl"], PATIENCE_SECONDS, "they meet")
    report = restore(carl, path)
    assert report["leftOut"] == [] and report["restored"][0]["isNew"], report
    assert names(carl, job) == {"first", "in the basement"}
    assert carl.get(f"/v1/jobs/{job}")["membership"] == "off", "who is on it came with the backup"
    wait_until(lambda: "in the basement" in names(lea, job), PATIENCE_SECONDS, "lea has it")
    assign(lea, job, "carl")
    carl.add(job, name="of carl")
    wait_agreed([lea, carl], job)
    assert names(lea, job) == {"first", "in the basement", "of carl"}


@pytest.mark.parametrize("_", range(4))
def test_journals_that_have_parted_are_put_together(solos, _):
    """The store was set back so that nothing tells, and wrote on: two contents under one name, of which only the backup has one.
    Which of them stays is chance, so it is done four times."""
    anna = solos("anna").start()
    job = anna.create_job()
    sofa = anna.add(job, name="sofa")
    anna.stop()
    past = os.path.join(solos.directory, "past")
    back_up(anna, past)
    anna.start()
    for count in range(3):
        anna.add(job, name=f"lost {count}")
        assert anna.ask("POST", f"/v1/jobs/{job}/items/{sofa}/notes", {"text": f"scratch {count}"})[0] == 201
    path = backup(anna)
    former = anna.replica()
    anna.stop()
    put_back_in_place(anna, past)
    anna.start()
    assert anna.replica() == former, "nothing tells that it was set back"
    assert names(anna, job) == {"sofa"}
    for count in range(5):
        anna.add(job, name=f"new {count}")
    assert anna.ask("POST", f"/v1/jobs/{job}/items/{sofa}/notes", {"text": "stain"})[0] == 201

    report = restore(anna, path)
    assert report["isOwn"] and report["restored"][0]["forks"] == 1 and report["leftOut"] == [], report
    everything = {"sofa"} | {f"lost {count}" for count in range(3)} | {f"new {count}" for count in range(5)}
    assert names(anna, job) == everything
    remarks = sorted(anna.get(f"/v1/jobs/{job}/items/{sofa}")["notes"])
    assert remarks == ["scratch 0", "scratch 1", "scratch 2", "stain"]
    held = anna.digest(job)
    again = restore(anna, path)
    assert anna.digest(job) == held, f"a second restore writes nothing twice: {again}"
    anna.stop()
    journals(anna)
    bert = solos("bert").start()
    anna.start("--peer", bert.address)
    wait_agreed([anna, bert], job)
    assert names(bert, job) == everything


def test_nothing_that_was_written_or_removed_since_is_undone(solos):
    anna = solos("anna").start()
    job, over = anna.create_job(), anna.create_job("Over")
    kept, gone = anna.add(job, name="kept"), anna.add(job, name="gone")
    anna.add(over, name="of a job that ends")
    path = backup(anna)
    assert anna.ask("PATCH", f"/v1/jobs/{job}/items/{kept}", {"fields": {"room": "Attic"}})[0] == 200
    assert anna.ask("DELETE", f"/v1/jobs/{job}/items/{gone}")[0] == 200
    assert anna.ask("DELETE", f"/v1/jobs/{over}?confirmed=true")[0] == 200
    held = content(anna)
    done = anna.muster("restore", path)
    assert done.returncode == 0 and "here already" in done.stdout, done
    assert content(anna) == held and names(anna, job) == {"kept"}
    assert anna.items(job)[kept]["fields"]["room"] == "Attic"


def test_a_job_that_ended_in_the_backup_goes_on_where_it_goes_on(solos):
    bert = solos("bert").start()
    anna = solos("anna").start("--peer", bert.address)
    job = anna.create_job()
    anna.add(job, name="sofa")
    wait_agreed([anna, bert], job)
    bert.stop()
    assert anna.ask("DELETE", f"/v1/jobs/{job}?confirmed=true")[0] == 200
    path = backup(anna)
    anna.stop()
    bert.start()
    bert.add(job, name="lamp")
    done = bert.muster("restore", path)
    assert done.returncode == 0 and "had ended in the backup" in done.stdout.replace("\n", " "), done
    assert names(bert, job) == {"sofa", "lamp"}


def test_requests_that_only_the_backup_has_are_named_and_asked_for_again(solos):
    anna = solos("anna").start("--server", "https://127.0.0.1:1")
    job = anna.create_job()
    anna.make(f"/v1/jobs/{job}/state", {"state": "dispatched"})
    waiting = {entry["token"] for entry in anna.get("/v1/queue")}
    assert waiting
    path = backup(anna)
    anna.kill()
    bert = solos("bert").start("--server", "https://127.0.0.1:1")
    report = restore(bert, path)
    assert {request["token"] for request in report["requests"]} == waiting
    assert {entry["token"] for entry in bert.get("/v1/queue")} >= waiting or bert.get(f"/v1/jobs/{job}")["state"]["pending"]


def secrets(state):
    """What of a laptop's key files is no name or date: their lines of base64, decoded and not."""
    found = []
    with open(os.path.join(state, "device.key"), "rb") as file:
        lines = [line for line in file.read().split(b"\n") if line and not line.startswith(b"-")]
    found += lines
    found.append(base64.b64decode(b"".join(lines))[-32:])
    return found


def test_the_laptops_key_is_not_in_it(solos):
    anna = solos("anna").start()
    anna.add(anna.create_job(), name="sofa")
    with open(backup(anna), "rb") as file:
        content = file.read()
    assert b"sofa" in content
    for secret in secrets(anna.state):
        assert secret not in content


def test_a_file_that_is_there_is_not_overwritten_unless_that_is_meant(solos):
    anna = solos("anna").start()
    path = os.path.join(solos.directory, "precious")
    with open(path, "w", encoding="utf-8") as file:
        file.write("precious")
    done = anna.muster("backup", path)
    assert done.returncode == 65 and "--force" in done.stderr, done
    with open(path, encoding="utf-8") as file:
        assert file.read() == "precious"
    assert anna.muster("backup", path, "--force").returncode == 0
    with open(path, "rb") as file:
        assert file.read(15) == b"SQLite format 3"
    assert not parts(solos.directory)


def test_a_backup_of_another_fleet_is_refused(solos, build_directory):
    anna = solos("anna").start()
    anna.add(anna.create_job(), name="sofa")
    path = backup(anna)
    other = Fleet(build_directory)
    try:
        stranger = solos("stranger").launch()
        wait_until(stranger.answers, PATIENCE_SECONDS, "it answers")
        alone = stranger.muster("restore", path, "--yes")
        assert alone.returncode == 65 and "in no fleet" in alone.stderr, alone
        other.enrol(stranger.socket)
        refused = stranger.muster("restore", path, "--yes")
        assert refused.returncode == 65 and "has not let in" in refused.stderr, refused
        assert stranger.get("/v1/jobs") == []
    finally:
        other.end()


def test_a_laptop_without_a_fleet_has_its_own_back(solos):
    anna = solos("anna").launch()
    wait_until(anna.answers, PATIENCE_SECONDS, "it answers")
    job = anna.create_job()
    anna.add(job, name="sofa")
    path = backup(anna)
    anna.stop()
    lose_everything(anna)
    anna.launch()
    wait_until(anna.answers, PATIENCE_SECONDS, "it answers")
    report = restore(anna, path)
    assert report["leftOut"] == []
    assert names(anna, job) == {"sofa"}
    restore(anna, path)
