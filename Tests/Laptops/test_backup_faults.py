"""What happens to a backup, or to what is no backup, changes nothing by half: damage, `kill -9`, a full disk."""

import os
import signal
import sqlite3
import subprocess

from lab import wait_until
from restores import backup, content, names, parts, restore
from solo import PATIENCE_SECONDS, journals
from test_full_disk import SmallDisk

BIG = 60_000


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
        "all but a part of its last page": whole[:-1000],
        "a page of zeros": whole[:8192] + bytes(8192) + whole[16384:],
        # What it holds of a job would be passed over.
        "journals gone": "DELETE FROM journal",
        "a journal that ends elsewhere": "UPDATE journal SET sequence = sequence - 1",
        "a journal without an end": f"UPDATE journal SET sequence = {2**63 - 1}",
        "a job gone": "DELETE FROM job",
        "a job that ended and goes on": "UPDATE job SET isRemoved = 1",
        "another database": "DROP TABLE journal",
    }
    for name, wrong in damaged.items():
        bad = os.path.join(solos.directory, "bad.backup")
        with open(bad, "wb") as file:
            file.write(whole if isinstance(wrong, str) else wrong)
        if isinstance(wrong, str):
            database = sqlite3.connect(bad)
            database.execute(wrong)
            database.commit()
            database.close()
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


def test_a_backup_into_no_directory_is_a_mistake_and_not_a_thing_to_wait_for(solos):
    anna = solos("anna").start()
    for place in ("missing/copy.backup", "file/copy.backup", "x" * 256):
        open(os.path.join(solos.directory, "file"), "w").close()
        before = sorted(os.listdir(solos.directory))
        done = subprocess.run(
            anna.command("backup", os.path.join(solos.directory, place)), capture_output=True, text=True)
        assert done.returncode == 65 and "cannot be written" in done.stderr and "name another place" in done.stderr, done
        assert sorted(os.listdir(solos.directory)) == before


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
