"""A disk that is full: what cannot be stored is refused, nothing is half there, and when there is space all goes on."""

import os
import threading
import time

import pytest
from gateways import advance, published_states, queue_status, server_flags, state, wait_published
from lab import Program, never_during, wait_until
from solo import PATIENCE_SECONDS, Solos, wait_agreed

SIZE = "6m"
REFUSAL = "The disk is full; free some space, nothing was changed."
# The mesh tries a store again that has failed after five seconds.
RETRY_SECONDS = 8


class SmallDisk:
    """A directory on a disk of its own, seen only by programs that are started with `prefix`."""

    def __init__(self, directory, path):
        os.makedirs(path, exist_ok=True)
        script = f"mount -t tmpfs -o size={SIZE},mode=700 tmpfs {path} && echo ready && exec sleep infinity"
        self._holder = Program("disk", ["unshare", "-m", "--propagation", "private", "sh", "-c", script], directory)
        wait_until(lambda: "ready" in self._holder.output(), 5, "the disk is mounted")
        self.prefix = ["nsenter", "-t", str(self._holder.pid), "-m", "--"]
        self.inside = f"/proc/{self._holder.pid}/root{path}"
        self._filler = os.path.join(self.inside, "filler")

    def fill(self):
        """Takes all the space that is left."""
        with open(self._filler, "ab", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    pass

    def free(self):
        os.remove(self._filler)

    def end(self):
        self._holder.kill()


@pytest.fixture
def crew(build_directory):
    """Anna, whose disk is small, and bert."""
    with Solos(build_directory) as solos:
        anna, bert = solos("anna"), solos("bert")
        disk = SmallDisk(solos.directory, anna.state)
        try:
            bert.start()
            anna.start("--peer", bert.address, prefix=disk.prefix)
            yield anna, bert, disk
        finally:
            anna.kill()
            disk.end()


def test_a_full_disk_refuses_and_goes_on_by_itself(crew):
    anna, bert, disk = crew
    job = anna.create_job()
    kept = {anna.add(job, name=f"before {count}") for count in range(20)}
    wait_agreed([anna, bert], job)

    disk.fill()
    refusals = 0
    for count in range(200):
        status, answer = anna.ask("POST", f"/v1/jobs/{job}/items", {"fields": {"name": f"full {count} " + "x" * 4_000}})
        if status == 201:
            kept.add(answer["id"])
        else:
            refusals += 1
            assert (status, answer["detail"]) == (503, REFUSAL), answer
    assert refusals > 10, "the disk is full"
    done = anna.muster("item", "add", "Home", "name=" + "y" * 60_000)
    assert done.returncode == 75 and REFUSAL in done.stderr, done
    assert set(anna.items(job)) == kept, "what is held can be read, and is what was acknowledged"

    of_bert = {bert.add(job, name=f"of bert {count} " + "z" * 40_000) for count in range(20)}
    lacking = lambda: of_bert - set(anna.items(job))
    never_during(lambda: not lacking(), 1, "anna stores without space")
    assert anna.connected() == ["bert"], "the connection stays"
    assert anna.log().count("could not be stored") in range(1, 4), "it says so, and does not try without a pause"

    disk.free()
    wait_until(lambda: not lacking(), RETRY_SECONDS, "replication goes on by itself")
    kept.add(anna.add(job, name="after"))
    wait_agreed([anna, bert], job)
    assert set(anna.items(job)) == set(bert.items(job)) == kept | of_bert
    assert anna.vector(job) == bert.vector(job)


def test_the_first_that_somebody_writes_finds_a_full_disk(crew):
    """Whose journal it is was told with what could not be stored, and has to be known when it is asked for again."""
    anna, bert, disk = crew
    job = anna.create_job()
    wait_agreed([anna, bert], job)
    disk.fill()
    for count in range(100):
        anna.ask("POST", f"/v1/jobs/{job}/items", {"fields": {"name": f"full {count} " + "x" * 4_000}})
    sofa = bert.add(job, name="Sofa")
    wait_until(lambda: "could not be stored" in anna.log(), PATIENCE_SECONDS, "there is no space for it")
    disk.free()
    wait_until(lambda: sofa in anna.items(job), RETRY_SECONDS, "anna has it")
    assert "connection closed" not in anna.log(), anna.log()
    wait_agreed([anna, bert], job)


def test_many_writers_while_the_disk_fills_and_is_freed(crew):
    """Writes that share a transaction: some are refused, none is lost or there although it was refused."""
    anna, bert, disk = crew
    job = anna.create_job()
    wait_agreed([anna, bert], job)
    kept, refused, is_over = set(), set(), threading.Event()

    def write(writer):
        count = 0
        while not is_over.is_set():
            count += 1
            name = f"{writer} {count} " + "x" * (8_000 if count % 3 else 10)
            status, answer = anna.ask("POST", f"/v1/jobs/{job}/items", {"fields": {"name": name}})
            if status == 201:
                kept.add(name)
            else:
                assert (status, answer["detail"]) == (503, REFUSAL), answer
                refused.add(name)
            time.sleep(0.01)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for writer in writers:
        writer.start()
    for _ in range(4):
        before = len(refused)
        disk.fill()
        wait_until(lambda: len(refused) > before + 5, PATIENCE_SECONDS, f"writes are refused\n{anna.log()}")
        disk.free()
        stored = len(kept)
        wait_until(lambda: len(kept) > stored, PATIENCE_SECONDS, "writes are taken again")
    is_over.set()
    for writer in writers:
        writer.join(PATIENCE_SECONDS)
    names = lambda daemon: {item["fields"]["name"] for item in daemon.items(job).values()}
    assert names(anna) == kept and not kept & refused
    wait_agreed([anna, bert], job)
    assert names(bert) == kept
    anna.kill()
    anna.start("--peer", bert.address, prefix=disk.prefix)
    assert names(anna) == kept


def test_a_start_on_a_full_disk(crew):
    anna, bert, disk = crew
    job = anna.create_job()
    kept = {anna.add(job, name=f"thing {count}") for count in range(20)}
    wait_agreed([anna, bert], job)
    anna.kill()
    disk.fill()
    anna.launch("--peer", bert.address, prefix=disk.prefix)

    def is_settled():
        return not anna.program.is_running or anna.answers()

    wait_until(is_settled, PATIENCE_SECONDS, "it starts or ends")
    if not anna.program.is_running:
        assert anna.program.process.returncode == 75, anna.log()
        assert "disk" in anna.log().lower()
        disk.free()
        anna.start("--peer", bert.address, prefix=disk.prefix)
    else:
        assert set(anna.items(job)) == kept
        disk.free()
    assert set(anna.items(job)) == kept
    kept.add(anna.add(job, name="after"))
    wait_agreed([anna, bert], job)
    assert set(bert.items(job)) == kept


def test_what_a_person_does_to_the_queue_on_a_full_disk(solos, office, front):
    anna = solos("anna")
    disk = SmallDisk(solos.directory, anna.state)
    flags = server_flags(front.url)
    try:
        anna.start(*flags, prefix=disk.prefix)
        job = anna.create_job("Smith")
        wait_published([anna], job, "scheduled")
        front.always("503")
        [token] = advance(anna, job, "dispatched")
        disk.fill()
        for words in (["drop", token], ["pause"]):
            done = anna.muster("queue", *words)
            assert done.returncode == 75 and REFUSAL in done.stderr, (words, done)
        assert state(anna, job)["pending"] == "dispatched", "it is not dropped"
        disk.free()
        assert anna.muster("queue", "pause").returncode == 0
        anna.kill()
        anna.start(*flags, prefix=disk.prefix)
        assert anna.get("/v1/status")["queue"] == queue_status(paused=1, isPaused=True), "it is paused for good"
        assert anna.muster("queue", "drop", token).returncode == 0
        assert anna.muster("queue", "resume").returncode == 0
        front.always(None)
        advance(anna, job, "cancelled")
        wait_published([anna], job, "cancelled")
        assert published_states(office, job) == ["scheduled", "cancelled"]
    finally:
        anna.kill()
        disk.end()
