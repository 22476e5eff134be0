"""musterd killed while it learns the time, removes a job, frees what is left of it, or while late work is decided: what was
acknowledged stays, what was removed stays away and is freed, and every journal is whole."""

import contextlib
import http.client
import os
import random
import shutil
import sqlite3
import tempfile
import threading
import time

import pytest
from clocks import Crew, milliseconds, true_milliseconds
from lab import wait_until
from solo import PATIENCE_SECONDS, Solos, is_freed, journals, rows_left, wait_agreed
from stranger import wait_for_log
from time_server import TimeServer

KILLS = int(os.environ.get("MUSTER_KILLS") or 8)
UNSEEN = 150
LATE = 60
# So many that they are not freed in one step.
ITEMS = 4_000


@pytest.fixture
def chance():
    seed = int(os.environ.get("MUSTER_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"seed {seed} (MUSTER_SEED={seed} repeats the choices)")
    return random.Random(seed)


@contextlib.contextmanager
def copied(daemon):
    """The store of a daemon that was killed, as a copy: the daemon itself takes up what its log of writes holds."""
    with tempfile.TemporaryDirectory(prefix="muster-copy-") as directory:
        for suffix in ("", "-wal"):
            if os.path.exists(daemon.store + suffix):
                shutil.copy(daemon.store + suffix, os.path.join(directory, "copy" + suffix))
        with contextlib.closing(sqlite3.connect(os.path.join(directory, "copy"))) as database:
            yield database


def start_with_a_guess(crew):
    """As after another boot: nothing is known of the time but what the wall clock says."""
    anna = crew["anna"]
    anna.stop()
    with contextlib.closing(sqlite3.connect(anna.store)) as database, database:
        database.execute("DELETE FROM clock")
    crew.start("anna")
    assert not crew.clock("anna")["isSynchronised"]


def names(laptop, job):
    return sorted(item["fields"].get("name", "") for item in laptop.items(job).values())


def latest_milliseconds(laptop, job):
    return max(milliseconds(entry["at"]) for entry in laptop.get(f"/v1/jobs/{job}/log"))


def test_killed_while_it_learns_the_time(build_directory, chance):
    learned, reach_seconds = [], 0.2
    with Crew(build_directory, {"anna": "+3h"}) as crew, TimeServer(crew.fleet) as server:
        anna = crew.start("anna")
        job = anna.create_job()
        expected = []
        for round in range(4 * KILLS):
            if round >= KILLS and len(set(learned)) == 2:
                break
            start_with_a_guess(crew)
            batch = [f"{round}-{number}" for number in range(UNSEEN)]
            anna.make(f"/v1/jobs/{job}/import", {"items": [{"fields": {"name": name}} for name in batch]})
            expected += batch
            assert latest_milliseconds(anna, job) > true_milliseconds() + 3_000_000
            anna.stop()
            anna.launch(environment={**crew.clocks["anna"].environment, "MUSTER_SERVER": server.url})
            if round % 2:
                wait_for_log(anna, "the time was learned")
                # Sleeps: it is killed at another moment each time.
                time.sleep(chance.uniform(0, 0.06))
            else:
                # Sleeps: around the moment in which it learns it, however fast this machine is.
                time.sleep(chance.uniform(0, reach_seconds))
            anna.kill()
            journals(anna)
            with copied(anna) as database:
                (stratum,) = database.execute("SELECT stratum FROM clock").fetchone() or (16,)
                (unseen,) = database.execute("SELECT count(*) FROM unseen").fetchone()
            learned.append(stratum < 15)
            if round % 2 == 0:
                reach_seconds *= 0.7 if learned[-1] else 1.4
            assert learned[-1] == (unseen == 0), "the time and the work are learned together or not at all"
            crew.start("anna", server_url=server.url)
            is_right = lambda: latest_milliseconds(anna, job) < true_milliseconds()
            wait_until(is_right, PATIENCE_SECONDS, "all is in the true time")
            assert names(anna, job) == sorted(expected)
    print(f"{learned.count(False)} kills before it had learned the time, {learned.count(True)} after")
    assert True in learned and False in learned


def ask_and_kill(daemon, chance, unanswered, method, path, body=None):
    """Has a request carried out while the daemon is killed; asks once more if it died without an answer."""
    # An answer takes a millisecond or two: half of the kills come within those.
    killer = threading.Timer(chance.uniform(0, chance.choice((0.002, 0.03))), daemon.kill)
    killer.start()
    try:
        status, answer = daemon.ask(method, path, body)
        assert status == 200, answer
        is_answered = True
    except (OSError, http.client.HTTPException, ValueError):
        unanswered.append(path)
        is_answered = False
    killer.join()
    journals(daemon)
    daemon.start()
    if not is_answered:
        status, answer = daemon.ask(method, path, body)
        # It may have been done before it died; then a removed job, or a decided change, says so.
        assert status == 200 or answer["code"] in ("jobRemoved", "unknownChange"), answer


def kill_and_count(daemon, chance, within_seconds):
    """Kills it within that time; returns how many rows it leaves that are to be freed."""
    # Sleeps: it is killed at another moment each time.
    time.sleep(chance.uniform(0, within_seconds))
    daemon.kill()
    journals(daemon)
    with copied(daemon) as database:
        return rows_left(database)


def fill(daemon, job, names):
    for first in range(0, len(names), 1_000):
        items = [{"fields": {"name": name}} for name in names[first : first + 1_000]]
        daemon.make(f"/v1/jobs/{job}/import", {"items": items})


def late(daemon, job):
    return [change["id"] for change in daemon.get(f"/v1/jobs/{job}/late")]


def test_killed_while_a_job_is_removed_and_freed_and_its_late_work_is_decided(build_directory, chance):
    unanswered, interrupted = [], 0
    with Solos(build_directory) as solos:
        anna, bert = solos("anna").start(), solos("bert")
        kept = anna.create_job("Kept")
        anna.add(kept, name="Sofa")
        rounds = max(3, KILLS // 3)
        for round in range(rounds):
            bert.start("--peer", anna.address)
            job = anna.create_job(f"Job {round}")
            fill(anna, job, [f"Box {number}" for number in range(ITEMS)])
            wait_until(lambda: bert.vector(job) == anna.vector(job), PATIENCE_SECONDS, "bert has it")
            wait_agreed((anna, bert), job)
            bert.stop()
            bert.start()
            written = [f"Late {number:02}" for number in range(LATE)]
            fill(bert, job, written)

            ask_and_kill(anna, chance, unanswered, "DELETE", f"/v1/jobs/{job}?confirmed=true")
            assert anna.items(job) == {} and late(anna, job) == []
            interrupted += kill_and_count(anna, chance, 0.1) > 0
            anna.start()
            assert anna.items(job) == {}
            bert.make("/v1/peers", {"address": anna.address})
            interrupted += kill_and_count(bert, chance, 0.3) > 0
            bert.start("--peer", anna.address)
            wait_until(lambda: anna.vector(job) == bert.vector(job), PATIENCE_SECONDS, "both hold the same journals")
            waiting = late(anna, job)
            assert len(waiting) == LATE and late(bert, job) == waiting
            assert anna.items(job) == bert.items(job) == {}

            accepted, dropped = waiting[: LATE // 2], waiting[LATE // 2 :]
            ask_and_kill(anna, chance, unanswered, "POST", f"/v1/jobs/{job}/late/accept", {"changes": accepted})
            assert late(anna, job) == dropped
            ask_and_kill(anna, chance, unanswered, "POST", f"/v1/jobs/{job}/late/drop", {"changes": dropped})
            assert late(anna, job) == []
            rescued = f"Job {round} (late)"
            (new,) = [entry["id"] for entry in anna.get("/v1/jobs") if entry["name"] == rescued]
            for laptop in (anna, bert):
                expected = written[: LATE // 2]
                wait_until(lambda: names(laptop, new) == expected, PATIENCE_SECONDS, f"{laptop.name} has each once")
                wait_until(lambda: late(laptop, job) == [], PATIENCE_SECONDS, f"{laptop.name} knows of the decisions")
                wait_until(lambda: is_freed(laptop), PATIENCE_SECONDS, f"{laptop.name} goes on freeing")
                assert laptop.items(job) == {} and names(laptop, kept) == ["Sofa"]
                assert job not in {entry["id"] for entry in laptop.get("/v1/jobs")}
            wait_agreed((anna, bert), new)
            bert.stop()
        print(f"{5 * rounds} kills, {len(unanswered)} of them before the answer, {interrupted} while rows were to be freed")
        anna.stop()
        journals(anna), journals(bert)
    assert unanswered, "some were killed before they had answered"
    assert interrupted, "some were killed before all was freed"
