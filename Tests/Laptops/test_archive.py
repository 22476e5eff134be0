"""`muster job archive`: a job that is over becomes a file that proves itself, and its space is free; before that nothing is removed."""

import json
import os

from false_daemons import FalseDaemon
from gateways import advance, crew, server_flags, wait_published
from lab import UnixConnection, wait_until
from screen import Screen
from solo import PATIENCE_SECONDS, wait_agreed

HOP_BY_HOP = ("connection", "content-length", "transfer-encoding")
OVER = ["dispatched", "inProgress", "cancelled"]


def at_an_end(solos, office, front):
    """anna and bert have a job that is cancelled."""
    anna, bert = crew(solos, office, front)
    job = bert.create_job("Smith")
    for count in range(20):
        bert.add(job, name=f"chair {count}")
    for name in OVER:
        advance(bert, job, name)
    wait_published([anna, bert], job, "cancelled")
    wait_agreed([anna, bert], job)
    wait_until(lambda: anna.vector(job) == bert.vector(job), PATIENCE_SECONDS, "they hold the same")
    reached = lambda: anna.get("/v1/status")["server"]["state"] == "reached"
    wait_until(reached, PATIENCE_SECONDS, "the office has answered")
    return anna, bert, job


def pass_on(call, daemon, change=lambda body: body):
    """Answers as the daemon does, but for what `change` makes of it."""
    connection = UnixConnection(daemon.socket)
    connection.request(call.head.split(b" ")[0].decode(), call.target, call.body or None)
    answer = connection.getresponse()
    headers = "".join(f"{key}: {value}\r\n" for key, value in answer.getheaders() if key.lower() not in HOP_BY_HOP)
    body = change(answer.read())
    call.socket.sendall(
        f"HTTP/1.1 {answer.status} Said\r\n{headers}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
    call.socket.close()


def archive(daemon, job, path, *flags):
    return daemon.muster("job", "archive", job, "--output", path, "--yes", *flags)


def file_at(solos):
    return os.path.join(solos.directory, "smith.history")


def test_a_job_that_is_over_becomes_a_file_and_goes_everywhere(solos, office, front):
    anna, bert, job = at_an_end(solos, office, front)
    path = file_at(solos)
    asked = anna.muster("job", "archive", job, "--output", path)
    assert asked.returncode == 64 and "--yes" in asked.stderr and not os.path.exists(path), asked
    done = archive(anna, job, path)
    assert done.returncode == 0 and "each signed by its author" in done.stdout.replace("\n", " "), done
    for daemon in (anna, bert):
        wait_until(lambda: job not in {one["id"] for one in daemon.get("/v1/jobs")}, PATIENCE_SECONDS, "it is gone")
    removed = lambda: [status for method, path, status in front.seen if method == "PUT" and path.endswith("/removal")]
    wait_until(removed, PATIENCE_SECONDS, "the office has heard of the removal")
    assert removed()[0] < 300, front.seen
    assert os.stat(path).st_mode & 0o777 == 0o600
    anna.kill(), bert.kill()
    audit = anna.muster("job", "audit", path, "--changes")
    assert audit.returncode == 0 and "proven" in audit.stdout and "chair 19" in audit.stdout, audit


def test_a_job_that_goes_on_is_not_archived(solos, office, front):
    anna, bert = crew(solos, office, front)
    job = bert.create_job("Smith")
    bert.add(job, name="chair")
    advance(bert, job, "dispatched")
    wait_published([anna, bert], job, "dispatched")
    done = archive(anna, job, file_at(solos))
    assert done.returncode == 65 and "not over" in done.stderr, done
    assert not os.path.exists(file_at(solos)) and len(anna.items(job)) == 1


def test_a_job_of_which_somebody_may_hold_more_is_not_archived(solos, office, front):
    anna, bert, job = at_an_end(solos, office, front)
    bert.stop()
    bert.start()
    bert.add(job, name="lamp")
    bert.stop()
    anna.stop()
    # Carl has never met bert.
    carl = solos("carl").start(*server_flags(front.url))
    wait_until(lambda: len(carl.items(job)) == 20, PATIENCE_SECONDS, "carl has it from the office")
    reached = lambda: carl.get("/v1/status")["server"]["state"] == "reached"
    wait_until(reached, PATIENCE_SECONDS, "and the office has answered him")
    done = archive(carl, job, file_at(solos))
    assert done.returncode == 75 and "may hold work" in done.stderr, done
    assert not os.path.exists(file_at(solos)) and len(carl.items(job)) == 20


def test_the_server_has_to_be_reached(solos, office, front):
    anna, bert, job = at_an_end(solos, office, front)
    front.always("503")
    wait_until(lambda: anna.get("/v1/status")["server"]["state"] != "reached", PATIENCE_SECONDS, "it is away")
    done = archive(anna, job, file_at(solos))
    assert done.returncode == 75 and "server" in done.stderr, done
    assert len(anna.items(job)) == 20


def test_a_file_that_cannot_be_written_leaves_the_job(solos, office, front):
    anna, bert, job = at_an_end(solos, office, front)
    done = archive(anna, job, os.path.join(solos.directory, "missing", "smith.history"))
    assert done.returncode == 65 and "name another place" in done.stderr, done
    with open(file_at(solos), "w", encoding="utf-8") as file:
        file.write("precious")
    done = archive(anna, job, file_at(solos))
    assert done.returncode == 65 and "there already" in done.stderr, done
    assert len(anna.items(job)) == 20 and job in {one["id"] for one in bert.get("/v1/jobs")}


def test_what_is_written_between_the_file_and_the_removal_keeps_the_job(solos, office, front):
    """The person is asked, and somebody writes until they answer."""
    anna, bert, job = at_an_end(solos, office, front)
    with Screen(anna, "job", "archive", job, "--output", file_at(solos), window=(80, 24)) as screen:
        screen.read_until("to go on:")
        assert not os.path.exists(file_at(solos)), "nothing stands there before"
        anna.add(job, name="found behind the door")
        screen.type("Smith\n")
        assert screen.wait() == 75
        assert "lacks that" in " ".join(screen.shown.split()), screen.shown
    assert len(anna.items(job)) == 21 and len(bert.items(job)) >= 20
    os.remove(file_at(solos))
    wait_until(lambda: anna.vector(job) == bert.vector(job), PATIENCE_SECONDS, "they hold the same")
    assert archive(anna, job, file_at(solos)).returncode == 0


def test_a_daemon_that_goes_away_before_it_says_that_the_job_is_removed(solos, office, front, build_directory):
    """The file is whole, and nobody knows about the job: its person is told what to look at."""
    anna, _, job = at_an_end(solos, office, front)

    def serve(call):
        call.read_head().read_body()
        if call.head.startswith(b"DELETE ") or asked:
            asked.append(call.target)
            return call.socket.close()
        return pass_on(call, anna)

    asked = []
    with FalseDaemon(solos.directory, build_directory, serve) as daemon:
        done = daemon.muster("job", "archive", job, "--output", file_at(solos), "--yes")
        assert daemon.failures == []
    assert asked and done.returncode == 69, (asked, done)
    assert f"{file_at(solos)} is written and whole" in done.stderr and "muster job list" in done.stderr, done
    audit = anna.muster("job", "audit", file_at(solos))
    assert audit.returncode == 0 and "proven" in audit.stdout, audit
    assert len(anna.items(job)) == 20


def test_a_history_that_lacks_what_the_daemon_holds_is_neither_proven_nor_archived(solos, office, front, build_directory):
    """As when its store is damaged: what is there proves itself, and is not all."""
    anna, _, job = at_an_end(solos, office, front)

    def more(body):
        details = json.loads(body)
        replica = max(details["vector"], key=details["vector"].get)
        details["vector"][replica] += 1
        return json.dumps(details).encode()

    def serve(call):
        call.read_head().read_body()
        is_the_job = call.target.split("?")[0] == f"/v1/jobs/{job}"
        pass_on(call, anna, more if is_the_job else lambda body: body)

    with FalseDaemon(solos.directory, build_directory, serve) as daemon:
        audit = daemon.muster("job", "audit", job)
        assert audit.returncode == 70 and "lacks changes" in audit.stderr and not audit.stdout, audit
        done = daemon.muster("job", "archive", job, "--output", file_at(solos), "--yes")
        assert done.returncode == 65 and "nothing was removed" in done.stderr, done
        assert daemon.failures == []
    assert not os.path.exists(file_at(solos)) and len(anna.items(job)) == 20
    audit = anna.muster("job", "audit", job)
    assert audit.returncode == 0 and "proven" in audit.stdout, audit


def test_a_command_that_is_stopped_while_it_asks_leaves_nothing(solos, office, front):
    anna, _, job = at_an_end(solos, office, front)
    with Screen(anna, "job", "archive", job, "--output", file_at(solos), window=(80, 24)) as screen:
        screen.read_until("to go on:")
        screen.type("no\n")
        assert screen.wait() == 1
    assert [name for name in os.listdir(solos.directory) if "history" in name] == []
    assert len(anna.items(job)) == 20
