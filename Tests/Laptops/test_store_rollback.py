"""`muster store rollback`: the store of before an upgrade is put back, and nothing that was written since vanishes unsaid."""

import json
import os
import shutil
import sqlite3
import subprocess

import pytest
from backups import back_up
from invitations import anna
from lab import never_during, surroundings, wait_until
from membership import QUIET_SECONDS, lea_and_bert, unassign
from revoking import enlist
from screen import Screen
from solo import PATIENCE_SECONDS, journals, wait_agreed
from test_full_disk import SmallDisk
from unprivileged import Person
from upgrades import layout, make_newer, make_older, snapshots, upgrade

DECLINED = 1
USAGE = 64
BAD_DATA = 65
TRY_AGAIN = 75


def rollback(daemon, *arguments, prefix=()):
    command = [*prefix, *daemon.command("store", "rollback", "--state-dir", daemon.state, *arguments)]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=surroundings())


def names(daemon, job):
    return {item["fields"]["name"] for item in daemon.items(job).values()}


def test_what_was_written_since_is_told_kept_and_brought_back_by_others(solos):
    bert = solos("bert").start()
    anna = solos("anna").start("--peer", bert.address)
    job = anna.create_job("Smith")
    anna.add(job, name="before")
    wait_agreed([anna, bert], job)
    assert anna.stop() == 0
    # An upgrade, and a day's work with the newer program.
    upgrade(anna, "99.1.0")
    anna.start("--peer", bert.address)
    former = anna.replica()
    for count in range(3):
        anna.add(job, name=f"since {count}")
    bert.add(job, name="of bert")
    wait_agreed([anna, bert], job)
    assert anna.stop() == 0
    anna.start()
    anna.add(job, name="only here")
    own = anna.create_job("Jones")
    anna.add(own, name="a lamp")
    newest = names(anna, job) | names(anna, own)

    running = rollback(anna, "--yes")
    assert running.returncode == TRY_AGAIN and "Another musterd uses" in running.stderr
    assert anna.stop() == 0
    held = journals(anna)
    asked = rollback(anna)
    assert asked.returncode == USAGE and "add --yes" in asked.stderr and asked.stdout == ""
    for word in ("99.1.0", "Smith: ", "Jones: ", "nobody else is known to hold", "of others"):
        assert word in asked.stderr, asked.stderr
    assert journals(anna) == held and snapshots(anna) == ["muster.sqlite-before-99.1.0"]

    done = rollback(anna, "--yes", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    jobs = {one["name"]: one for one in report["jobs"]}
    assert report["version"] == "99.1.0" and report["kept"] == f"{anna.store}-after-99.1.0"
    assert jobs["Smith"]["id"] == job and jobs["Smith"]["own"] == 4 and jobs["Smith"]["received"] >= 1
    assert jobs["Smith"]["unheld"] >= 1 and jobs["Jones"]["unheld"] == jobs["Jones"]["own"] > 0
    assert snapshots(anna) == [] and os.stat(report["kept"]).st_mode & 0o777 == 0o600

    anna.start()
    assert anna.replica() != former, "a new replica (rule R9)"
    assert names(anna, job) == {"before"} and names(anna, own) == set()
    anna.add(job, name="after the rollback")
    assert anna.stop() == 0
    anna.start("--peer", bert.address)
    everything = {"before", "since 0", "since 1", "since 2", "of bert", "after the rollback"}
    for daemon in (anna, bert):
        wait_until(lambda: names(daemon, job) == everything, PATIENCE_SECONDS, f"{daemon.name} has everything")
    wait_agreed([anna, bert], job)
    assert anna.stop() == 0 and bert.stop() == 0
    assert journals(anna) == journals(bert), "no journal is forked"

    # What nobody else had is where it was said to be.
    kept = solos("kept")
    os.rmdir(kept.state)
    back_up(anna, kept.state)
    shutil.copy(report["kept"], kept.store)
    # A log that lies beside would be taken for this one's.
    for suffix in ("-wal", "-shm"):
        if os.path.exists(kept.store + suffix):
            os.remove(kept.store + suffix)
    kept.start()
    assert names(kept, job) | names(kept, own) == newest


def test_a_store_that_the_program_cannot_read_is_put_aside(solos):
    anna = solos("anna").start()
    job = anna.create_job()
    anna.add(job, name="before")
    assert anna.stop() == 0
    known = layout(anna.store)
    make_newer(anna, "99.1.0")
    done = rollback(anna, "--yes")
    assert done.returncode == 0 and "systemctl start musterd" in done.stdout, done.stderr
    assert layout(anna.store) == known
    assert layout(f"{anna.store}-after-99.1.0") == [*known, "of next year 1"]
    anna.start()
    assert names(anna, job) == {"before"}


def test_the_program_that_has_upgraded_says_that_it_would_do_so_again(solos):
    anna = solos("anna").start()
    job = anna.create_job()
    anna.add(job, name="before")
    assert anna.stop() == 0
    make_older(anna)
    older = layout(anna.store)
    anna.start()
    replica = anna.replica()
    anna.add(job, name="since")
    assert anna.stop() == 0
    done = rollback(anna, "--yes")
    assert done.returncode == 0 and "would upgrade it again" in done.stdout, done
    assert layout(anna.store) == older and snapshots(anna) == []
    anna.start()
    assert names(anna, job) == {"before"} and anna.replica() != replica
    assert len(snapshots(anna)) == 1, "it was copied again"


@pytest.mark.parametrize("answer", ["n", "y"])
def test_a_person_is_asked(solos, answer):
    anna = solos("anna").start()
    assert anna.stop() == 0
    make_newer(anna, "99.1.0")
    with Screen(anna, "store", "rollback", "--state-dir", anna.state, environment=surroundings()) as screen:
        screen.read_until("Go back? [y/N] ")
        screen.type(f"{answer}\n")
        assert screen.wait() == (DECLINED if answer == "n" else 0), screen.shown
    assert ("of next year 1" in layout(anna.store)) == (answer == "n")
    assert os.path.exists(f"{anna.store}-before-99.1.0") == (answer == "n")


@pytest.mark.parametrize("what", ["never upgraded", "no copy", "half a copy", "an empty copy"])
def test_there_is_nothing_to_go_back_to(solos, what):
    anna = solos("anna").start()
    assert anna.stop() == 0
    if what != "never upgraded":
        make_newer(anna, "99.1.0")
        copy = f"{anna.store}-before-99.1.0"
        if what == "half a copy":
            os.rename(copy, f"{copy}.part")
        elif what == "an empty copy":
            os.truncate(copy, 0)
        else:
            os.remove(copy)
    held = layout(anna.store)
    done = rollback(anna, "--yes")
    assert done.returncode == BAD_DATA and done.stdout == "" and done.stderr.count("\n") == 1, done
    words = {"never upgraded": "never upgraded", "an empty copy": "is damaged"}.get(what, "is not there any more")
    assert words in done.stderr, done.stderr
    assert layout(anna.store) == held


def test_no_store_at_all(solos):
    anna = solos("anna")
    done = rollback(anna, "--yes")
    assert done.returncode == USAGE and "There is no store in" in done.stderr and os.listdir(anna.state) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_what_root_puts_back_stays_the_daemons_own(build_directory, solos):
    """The daemon's user has to be able to open it afterwards; somebody else may not do it at all."""
    with Person(build_directory) as person:
        anna = solos("anna", state=str(person.home / "state")).start()
        assert anna.stop() == 0
        make_newer(anna, "99.1.0")
        owner = os.stat(person.home)
        for name in os.listdir(anna.state):
            os.chown(os.path.join(anna.state, name), owner.st_uid, owner.st_gid)
        os.chown(anna.state, owner.st_uid, owner.st_gid)
        anna._build_directory = str(person.programs)
        stranger = ["setpriv", "--reuid=65533", "--regid=65533", "--clear-groups"]
        os.chmod(anna.state, 0o700)
        refused = rollback(anna, "--yes", prefix=stranger)
        assert refused.returncode == 77 and "sudo" in refused.stderr, refused
        done = rollback(anna, "--yes")
        assert done.returncode == 0, done.stderr
        owners = {name: os.stat(os.path.join(anna.state, name)).st_uid for name in os.listdir(anna.state)}
        assert set(owners.values()) == {owner.st_uid}, owners


def test_who_was_taken_off_a_job_stays_off_it(solos):
    lea, bert, job = lea_and_bert(solos, is_off=False)
    assert bert.stop() == 0 and lea.stop() == 0
    upgrade(lea, "99.1.0")
    lea.start()
    unassign(lea, job, "bert")
    said = lea.get(f"/v1/jobs/{job}/assignments")
    assert lea.muster("queue", "pause").returncode == 0
    assert lea.stop() == 0
    done = rollback(lea, "--yes", "--json")
    assert done.returncode == 0 and "Nothing was written" not in done.stderr, done
    assert "What was said since then goes over: who is on which job, what is paused." in done.stderr, done
    assert json.loads(done.stdout)["taken"] == ["assignments", "pauses"] and json.loads(done.stdout)["lost"] == []
    lea.start()
    assert lea.get(f"/v1/jobs/{job}/assignments") == said
    assert lea.get("/v1/status")["queue"]["isPaused"]
    lea.add(job, name="secret")
    bert.start("--peer", lea.address)
    wait_until(lambda: bert.get(f"/v1/jobs/{job}")["membership"] == "off", PATIENCE_SECONDS, "bert hears of it")
    never_during(lambda: "secret" in names(bert, job), QUIET_SECONDS, "bert gets what is not for him")


def test_what_a_revoked_laptop_writes_later_is_late_work_after_a_rollback_too(solos, anna):
    """It comes by somebody who has not heard of the revocation."""
    bert = enlist(solos, anna, "bert", anna.address)
    cleo = enlist(solos, anna, "cleo", anna.address, bert.address)
    job = anna.create_job()
    wait_agreed([anna, bert, cleo], job)
    bert.add(job, name="of bert")
    wait_agreed([anna, bert, cleo], job)
    for daemon in (anna, bert, cleo):
        assert daemon.stop() == 0
    upgrade(anna, "99.1.0")
    anna.start()
    assert anna.muster("fleet", "revoke", "bert", "--yes").returncode == 0
    assert anna.stop() == 0
    done = rollback(anna, "--yes")
    assert done.returncode == 0 and "how far the work of revoked laptops counts" in done.stderr, done
    bert.start("--peer", cleo.address)
    cleo.start("--peer", bert.address)
    bert.add(job, name="of the thief")
    wait_agreed([bert, cleo], job)
    bert.kill()
    anna.start("--peer", cleo.address)
    cleo.add(job, name="of cleo")
    wait_until(lambda: "of cleo" in names(anna, job), PATIENCE_SECONDS, "anna has what cleo has")
    without = {"of bert", "of cleo"}
    wait_until(lambda: names(cleo, job) == without, PATIENCE_SECONDS, f"cleo hears of the cutoff: {cleo.log()}")
    assert names(anna, job) == without


@pytest.mark.parametrize("what", ["emptied", "emptied after a kill", "gone", "a directory", "another program's"])
def test_where_a_store_was_no_new_one_is_begun(solos, what):
    anna = solos("anna").start()
    job = anna.create_job()
    anna.add(job, name="acknowledged")
    if what == "emptied after a kill":
        anna.kill()
    else:
        assert anna.stop() == 0
    kept = f"{anna.store}.aside"
    shutil.move(anna.store, kept)
    if what.startswith("emptied"):
        open(anna.store, "wb").close()
    elif what == "a directory":
        os.mkdir(anna.store)
    elif what == "another program's":
        database = sqlite3.connect(anna.store)
        with database:
            database.execute("CREATE TABLE store (id INTEGER, shop TEXT)")
        database.close()
    before = sorted((name, os.stat(os.path.join(anna.state, name)).st_size) for name in os.listdir(anna.state))
    anna.launch()
    wait_until(lambda: not anna.program.is_running, PATIENCE_SECONDS, "it ends")
    assert anna.program.process.returncode == BAD_DATA, anna.log()
    words = {"emptied": "is empty", "emptied after a kill": "muster.sqlite-wal", "gone": "is gone",
             "a directory": "is no file", "another program's": "another program's database"}[what]
    assert words in anna.log() and "Nothing was changed" in anna.log(), anna.log()
    done = rollback(anna, "--yes")
    assert done.returncode in (USAGE, BAD_DATA), done
    after = sorted((name, os.stat(os.path.join(anna.state, name)).st_size) for name in os.listdir(anna.state))
    assert after == before
    # Put back, it goes on.
    if what != "gone":
        (os.rmdir if what == "a directory" else os.remove)(anna.store)
    shutil.move(kept, anna.store)
    anna.start()
    assert names(anna, job) == {"acknowledged"}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_full_disk_is_named_and_both_stores_stay(solos):
    """What a killed daemon has left in its log has to go into the store, which takes room."""
    anna = solos("anna").start()
    job = anna.create_job()
    anna.add(job, name="before")
    assert anna.stop() == 0
    upgrade(anna, "99.1.0")
    anna.start()
    for count in range(30):
        anna.add(job, name=f"since {count} " + "x" * 2_000)
    held = names(anna, job)
    anna.kill()
    assert os.stat(f"{anna.store}-wal").st_size > 0
    kept = os.path.join(solos.directory, "kept")
    back_up(anna, kept)
    disk = SmallDisk(solos.directory, anna.state)
    try:
        shutil.copytree(kept, disk.inside, dirs_exist_ok=True)
        disk.fill()
        done = rollback(anna, "--yes", prefix=disk.prefix)
        assert done.returncode == TRY_AGAIN and "The disk is full" in done.stderr, done
        assert "Another program" not in done.stderr
        disk.free()
        anna.start(prefix=disk.prefix)
        assert names(anna, job) == held
        anna.kill()
        done = rollback(anna, "--yes", prefix=disk.prefix)
        assert done.returncode == 0, done
        anna.start(prefix=disk.prefix)
        assert names(anna, job) == {"before"}
    finally:
        anna.kill()
        disk.end()
