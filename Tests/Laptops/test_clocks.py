"""Laptops whose clocks are wrong: they meet and agree all the same, and each journal stays in order.

Who wins an edit when clocks differ is not what this is about.
"""

import glob
import sqlite3
import struct
from datetime import datetime, timedelta

import pytest
from lab import wait_until
from solo import PATIENCE_SECONDS, Solos, wait_agreed

LIBRARY = next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), None)


@pytest.fixture
def solos(build_directory):
    assert LIBRARY, "libfaketime is missing: apt install faketime"
    with Solos(build_directory) as solos:
        yield solos


def off_by(offset, peer):
    """A program with this environment sees another time of day; timers are left alone.

    It must have no flags: the library changes the environment before the program begins, and Swift finds the arguments
    of a program by where its environment is.
    """
    clock = {"LD_PRELOAD": LIBRARY, "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    return {**clock, "MUSTER_PEERS": peer.address}


def stamps(daemon):
    """The milliseconds and counters of each journal's changes, in their sequence, from a store that is not in use."""
    database = sqlite3.connect(f"file:{daemon.store}?mode=ro", uri=True)
    journals = {}
    for replica, run in database.execute("SELECT replica, bytes FROM segment ORDER BY replica, last"):
        position = 0
        while position < len(run):
            length = shift = 0
            while True:
                byte = run[position]
                position += 1
                length |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            (stamp,) = struct.unpack(">Q", run[position + 16 : position + 24])
            journals.setdefault(bytes(replica).hex(), []).append(stamp)
            position += length
    database.close()
    return journals


def test_clocks_that_are_an_hour_ahead_and_two_days_behind(solos):
    anna, bert, cleo = solos("anna"), solos("bert"), solos("cleo")
    bert.start()
    anna.start(environment=off_by("+1h", bert))
    cleo.start(environment=off_by("-2d", bert))
    crew = (anna, bert, cleo)
    started = [datetime.fromisoformat(member.get("/v1/status")["startedAt"]) for member in crew]
    assert started[0] - started[1] > timedelta(minutes=59), "anna is ahead"
    assert started[1] - started[2] > timedelta(days=1), "cleo is behind"
    job = anna.create_job()
    wait_agreed(crew, job)
    for count in range(20):
        for member in crew:
            member.add(job, name=f"{member.name} {count}")
    wait_until(lambda: all(len(member.items(job)) == 60 for member in crew), PATIENCE_SECONDS, "all have everything")
    wait_agreed(crew, job)

    # One clock is put right, another one wrong: the journals go on from where they were.
    anna.stop(), cleo.stop()
    anna.start("--peer", bert.address)
    cleo.start(environment=off_by("-30d", bert))
    for member in crew:
        id = member.add(job, name=f"last of {member.name}")
        assert member.ask("PATCH", f"/v1/jobs/{job}/items/{id}", {"fields": {"room": "Attic"}})[0] == 200
        assert member.items(job)[id]["fields"]["room"] == "Attic"
    wait_until(lambda: all(len(member.items(job)) == 63 for member in crew), PATIENCE_SECONDS, "all have everything")
    wait_until(lambda: len({str(member.vector(job)) for member in crew}) == 1, PATIENCE_SECONDS, "the same journals")
    wait_agreed(crew, job)
    replicas = {member.name: member.replica() for member in crew}
    for member in crew:
        assert member.stop() == 0
    held = [stamps(member) for member in crew]
    assert held[0] == held[1] == held[2]
    for name, replica in replicas.items():
        journal = held[0][replica]
        assert len(journal) > 20 and all(earlier < later for earlier, later in zip(journal, journal[1:])), name
