"""One job, one item, is counted alike wherever a number is shown: by the command line, the local API and the office."""

import json
import re

from gateways import crew, wait_at_office, wait_published
from lab import wait_until
from solo import PATIENCE_SECONDS


def ok(done):
    assert done.returncode == 0, done
    return done.stdout


def numbers(pattern, text):
    """The one place that fits, as numbers."""
    (found,) = re.findall(pattern, text, re.MULTILINE)
    return tuple(int(part or 0) for part in (found if isinstance(found, tuple) else (found,)))


def rows(table):
    return table.splitlines()[1:]


def jobs_counted(daemon):
    """(living, removed), by each that tells."""
    entries = daemon.get("/v1/jobs")
    removed = sum(entry["isRemoved"] for entry in entries)
    status = daemon.get("/v1/status")
    (check,) = [check for check in daemon.get("/v1/doctor")["checks"] if check["id"] == "jobs"]
    told = r"(\d+)(?:, and (\d+) removed with late work)?"
    listed = rows(ok(daemon.muster("job", "list")))
    return {
        "jobs": (len(entries) - removed, removed),
        "status": (status["jobs"], status["removedJobs"]),
        "muster status": numbers(rf"^Jobs +{told}", ok(daemon.muster("status"))),
        "doctor": numbers(rf"^{told}", check["finding"]),
        "job list": (sum(" removed " not in row for row in listed), sum(" removed " in row for row in listed)),
    }


def items_counted(daemon, job):
    """How many items, by each that tells."""
    details = daemon.get(f"/v1/jobs/{job}")
    (entry,) = [entry for entry in daemon.get("/v1/jobs") if entry["id"] == job]
    summary = daemon.get(f"/v1/jobs/{job}/summary")
    exported = json.loads(ok(daemon.muster("job", "export", job)))
    live = {
        "show": details["items"],
        "muster show": numbers(r"^Items +(\d+), and \d+ removed", ok(daemon.muster("job", "show", job)))[0],
        "list of jobs": entry["items"],
        "list of items": len(daemon.items(job)),
        "summary": summary["total"]["items"],
        "rooms": sum(room["items"] for room in summary["rooms"]),
        "export": len(exported["items"]),
        "csv": len(ok(daemon.muster("job", "export", job, "--format", "csv")).splitlines()) - 1,
    }
    gone = {
        "show": details["removed"],
        "muster show": numbers(r"^Items +\d+, and (\d+) removed", ok(daemon.muster("job", "show", job)))[0],
        "list of jobs": entry["removed"],
        "export": len(exported["removed"]),
    }
    return live, gone


def check(daemons, jobs, job, items):
    """Everybody says so many: `jobs` living and removed ones, and `items` of one job."""
    for daemon in daemons:
        wait_until(
            lambda: set(jobs_counted(daemon).values()) == {jobs}, PATIENCE_SECONDS,
            f"{daemon.name} counts {jobs} jobs: {jobs_counted(daemon)}")
        live, gone = items_counted(daemon, job)
        assert (set(live.values()), set(gone.values())) == ({items[0]}, {items[1]}), (daemon.name, live, gone)


def test_every_number_is_the_same(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = anna.create_job("Elm")
    others = [anna.create_job(name) for name in ("Oak", "Ash", "Yew")]
    wait_published([anna, bert], job, "scheduled")
    for name in ("Sofa", "Lamp", "Desk"):
        anna.add(job, name=name, barcode=name)
    anna.add(others[1], name="Box")
    doomed = anna.add(others[0], name="Chair")
    wait_at_office(office, anna, job, 3)
    wait_until(lambda: doomed in bert.items(others[0]), PATIENCE_SECONDS, "bert has it all")
    check([anna, bert], (4, 0), job, (3, 0))

    ok(anna.muster("item", "remove", "Elm", "Lamp"))
    wait_at_office(office, anna, job, 2)
    wait_until(lambda: len(bert.items(job)) == 2, PATIENCE_SECONDS, "bert has heard of it")
    check([anna, bert], (4, 0), job, (2, 1))

    ok(anna.muster("item", "restore", "Elm", "Lamp"))
    wait_at_office(office, anna, job, 3)
    wait_until(lambda: len(bert.items(job)) == 3, PATIENCE_SECONDS, "bert has it back")
    check([anna, bert], (4, 0), job, (3, 1))

    # A job without late work goes without a trace in any number.
    ok(anna.muster("job", "remove", "Yew", "--yes"))
    check([anna, bert], (3, 0), job, (3, 1))

    # Of one with late work everybody says that it is removed.
    assert bert.stop() == 0
    bert.start()
    bert.add(others[0], name="Late")
    ok(anna.muster("job", "remove", "Oak", "--yes"))
    check([anna], (2, 0), job, (3, 1))
    bert.make("/v1/peers", {"address": anna.address})
    check([anna, bert], (2, 1), job, (3, 1))
    ok(anna.muster("job", "late", "Oak", "--drop", "all", "--yes"))
    check([anna, bert], (2, 0), job, (3, 1))
    told = office.ask("GET", f"/v1/jobs/{job}")[1]
    assert (told["items"], told["removed"], told["isRemoved"]) == (3, 1, False)
