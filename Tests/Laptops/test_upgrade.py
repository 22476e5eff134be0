"""A newer program finds the store of an older one: it is copied, upgraded in one step, and systemd hears how far it is."""

import os
import shutil
import sqlite3
import subprocess

from backups import back_up
from lab import wait_until
from lab.waiting import wait_at_rest
from notices import Notices
from solo import PATIENCE_SECONDS, journals
from test_full_disk import SmallDisk
from upgrades import dump, layout, make_newer, make_older, snapshots, take_back

BAD_DATA = 65
TRY_AGAIN = 75


def version(build_directory):
    program = os.path.join(build_directory, "musterd")
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()


def with_items(daemon, count=30, remark=""):
    """Starts it, lets it write, and stops it. Returns the job and what is in it."""
    daemon.start()
    job = daemon.create_job()
    daemon.make(f"/v1/jobs/{job}/import", {"items": [{"fields": {"name": f"Box {n}{remark}"}} for n in range(count)]})
    items = daemon.items(job)
    assert len(items) == count
    assert daemon.stop() == 0
    return job, items


def test_an_older_store_is_copied_and_upgraded_and_systemd_hears_of_it(build_directory, solos):
    anna = solos("anna")
    job, items = with_items(anna)
    newest, before = layout(anna.store), journals(anna)
    steps = make_older(anna)
    with Notices(solos.directory) as notices:
        anna.start(environment=notices.environment)
        told = notices.read_all()
        ready = next(number for number, fields in enumerate(told) if "READY" in fields)
        progress = [fields for fields in told[:ready] if "Upgrading the store" in fields["STATUS"]]
        lines = [fields["STATUS"].removeprefix("Upgrading the store: ") for fields in progress]
        assert lines[0] == "snapshot 0 %" and "snapshot 100 %" in lines
        assert [line for line in lines if line.startswith("step")] == [f"step {n + 1} of {steps}" for n in range(steps)]
        # In microseconds; it comes with each line, so that no start is given up that goes on.
        assert all(int(fields["EXTEND_TIMEOUT_USEC"]) >= 60_000_000 for fields in progress)
        replica = anna.replica()
        assert anna.items(job) == items and anna.stop() == 0

        assert layout(anna.store) == newest
        (copy,) = snapshots(anna)
        assert copy == f"muster.sqlite-before-{version(build_directory)}"
        path = os.path.join(anna.state, copy)
        assert os.stat(path).st_mode & 0o777 == 0o600
        assert layout(path) == newest[:-steps]
        assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert {key[1] for key in before} == {key[1] for key in journals(anna)}, "it goes on under its name"

        notices.read_all()
        anna.start(environment=notices.environment)
        assert anna.replica() == replica
        assert not any("EXTEND_TIMEOUT_USEC" in fields for fields in notices.read_all()), "there was nothing to do"


def test_a_daemon_that_is_killed_at_any_step_of_an_upgrade_harms_nothing(solos):
    """It is stopped where it tells of each step, and killed there; the next one finds the older store, or the newer one."""
    anna = solos("anna")
    job, items = with_items(anna)
    newest, before = layout(anna.store), journals(anna)
    steps = make_older(anna)
    older = layout(anna.store)
    reached, number = [], 0
    while layout(anna.store) == older:
        number += 1
        assert number < 50
        with Notices(solos.directory) as notices:
            notices.fill()
            anna.launch(environment=notices.environment)
            # As many as it could tell; the next one waits for room.
            told = notices.wait_for(number, PATIENCE_SECONDS)
            wait_at_rest(anna.program, PATIENCE_SECONDS, "the daemon stands still")
            assert anna.program.is_running, anna.log()
            copies = snapshots(anna)
            anna.kill()
            told += notices.read_all()
            reached.append(told[-1]["STATUS"].removeprefix("Upgrading the store: "))
        if reached[-1] == "snapshot 0 %":
            assert any(name.endswith(".part") for name in copies), "it was killed in the midst of the copy"
        if reached[-1].startswith("step"):
            assert not any(name.endswith(".part") for name in copies)
            (copy,) = snapshots(anna)
            assert layout(os.path.join(anna.state, copy)) == older
        if reached[-1].startswith("step") and reached[-1] != f"step {steps} of {steps}":
            assert layout(anna.store) == older, "the kill came in the midst of the migrations"
        assert {key[1] for key in journals(anna)} == {key[1] for key in before}, "and the store is sound"
    wanted = {"snapshot 0 %", "snapshot 100 %"} | {f"step {n + 1} of {steps}" for n in range(steps)}
    assert wanted <= set(reached), reached

    assert layout(anna.store) == newest
    replica = sqlite3.connect(anna.store).execute("SELECT replica FROM store").fetchone()[0]
    anna.start()
    assert anna.replica() == replica and anna.items(job) == items
    assert anna.stop() == 0
    (copy,) = snapshots(anna)
    assert layout(os.path.join(anna.state, copy)) == older


def test_a_disk_without_room_for_the_copy_refuses_the_upgrade_and_changes_nothing(solos):
    anna = solos("anna")
    job, items = with_items(anna, 1000, "x" * 500)
    make_older(anna)
    backup = os.path.join(solos.directory, "backup")
    back_up(anna, backup)
    disk = SmallDisk(solos.directory, anna.state)
    try:
        shutil.copytree(backup, disk.inside, dirs_exist_ok=True)
        disk.fill()
        # Enough for opening it, and not for a copy.
        filler = os.path.join(disk.inside, "filler")
        os.truncate(filler, os.stat(filler).st_size - (256 << 10))
        anna.launch(prefix=disk.prefix)
        wait_until(lambda: not anna.program.is_running, PATIENCE_SECONDS, "it gives up")
        assert anna.program.process.returncode == TRY_AGAIN
        assert "no room for that" in anna.log() and "nothing was changed" in anna.log()
        assert {name for name in os.listdir(disk.inside) if "-before-" in name} == set()
        left = os.path.join(solos.directory, "left")
        shutil.copytree(disk.inside, left)
        assert dump(os.path.join(left, "muster.sqlite")) == dump(os.path.join(backup, "muster.sqlite"))
        disk.free()
        anna.start(prefix=disk.prefix)
        assert anna.items(job) == items
        anna.kill()
        assert "muster.sqlite-before-" in " ".join(os.listdir(disk.inside))
    finally:
        disk.end()


def test_an_older_program_names_both_versions_and_what_to_do(build_directory, solos):
    anna = solos("anna")
    with_items(anna)
    make_newer(anna, "99.1.0")
    with open(anna.store, "rb") as file:
        before = file.read()
    anna.launch()
    wait_until(lambda: not anna.program.is_running, PATIENCE_SECONDS, "it gives up")
    assert anna.program.process.returncode == BAD_DATA
    said = anna.log()
    assert said.count("\n") == 1 and "Muster 99.1.0" in said and f"this is {version(build_directory)}" in said
    assert "install that version again" in said and "'muster store rollback'" in said
    with open(anna.store, "rb") as file:
        assert file.read() == before


def test_the_servers_database_is_upgraded_and_refused_in_the_same_way(build_directory, office):
    assert office.program.stop(PATIENCE_SECONDS) == 0
    before = layout(office.store)
    take_back(office.store, "program 1")
    with Notices(office.directory) as notices:
        office.start(environment=notices.environment)
        told = [fields["STATUS"] for fields in notices.read_all() if "EXTEND_TIMEOUT_USEC" in fields]
        assert told[0] == "Upgrading the store: snapshot 0 %" and told[-1] == "Upgrading the store: step 1 of 1"
    assert office.program.stop(PATIENCE_SECONDS) == 0
    copy = f"{office.store}-before-{version(build_directory)}"
    assert layout(copy) == [name for name in layout(office.store) if name != "program 1"]
    assert set(layout(office.store)) == set(before)

    database = sqlite3.connect(office.store)
    with database:
        database.execute("INSERT INTO grdb_migrations VALUES ('of next year 1')")
    database.close()
    office.launch()
    wait_until(lambda: not office.program.is_running, PATIENCE_SECONDS, "it gives up")
    said = office.program.errors()
    assert office.program.process.returncode == BAD_DATA
    assert f"this is {version(build_directory)}" in said and copy in said and "muster-channel backup --help" in said
