"""`muster backup` and `muster restore` while daemons run: what was lost comes back, nothing that is here is lost, and what is no
backup changes nothing."""

import base64
import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess

import pytest
from backups import back_up, put_back_in_place
from lab import Fleet, wait_until
from solo import PATIENCE_SECONDS, journals, wait_agreed
from test_full_disk import SmallDisk

BIG = 60_000


def names(daemon, job):
    return {item["fields"]["name"] for item in daemon.items(job).values()}


def backup(daemon, name="copy.backup"):
    path = os.path.join(os.path.dirname(daemon.socket), name)
    done = daemon.muster("backup", path)
    assert done.returncode == 0, done
    return path


def restore(daemon, path, *flags, code=0):
    done = daemon.muster("restore", path, "--yes", "--json", *flags)
    assert done.returncode == code, done
    return json.loads(done.stdout)


def content(daemon):
    """All that the daemon holds, by job."""
    return {job["id"]: (daemon.digest(job["id"]), daemon.vector(job["id"])) for job in daemon.get("/v1/jobs")}


def parts(directory):
    return [name for name in os.listdir(directory) if name.endswith(".part")]


def lose_everything(daemon):
    """Its disk is a new one, so it has another key, too."""
    shutil.rmtree(daemon.state)
    os.mkdir(daemon.state)


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


def test_journals_that_have_parted_are_put_together(solos):
    """The store was set back so that nothing tells, and wrote on: two contents under one name, of which only the backup has one."""
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
    remarks = sorted(note["text"] for note in anna.get(f"/v1/jobs/{job}/items/{sofa}")["notes"])
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


def test_what_is_no_backup_or_a_damaged_one_changes_nothing(solos):
    anna = solos("anna").start()
    job = anna.create_job()
    for count in range(30):
        anna.add(job, name=f"sofa {count} " + "x" * 500)
    path = backup(anna)
    with open(path, "rb") as file:
        whole = file.read()
    bert = solos("bert").start()
    bert.add(bert.create_job("Of bert"), name="lamp")
    held = content(bert)
    damaged = {
        "nothing": b"",
        "text": b"This is a letter to the customer.\n" * 100,
        "half": whole[: len(whole) // 2],
        "all but its end": whole[:-4096],
        "a page of zeros": whole[:8192] + bytes(8192) + whole[16384:],
        "another database": None,
    }
    for name, bytes_ in damaged.items():
        bad = os.path.join(solos.directory, "bad.backup")
        if bytes_ is None:
            os.remove(bad)
            database = sqlite3.connect(bad)
            database.execute("CREATE TABLE store (device TEXT, replica TEXT)")
            database.commit()
            database.close()
        else:
            with open(bad, "wb") as file:
                file.write(bytes_)
        done = bert.muster("restore", bad, "--yes")
        assert done.returncode == 65 and "backup" in done.stderr, (name, done)
        assert content(bert) == held, name
    assert bert.muster("restore", os.path.join(solos.directory, "missing"), "--yes").returncode == 65


def test_a_change_that_its_author_has_not_signed_is_left_out_and_named(solos):
    """The file is a sound database, and one letter of a journal is another one."""
    anna = solos("anna").start()
    good, bad = anna.create_job("Good"), anna.create_job("Bad")
    anna.add(good, name="sofa")
    anna.add(bad, name="piano")
    path = backup(anna)
    database = sqlite3.connect(path)
    changed = 0
    for row, content in database.execute("SELECT rowid, bytes FROM segment").fetchall():
        if b"piano" in content:
            changed += 1
            database.execute("UPDATE segment SET bytes = ? WHERE rowid = ?", (content.replace(b"piano", b"pianX"), row))
    database.commit()
    database.close()
    assert changed == 1
    bert = solos("bert").start()
    report = restore(bert, path, code=65)
    assert [(left["job"], left["reason"]) for left in report["leftOut"]] == [(bad, "damaged")], report
    assert names(bert, good) == {"sofa"}
    assert "pianX" not in names(bert, bad)


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


def test_a_daemon_that_is_killed_while_it_hands_over_leaves_no_backup(solos):
    anna = solos("anna").start()
    job = anna.create_job()
    for count in range(150):
        anna.add(job, name=f"{count} " + "x" * BIG)
    directory = os.path.join(solos.directory, "stick")
    os.mkdir(directory)
    path = os.path.join(directory, "copy.backup")
    command = subprocess.Popen(anna.command("backup", path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    size = lambda: sum(os.path.getsize(os.path.join(directory, name)) for name in parts(directory))
    wait_until(lambda: size() > 0, PATIENCE_SECONDS, "it has begun")
    command.send_signal(signal.SIGSTOP)
    half = size()
    anna.kill()
    command.send_signal(signal.SIGCONT)
    _, said = command.communicate(timeout=PATIENCE_SECONDS)
    assert half < 150 * BIG, "it was in the midst of it"
    assert command.returncode in (69, 75) and said.count("\n") == 1, said
    assert os.listdir(directory) == [], "nothing stands there"
    anna.start()
    assert "transfer" not in os.listdir(anna.state), "the daemon's own copy is gone"
    assert anna.muster("backup", path).returncode == 0
    assert restore(anna, path)["restored"] == []


def test_a_command_that_is_stopped_leaves_nothing(solos):
    anna = solos("anna").start()
    job = anna.create_job()
    for count in range(150):
        anna.add(job, name=f"{count} " + "x" * BIG)
    directory = os.path.join(solos.directory, "stick")
    os.mkdir(directory)
    command = subprocess.Popen(
        anna.command("backup", os.path.join(directory, "copy.backup")), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # The daemon stands still, so that the command is in the midst of it.
    wait_until(lambda: parts(directory), PATIENCE_SECONDS, "it has begun")
    os.kill(anna.program.pid, signal.SIGSTOP)
    command.send_signal(signal.SIGINT)
    command.communicate(timeout=PATIENCE_SECONDS)
    os.kill(anna.program.pid, signal.SIGCONT)
    assert command.returncode == -signal.SIGINT
    assert os.listdir(directory) == []


def test_a_daemon_that_is_killed_while_it_takes_in_goes_on_with_the_same_backup(solos):
    anna = solos("anna").start()
    jobs = [anna.create_job(f"Job {count}") for count in range(150)]
    for job in jobs:
        anna.add(job, name="sofa")
    path = backup(anna)
    held = content(anna)
    anna.kill()
    bert = solos("bert").start()
    command = subprocess.Popen(bert.command("restore", path, "--yes"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    some = lambda: len(bert.get("/v1/jobs")) > 3
    while not some():
        assert command.poll() is None, command.communicate()
    bert.kill()
    _, said = command.communicate(timeout=PATIENCE_SECONDS)
    assert command.returncode == 69, said
    journals(bert)
    assert os.path.exists(os.path.join(bert.state, "transfer")), "it was in the midst of it"
    bert.start()
    assert not os.path.exists(os.path.join(bert.state, "transfer"))
    found = content(bert)
    assert 0 < len(found) < len(held) and all(held[job][0] == one[0] for job, one in found.items() if one[1] == held[job][1])
    report = restore(bert, path)
    assert report["leftOut"] == [] and content(bert) == held


def test_a_disk_without_room_is_told_and_the_inventory_goes_on(solos):
    anna = solos("anna")
    disk = SmallDisk(solos.directory, anna.state)
    try:
        bert = solos("bert").start()
        bert.add(bert.create_job(), name="lamp")
        path = backup(bert)
        anna.start(prefix=disk.prefix)
        job = anna.create_job("Of anna")
        for done in (anna.muster("backup", os.path.join(solos.directory, "none")), anna.muster("restore", path, "--yes")):
            assert done.returncode == 75 and "MiB free" in done.stderr, done
        assert not os.path.exists(os.path.join(solos.directory, "none"))
        anna.add(job, name="goes on")
        assert [found["name"] for found in anna.get("/v1/jobs")] == ["Of anna"]
    finally:
        anna.kill()
        disk.end()


def test_a_stick_without_room_gets_no_backup(solos):
    anna = solos("anna").start()
    job = anna.create_job()
    for count in range(150):
        anna.add(job, name=f"{count} " + "x" * BIG)
    stick = os.path.join(solos.directory, "stick")
    disk = SmallDisk(solos.directory, stick)
    try:
        command = [*disk.prefix, *anna.command("backup", os.path.join(stick, "copy.backup"))]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 75 and "cannot be written" in done.stderr, done
        assert os.listdir(disk.inside) == []
    finally:
        disk.end()
