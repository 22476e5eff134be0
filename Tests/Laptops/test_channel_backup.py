"""The database of muster-channel: where its content stands, and copies of it while it is used."""

import os
import sqlite3
import subprocess
import threading

import pytest
from lab import shared_fleet
from newcomer import Identity
from office import Journal, Office

OPENING = {"lane": "state", "kind": "openJob", "payload": {"name": "Jones"}}


@pytest.fixture
def office(build_directory):
    with Office(build_directory) as office:
        yield office.join(shared_fleet(build_directory))


def open_job(office, number):
    status, answer = office.mutate(f"j{number}", number, **OPENING)
    assert status == 200 and answer["verdict"] == "accepted", answer


def upload(office, journal, *names):
    status, answer = office.ask("POST", "/v1/jobs/j0/journals", journal.add(*names))
    assert status == 200, answer


def test_after_a_clean_stop_everything_stands_in_the_database_file(office):
    office.start()
    for number in range(20):
        open_job(office, number)
    assert os.path.getsize(office.store + "-wal") > 100_000
    assert office.program.stop(30) == 0
    assert not os.path.exists(office.store + "-wal") or os.path.getsize(office.store + "-wal") == 0
    database = sqlite3.connect(f"file:{office.store}?immutable=1", uri=True)
    assert database.execute("SELECT count(*) FROM outcome").fetchone() == (20,)


def test_what_was_uploaded_last_is_acknowledged_when_the_server_stops(office):
    office.start()
    open_job(office, 0)
    journal = Journal("j0", office.author())
    for number in range(5):
        upload(office, journal, f"chair {number}")
    assert office.program.stop(30) == 0
    office.start()
    held = [entry["accepted"].get(journal.replica, 0) for entry in office.channel("j0")]
    assert max(held) == journal.sequence, held


def test_a_backup_under_load_is_whole_and_serves(office, build_directory):
    office.start()
    open_job(office, 0)
    journal = Journal("j0", office.author())
    ending = threading.Event()

    def write():
        number = 1
        while not ending.is_set():
            open_job(office, number)
            upload(office, journal, f"chair {number}")
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    copies = [os.path.join(office.directory, f"backup-{number}.sqlite") for number in range(8)]
    try:
        for copy in copies:
            office.muster_channel("backup", copy)
    finally:
        ending.set()
        writer.join(60)
    total = journal.sequence
    counts = []
    for copy in copies:
        assert os.stat(copy).st_mode & 0o777 == 0o600
        database = sqlite3.connect(copy)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        counts.append(database.execute("SELECT ifnull(max(sequence), 0) FROM journal WHERE replica = ?",
                                       (bytes.fromhex(journal.replica),)).fetchone()[0])
        database.close()
    assert counts == sorted(counts) and counts[0] < counts[-1] <= total, (counts, total)
    assert not [name for name in os.listdir(office.directory) if name.endswith(".part")]
    # It exists: refused, and left as it is.
    before = open(copies[0], "rb").read()
    with pytest.raises(subprocess.CalledProcessError) as failure:
        office.muster_channel("backup", copies[0])
    assert failure.value.returncode == 65 and "exists" in failure.value.stderr and open(copies[0], "rb").read() == before
    with pytest.raises(subprocess.CalledProcessError) as failure:
        office.muster_channel("backup", "/proc/backup.sqlite")
    assert failure.value.returncode == 77 and failure.value.stderr.count("\n") == 1
    # Put back, it serves.
    assert office.program.stop(30) == 0
    for suffix in ("-wal", "-shm"):
        if os.path.exists(office.store + suffix):
            os.remove(office.store + suffix)
    os.replace(copies[-1], office.store)
    office.start("--recover")
    held = office.get("/v1/jobs/j0/vector")["entries"]
    assert {entry["replica"]: entry["sequence"] for entry in held}[journal.replica] == counts[-1]
    assert office.program.stop(30) == 0


def test_a_backup_of_a_server_that_is_stopped_and_of_none(office):
    office.start()
    open_job(office, 0)
    assert office.program.stop(30) == 0
    copy = os.path.join(office.directory, "copy.sqlite")
    office.muster_channel("backup", copy)
    assert sqlite3.connect(copy).execute("SELECT count(*) FROM outcome").fetchone() == (1,)
    os.remove(office.store)
    with pytest.raises(subprocess.CalledProcessError) as failure:
        office.muster_channel("backup", copy + "2")
    assert failure.value.returncode == 65 and "no database" in failure.value.stderr
    assert not os.path.exists(copy + "2")


def test_the_document_of_the_api_is_served_to_everybody(office):
    office.start()
    office.member = Identity()
    status, document = office.ask("GET", "/v1/openapi.json")
    assert status == 200 and document["openapi"].startswith("3.1") and "/v1/openapi.json" in document["paths"]
