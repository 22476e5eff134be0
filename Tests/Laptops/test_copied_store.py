"""Stores that were copied: put back from a backup, or cloned to a second laptop. Nothing is lost, no journal forks."""

import os

import pytest
from backups import back_up, put_back_as_new_files, put_back_in_place
from lab import wait_until
from solo import PATIENCE_SECONDS, journals, wait_agreed


def names(daemon, job):
    return {item["fields"]["name"] for item in daemon.items(job).values()}


@pytest.mark.parametrize("put_back", [put_back_in_place, put_back_as_new_files])
@pytest.mark.parametrize("when", ["alone", "at once"])
def test_a_store_is_put_back_from_a_backup(solos, put_back, when):
    """`alone`: it writes before it meets anybody who could tell it what it had been."""
    bert = solos("bert").start()
    anna = solos("anna").start("--peer", bert.address)
    job = anna.create_job()
    kept = anna.add(job, name="kept")
    anna.add(job, name="of the backup")
    wait_agreed([anna, bert], job)
    assert anna.stop() == 0
    back_up(anna, os.path.join(solos.directory, "backup"))

    anna.start("--peer", bert.address)
    former = anna.replica()
    anna.add(job, name="after the backup")
    assert anna.ask("PATCH", f"/v1/jobs/{job}/items/{kept}", {"fields": {"room": "Attic"}})[0] == 200
    bert.add(job, name="of bert")
    wait_agreed([anna, bert], job)
    assert anna.stop() == 0
    put_back(anna, os.path.join(solos.directory, "backup"))

    written = {f"after the restore {count}" for count in range(5)}
    if when == "alone":
        anna.start()
        assert "after the backup" not in names(anna, job), "the fault is there"
        for name in sorted(written):
            anna.add(job, name=name)
        anna.stop()
    anna.start("--peer", bert.address)
    if when == "at once":
        for name in sorted(written):
            anna.add(job, name=name)
    everything = {"kept", "of the backup", "after the backup", "of bert"} | written
    for daemon in (anna, bert):
        complete = lambda: names(daemon, job) == everything
        wait_until(complete, PATIENCE_SECONDS, f"{daemon.name} has everything: {anna.log()}")
    wait_agreed([anna, bert], job)
    assert anna.replica() != former, "it is a new replica"
    assert anna.items(job)[kept]["fields"]["room"] == "Attic"
    anna.add(job, name="at last")
    wait_until(lambda: "at last" in names(bert, job), PATIENCE_SECONDS, "bert has what it writes now")
    wait_until(lambda: anna.vector(job) == bert.vector(job), PATIENCE_SECONDS, "they hold the same journals")
    wait_agreed([anna, bert], job)
    assert anna.get(f"/v1/jobs/{job}/check")["isSame"]
    assert anna.stop() == 0 and bert.stop() == 0
    assert journals(anna) == journals(bert), "no journal is forked"


@pytest.mark.parametrize("in_place", [False, True], ids=["as copies are", "with one file number"])
def test_a_cloned_store_runs_on_two_laptops_at_once(solos, in_place):
    """Two daemons of one name write before they meet; a third has known it from before."""
    bert = solos("bert").start()
    anna = solos("anna").start("--peer", bert.address)
    job = anna.create_job()
    anna.add(job, name="before")
    wait_agreed([anna, bert], job)
    assert anna.stop() == 0
    former = journals(anna)
    clone = solos("clone")
    os.rmdir(clone.state)
    back_up(anna, clone.state)
    if in_place:
        forget_the_place(anna, clone)

    for daemon in (anna, clone):
        daemon.start()
        for count in range(5):
            daemon.add(job, name=f"of {daemon.name} {count}")
    devices = {daemon.get("/v1/status")["deviceID"] for daemon in (anna, clone)}
    assert len(devices) == 1, "they have one name, to begin with"
    assert anna.replica() != clone.replica() or in_place
    for daemon, other in ((anna, bert), (clone, anna)):
        daemon.make("/v1/peers", {"address": other.address})
    clone.make("/v1/peers", {"address": bert.address})
    # One of the two keeps the key. The other has a new one, and belongs to no fleet until it is let in.
    outside = lambda: [daemon for daemon in (anna, clone) if daemon.get("/v1/fleet")["fleetID"] is None]
    (newcomer,) = wait_until(outside, PATIENCE_SECONDS, "one of the two has a key of its own")
    newcomer.enrol()
    everything = {"before"} | {f"of {name} {count}" for name in ("anna", "clone") for count in range(5)}
    crew = (anna, clone, bert)
    for daemon in crew:
        complete = lambda: names(daemon, job) == everything
        wait_until(complete, PATIENCE_SECONDS, f"{daemon.name} has everything: {names(daemon, job)}\n{daemon.log()}")
    wait_agreed(crew, job)
    for daemon in crew:
        others = sorted(other.name for other in crew if other is not daemon)
        wait_until(lambda: daemon.connected() == others, PATIENCE_SECONDS, f"{daemon.name} is connected to {others}")
    assert len({daemon.get("/v1/status")["deviceID"] for daemon in crew}) == 3, "each has a name of its own"
    assert len({daemon.replica() for daemon in crew}) == 3
    for daemon in crew:
        daemon.add(job, name=f"at last, {daemon.name}")
    wait_until(lambda: len({str(daemon.vector(job)) for daemon in crew}) == 1, PATIENCE_SECONDS, "the same journals")
    wait_agreed(crew, job)
    assert len(names(anna, job)) == len(everything) + 3
    for daemon in crew:
        assert daemon.stop() == 0
    assert journals(anna) == journals(clone) == journals(bert)
    assert former.keys() <= journals(anna).keys(), "the journal of before is kept"


def forget_the_place(original, clone):
    """Gives the clone the file number that the original's store names, as two disks may number their files alike."""
    import sqlite3

    database = sqlite3.connect(clone.store)
    (place,) = database.execute("SELECT place FROM store").fetchone()
    machine = place.split(" ")[0]
    assert place.endswith(f" {os.stat(original.store).st_ino}")
    with database:
        database.execute("UPDATE store SET place = ?", (f"{machine} {os.stat(clone.store).st_ino}",))
    database.close()
