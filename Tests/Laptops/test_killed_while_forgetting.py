"""musterd killed while it learns the time, forgets tombstones, takes a laptop off, accepts late work or removes a job:
what was acknowledged stays, what was removed stays away, and every journal is whole."""

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
from solo import PATIENCE_SECONDS, Solos, journals, wait_agreed
from stranger import wait_for_log
from time_server import TimeServer

KILLS = int(os.environ.get("MUSTER_KILLS") or 8)
UNSEEN = 150
LATE = 60
FORGETTING_SECONDS = 60


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
    with Crew(build_directory, {"anna": "+3h"}) as crew, TimeServer() as server:
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
                time.sleep(chance.uniform(0, 0.06))
            else:
                # Around the moment in which it learns it, however fast this machine is.
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


def test_killed_while_tombstones_are_forgotten(build_directory, chance):
    with Solos(build_directory) as solos:
        crew = anna, bert, cleo = solos("anna"), solos("bert"), solos("cleo")
        flags = {"anna": ("--peer", bert.address), "bert": (), "cleo": ("--peer", bert.address)}
        for member in (bert, anna, cleo):
            member.start(*flags[member.name])
        job = anna.create_job()
        kept, doomed, kills, most_tombstones = set(), set(), 0, 0
        wait_agreed(crew, job)
        while kills < KILLS:
            fresh = {chance.choice(crew).add(job, name=f"Box {number}") for number in range(12)}
            kept.add(chance.choice(crew).add(job, name="Piano"))
            wait_until(lambda: all(fresh | kept <= set(m.items(job)) for m in crew), PATIENCE_SECONDS, "all have them")
            for item in fresh:
                assert chance.choice(crew).ask("DELETE", f"/v1/jobs/{job}/items/{item}")[0] == 200
            doomed |= fresh
            wait_until(lambda: all(set(m.items(job)) == kept for m in crew), PATIENCE_SECONDS, "all have removed them")
            most_tombstones = max(most_tombstones, anna.get(f"/v1/jobs/{job}")["removed"])
            for _ in range(chance.randrange(2, 6)):
                # Each says what it holds after two quiet seconds, and then one of them folds.
                time.sleep(chance.uniform(0, 2.5))
                victim = chance.choice(crew)
                victim.kill()
                kills += 1
                journals(victim)
                victim.start(*flags[victim.name])
                assert set(victim.items(job)) == kept, f"{victim.name} has what was acknowledged, and nothing removed"
        wait_until(
            lambda: all(m.get(f"/v1/jobs/{job}")["removed"] == 0 for m in crew), FORGETTING_SECONDS, "all forget")
        wait_until(lambda: len({str(m.vector(job)) for m in crew}) == 1, PATIENCE_SECONDS, "the same journals")
        wait_agreed(crew, job)
        for member in crew:
            assert set(member.items(job)) == kept and member.get(f"/v1/jobs/{job}/late") == []
            member.stop()
            journals(member)
        print(f"{kills} kills while {len(doomed)} tombstones were forgotten")
        assert most_tombstones > 0, "there was something to forget"


def ask_and_kill(daemon, chance, unanswered, method, path, body=None):
    """Has a request carried out while the daemon is killed; asks once more if it died without an answer."""
    killer = threading.Timer(chance.uniform(0, 0.02), daemon.kill)
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
        # It may have been done before it died; then a removed job says so.
        assert status == 200 or answer["code"] == "jobRemoved", answer


def test_killed_while_a_laptop_is_taken_off_its_work_is_accepted_and_the_job_removed(build_directory, chance):
    unanswered = []
    with Solos(build_directory) as solos:
        anna, bert = solos("anna").start(), solos("bert")
        for round in range(max(2, KILLS // 3)):
            bert.start("--peer", anna.address)
            job = anna.create_job(f"Job {round}")
            anna.add(job, name="Sofa")
            wait_agreed((anna, bert), job)
            bert.add(job, name="Lamp")
            wait_until(lambda: names(anna, job) == ["Lamp", "Sofa"], PATIENCE_SECONDS, "anna has bert's")
            wait_agreed((anna, bert), job)
            bert.stop()
            bert.start()
            late = [f"Late {number:02}" for number in range(LATE)]
            bert.make(f"/v1/jobs/{job}/import", {"items": [{"fields": {"name": name}} for name in late]})
            lost = bert.replica()
            ask_and_kill(anna, chance, unanswered, "DELETE", f"/v1/jobs/{job}/roster/{lost}?confirmed=true")
            bert.make("/v1/peers", {"address": anna.address})
            wait_until(lambda: anna.vector(job) == bert.vector(job), PATIENCE_SECONDS, "both hold the same journals")
            waiting = anna.get(f"/v1/jobs/{job}/late")
            assert len(waiting) == LATE and names(anna, job) == names(bert, job) == ["Lamp", "Sofa"]
            up_to = {lost: max(change["last"] for change in waiting)}
            ask_and_kill(anna, chance, unanswered, "POST", f"/v1/jobs/{job}/late/accept", {"upTo": up_to})
            expected = ["Lamp", *late, "Sofa"]
            for laptop in (anna, bert):
                wait_until(lambda: names(laptop, job) == expected, PATIENCE_SECONDS, f"{laptop.name} has each once")
                assert laptop.get(f"/v1/jobs/{job}/late") == []
            ask_and_kill(anna, chance, unanswered, "DELETE", f"/v1/jobs/{job}?confirmed=true")
            wait_until(lambda: anna.vector(job) == bert.vector(job), PATIENCE_SECONDS, "bert has heard of the removal")
            for laptop in (anna, bert):
                assert laptop.items(job) == {} and job not in {entry["id"] for entry in laptop.get("/v1/jobs")}
            bert.stop()
        print(f"{3 * (round + 1)} kills, {len(unanswered)} of them before the answer")
        anna.stop()
        journals(anna), journals(bert)
    assert unanswered, "some were killed before they had answered"
