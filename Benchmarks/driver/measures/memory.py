"""Does memory grow with use? Four laptops edit for as many edits as an hour at twenty a second each has."""

import itertools
import multiprocessing
import re
import statistics
import time

from ..daemon import UnixConnection
from ..lab import LabError, fill

LAPTOPS = 4
ITEMS = 400
BYTES_AN_EDIT = 4


def measure(lab, report):
    edits = lab.sizes["memory_edits"]
    crew = [lab.daemon(f"memory{index}") for index in range(LAPTOPS)]
    for daemon in crew:
        daemon.start()
    job = crew[0].ask("POST", "/v1/jobs", {"name": "Hour", "kind": "inventory"})["id"]
    items, _ = fill(crew[0], job, ITEMS)
    for index, daemon in enumerate(crew):
        for earlier in crew[:index]:
            daemon.ask("POST", "/v1/peers", {"address": earlier.address})
    for daemon in crew:
        await_job(daemon, job)
    pieces = 20
    anonymous = []
    for piece in range(pieces):
        writers = [
            multiprocessing.Process(
                target=write, args=(str(daemon.socket), job, items[index::LAPTOPS], edits // LAPTOPS // pieces, piece))
            for index, daemon in enumerate(crew)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        for daemon in crew:
            if daemon.process.poll() is not None:
                raise LabError(f"musterd ended with {daemon.process.returncode}: {daemon.last_words(400)}")
        # Longer than what follows a job's quiet.
        time.sleep(4)
        anonymous.append([resident(daemon) for daemon in crew])
    # Of all four together: one laptop goes up and down by half a megabyte from piece to piece.
    means = [sum(crew) / LAPTOPS for crew in anonymous[pieces // 2:]]
    growth = slope(means) / (edits / pieces)
    report.add(
        f"Memory after {edits:,} edits of four laptops", max(anonymous[-1]) / 1e6, "MB", limit=60,
        detail={"anonymous": anonymous})
    report.add("  growth in the second half, an edit", max(growth, 0), "B", limit=BYTES_AN_EDIT)
    for daemon in crew:
        lab.discard(daemon)


def slope(values):
    """A step's, as the median of the slopes between each two points (Theil 1950, Sen 1968): what one laptop takes for a
    moment, up to a fifth more at one look and nothing at the next, does not tilt it."""
    return statistics.median((b - a) / (j - i) for (i, a), (j, b) in itertools.combinations(enumerate(values), 2))


def write(path, job, items, count, piece):
    connection = UnixConnection(path)
    for number in range(count):
        body = f'{{"fields": {{"room": "Room {piece}-{number}"}}}}'
        connection.request(
            "PATCH", f"/v1/jobs/{job}/items/{items[number % len(items)]}", body, {"Content-Type": "application/json"})
        connection.getresponse().read()


def await_job(daemon, job):
    while job not in [entry["id"] for entry in daemon.ask("GET", "/v1/jobs")]:
        time.sleep(0.1)


def resident(daemon):
    """Bytes of memory that belong to the process alone, without files."""
    with open(f"/proc/{daemon.process.pid}/status", encoding="utf-8") as file:
        return int(re.search(r"RssAnon:\s*(\d+)", file.read())[1]) * 1024
