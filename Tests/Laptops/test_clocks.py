"""Laptops whose clocks are wrong: they meet and agree all the same, each journal stays in order, and the edit that was
made last in true time wins.
"""

import itertools
import sqlite3
import struct
import subprocess
import sys
import time
from datetime import datetime, timedelta

import pytest
from clocks import (
    PRECISION_MILLISECONDS,
    Crew,
    WallClock,
    milliseconds,
    preload,
    true_milliseconds,
    wait_synchronised,
)
from lab import free_port, wait_until
from protobuf import read_varint
from solo import PATIENCE_SECONDS, wait_agreed
from time_server import TimeServer

# Three hours ahead, two days behind, and one that was right and gains 200 parts per million.
WRONG = {"anna": "+3h", "bert": "-2d", "cleo": "+0 x1.0002"}
OTHERWISE_WRONG = {"anna": "-7d", "bert": "+2h", "cleo": "+30d x1.0002"}
ORDERS = list(itertools.permutations(WRONG))
# Between two edits: more than clocks on one machine can be apart once they have told each other the time. What two that meet
# learn is as exact as the first answer was quick: half of its way, which on a busy machine was 43 ms.
PAUSE_SECONDS = 0.1


def off_by(offset, peer):
    """A program with this environment sees another time of day; timers are left alone.

    It must have no flags: the library changes the environment before the program begins, and Swift finds the arguments
    of a program by where its environment is.
    """
    clock = {"LD_PRELOAD": preload(), "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    return {**clock, "MUSTER_PEERS": peer.address}


def stamps(daemon):
    """The milliseconds and counters of each journal's changes, in their sequence, from a store that is not in use."""
    database = sqlite3.connect(f"file:{daemon.store}?mode=ro", uri=True)
    journals = {}
    for replica, run in database.execute("SELECT replica, bytes FROM segment ORDER BY replica, last"):
        position = 0
        while position < len(run):
            length, position = read_varint(run, position)
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


# Twice, a second apart, the wall clock and the elapsed one: of many readings the one that was interrupted least.
READ_CLOCKS = """
import time
def read():
    before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    wall = time.clock_gettime_ns(time.CLOCK_REALTIME)
    after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return after - before, wall, (before + after) // 2
for _ in range(2):
    print(*min(read() for _ in range(200))[1:])
    end = time.clock_gettime(time.CLOCK_BOOTTIME) + 1
    while time.clock_gettime(time.CLOCK_BOOTTIME) < end:
        pass
"""


def test_the_fault_is_a_wrong_wall_clock_and_nothing_else(tmp_path):
    for setting, offset_seconds, gain in (("+3h", 10_800, 0), ("-2d", -172_800, 0), ("+0 x1.0002", 0, 200e-6)):
        clock = WallClock(tmp_path, "anna", setting)
        command = [sys.executable, "-c", READ_CLOCKS]
        seen = subprocess.run(command, env=clock.environment, capture_output=True, text=True, check=True)
        (wall, elapsed), (later_wall, later_elapsed) = (map(int, line.split()) for line in seen.stdout.splitlines())
        assert abs(wall / 1e9 - time.time() - offset_seconds) < 5
        assert abs(elapsed / 1e9 - time.clock_gettime(time.CLOCK_BOOTTIME)) < 5
        passed = later_elapsed - elapsed
        assert abs((later_wall - wall - passed) / passed - gain) < 100e-6


def name_jobs_in_every_order(crew):
    """Everybody names the same jobs while apart, in another order each; nobody needs to have met for that."""
    for order in ORDERS:
        for name in order:
            crew[name].make("/v1/jobs", {"id": "named-by-" + "-".join(order), "name": name})
            time.sleep(PAUSE_SECONDS)


def have_the_same(crew, job):
    vectors = [member.vector(job) for member in crew]
    return len(vectors[0]) == len(vectors) and all(vector == vectors[0] for vector in vectors)


def assert_the_last_name_won(crew):
    for order in ORDERS:
        job = "named-by-" + "-".join(order)
        # The digest is that of the items, and there are none.
        wait_until(lambda: have_the_same(crew, job), PATIENCE_SECONDS, f"all have everything of {job}")
        for member in crew:
            changes = member.get(f"/v1/jobs/{job}/log")
            # Who has a server also asks it to open the job.
            log = [change["byName"] for change in changes if change["action"] != "decided"]
            assert log == list(order), f"{member.name} shows {log} for {order}"
            assert member.get(f"/v1/jobs/{job}")["name"] == order[-1], f"{order} on {member.name}"


def set_fields_in_every_order(crew, job, item):
    """Everybody sets the same fields while apart, a field per order."""
    for number, order in enumerate(ORDERS):
        for name in order:
            status, _ = crew[name].ask(
                "PATCH", f"/v1/jobs/{job}/items/{item}", {"fields": {f"field-{number}": name}})
            assert status == 200
            time.sleep(PAUSE_SECONDS)


def assert_the_last_value_won(crew, job, item):
    wait_agreed(crew, job)
    for number, order in enumerate(ORDERS):
        for member in crew:
            value = member.items(job)[item]["fields"][f"field-{number}"]
            assert value == order[-1], f"{order} on {member.name}"


def assert_wrong(crew):
    """The daemons' wall clocks were as they were set when they started."""
    assert abs(crew.wall_error_seconds("anna") - 3 * 3600) < 60
    assert abs(crew.wall_error_seconds("bert") + 2 * 86400) < 60
    assert abs(crew.wall_error_seconds("cleo")) < 60


def change_clocks_in_mid_session(crew):
    """Sets all wall clocks otherwise while the daemons run, and asserts that they notice and keep their time."""
    before = {name: crew.clock(name) for name in WRONG}
    for name, setting in OTHERWISE_WRONG.items():
        crew.clocks[name].set(setting)
    for name, shift_days in (("anna", -7 - 1 / 8), ("bert", 2 + 2 / 24), ("cleo", 30)):
        clock = crew.clock(name)
        passed = milliseconds(clock["time"]) - milliseconds(before[name]["time"])
        assert abs(passed) < 10_000, f"{name} keeps its time"
        if clock["driftMilliseconds"] is not None:
            shift = clock["driftMilliseconds"] - before[name]["driftMilliseconds"]
            assert abs(shift - shift_days * 86_400_000) < 60_000, f"{name} has another wall clock"
    assert sum(crew.clock(name)["driftMilliseconds"] is not None for name in WRONG) >= 2


# Who meets whom, and who then meets one of them. The laptop that is ahead, behind or neither comes last.
MEETINGS = [
    (("cleo", "bert"), ("anna", "bert")), (("bert", "cleo"), ("cleo", "anna")), (("anna", "cleo"), ("bert", "cleo")),
    (("cleo", "anna"), ("anna", "bert")), (("anna", "bert"), ("cleo", "bert")), (("bert", "anna"), ("anna", "cleo")),
]


@pytest.mark.parametrize("meetings", MEETINGS, ids=lambda meetings: "-then-".join("+".join(pair) for pair in meetings))
def test_in_whatever_order_laptops_meet_the_edit_made_last_wins(build_directory, meetings):
    with Crew(build_directory, WRONG) as crew:
        for name in WRONG:
            crew.start(name)
        name_jobs_in_every_order(crew)
        for name, other in meetings:
            crew.connect(name, other)
            wait_until(lambda: other in crew[name].connected(), PATIENCE_SECONDS, f"{name} meets {other}")
        assert_the_last_name_won(crew)


def test_without_a_server_the_edit_made_last_wins(build_directory):
    with Crew(build_directory, WRONG) as crew:
        for name in WRONG:
            crew.start(name)
        assert_wrong(crew)
        name_jobs_in_every_order(crew)
        for name in WRONG:
            clock = crew.clock(name)
            assert (clock["source"], clock["isSynchronised"]) == ("none", False)
            assert "knows no other clock" in crew[name].muster("clock").stdout
            assert "unsynchronised" in crew[name].muster("status").stdout
        # The first that meets anna takes her to its time, or comes to hers, and what they wrote with them; then the other.
        crew.connect("bert", "anna")
        crew.connect("cleo", "anna")
        wait_until(lambda: len(crew["anna"].connected()) == 2, PATIENCE_SECONDS, "all have met anna")
        assert_the_last_name_won(crew)

        # They know each other's time from now on, however their wall clocks are set, apart or not.
        job = crew["anna"].create_job()
        item = crew["anna"].add(job, name="Sofa")
        wait_until(lambda: all(item in member.items(job) for member in crew), PATIENCE_SECONDS, "all have the item")
        change_clocks_in_mid_session(crew)
        for name in WRONG:
            crew.start(name)
        set_fields_in_every_order(crew, job, item)
        crew.connect("cleo", "bert")
        crew.connect("bert", "anna")
        assert_the_last_value_won(crew, job, item)
        assert not any(crew.clock(name)["isSynchronised"] for name in WRONG)


def assert_true_time(crew):
    for name in WRONG:
        clock = crew.clock(name)
        assert abs(milliseconds(clock["time"]) - true_milliseconds()) < PRECISION_MILLISECONDS, name
        assert clock["uncertaintyMilliseconds"] < PRECISION_MILLISECONDS, name


def test_with_a_server_the_edit_made_last_wins(build_directory):
    port = free_port()
    with Crew(build_directory, WRONG) as crew:
        for name in WRONG:
            crew.start(name, server_url=f"https://127.0.0.1:{port}")
        assert_wrong(crew)
        name_jobs_in_every_order(crew)
        assert crew.clock("anna")["source"] == "none"
        # What was written without the time is put right before anybody has seen it.
        with TimeServer(crew.fleet, port=port) as server:
            wait_synchronised(crew, WRONG, "server")
            assert server.asked >= 3
            assert_true_time(crew)
        crew.connect("bert", "anna")
        crew.connect("cleo", "anna")
        assert_the_last_name_won(crew)
        log = crew["cleo"].get(f"/v1/jobs/{'named-by-' + '-'.join(ORDERS[0])}/log")
        assert all(0 < true_milliseconds() - milliseconds(entry["at"]) < 60_000 for entry in log)

        job = crew["anna"].create_job()
        item = crew["anna"].add(job, name="Sofa")
        wait_until(lambda: all(item in member.items(job) for member in crew), PATIENCE_SECONDS, "all have the item")
        # A wall clock that jumps in mid-session changes no stamp.
        change_clocks_in_mid_session(crew)
        for count, name in enumerate([*WRONG, *WRONG]):
            asked = true_milliseconds()
            path = f"/v1/jobs/{job}/items/{item}"
            assert crew[name].ask("PATCH", path, {"fields": {"room": f"{count}"}})[0] == 200
            at = milliseconds(crew[name].get(path)["fieldHistory"]["room"]["at"])
            assert abs(at - asked) < PRECISION_MILLISECONDS, name
            wait_agreed(crew, job)
        for name in WRONG:
            crew.start(name)
        set_fields_in_every_order(crew, job, item)
        crew.connect("bert", "anna")
        crew.connect("cleo", "anna")
        assert_the_last_value_won(crew, job, item)


def test_one_laptop_that_meets_the_server_is_enough(build_directory):
    with Crew(build_directory, WRONG) as crew, TimeServer(crew.fleet) as server:
        for name in WRONG:
            crew.start(name)
        assert_wrong(crew)
        name_jobs_in_every_order(crew)
        crew.start("bert", server_url=server.url)
        wait_synchronised(crew, ["bert"], "server")
        crew.connect("anna", "bert")
        crew.connect("cleo", "bert")
        wait_synchronised(crew, ["anna", "cleo"], "peer")
        assert [crew.clock(name)["stratum"] for name in ("anna", "bert", "cleo")] == [2, 1, 2]
        assert_true_time(crew)
        assert_the_last_name_won(crew)
        drift = crew.clock("cleo")["driftMilliseconds"]
        assert abs(crew.clock("anna")["driftMilliseconds"] - 3 * 3_600_000) < 1_000
        assert abs(drift) < 1_000


def test_a_laptop_whose_clock_began_in_1970_is_right_after_the_boot_that_follows(build_directory):
    with Crew(build_directory, {"anna": "@1970-01-01 00:00:05"}) as crew:
        anna = crew.start("anna")
        assert crew.clock("anna")["time"].startswith("2026-01-01"), "before that there was no such program"
        job = anna.create_job()
        anna.add(job, name="Sofa")
        crew.clocks["anna"].set("+0")
        crew.start("anna")
        assert crew.clock("anna")["time"].startswith("2026-01-01"), "the guess is kept for the rest of the boot"
        anna.stop()
        database = sqlite3.connect(anna.store)
        assert database.execute("UPDATE clock SET boot = 'the one before'").rowcount == 1
        database.commit()
        database.close()
        crew.start("anna")
        assert abs(milliseconds(crew.clock("anna")["time"]) - true_milliseconds()) < 10_000
        assert len(anna.items(job)) == 1
