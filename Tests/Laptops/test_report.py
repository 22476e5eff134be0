"""What a person attaches to a complaint: it helps, tells nothing of the customer, and can be had without a daemon."""

import json
import os
import subprocess

from gateways import server_flags
from lab import free_port, wait_until
from solo import PATIENCE_SECONDS

MARK = "ZQX"


def written(solos, daemon, *flags):
    """The report as text and as JSON, and what the command has said."""
    path = os.path.join(solos.directory, f"report-{len(os.listdir(solos.directory))}.json")
    done = daemon.muster("report", path, *flags)
    again = daemon.muster("report", path, *flags)
    assert again.returncode == 65 and "name another file" in again.stderr, again
    assert done.returncode == 0, done
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert os.stat(path).st_mode & 0o777 == 0o600
    return text, json.loads(text), done.stdout


def test_a_report_helps_and_tells_nothing_of_the_customer(solos):
    anna = solos("anna").start(*server_flags(f"https://127.0.0.1:{free_port()}"))
    bert = solos("bert").start("--peer", anna.address)
    wait_until(lambda: bert.connected() == ["anna"], PATIENCE_SECONDS, "they meet")
    job = anna.create_job(f"{MARK} family")
    item = anna.add(job, name=f"{MARK} sofa", barcode=f"{MARK}1", room=f"{MARK} hall")
    anna.make(f"/v1/jobs/{job}/items/{item}/notes", {"text": f"{MARK} scratch"})
    anna.make(f"/v1/jobs/{job}/state", {"state": "dispatched"})
    # What the daemon logs of a request that it does not understand has the words of it.
    assert anna.ask("GET", f"/v1/jobs/{MARK}/nothing")[0] == 404
    failed = lambda: anna.get("/v1/queue/log") != []
    wait_until(failed, PATIENCE_SECONDS, "the office was asked, and not reached")

    text, report, said = written(solos, anna)
    assert MARK not in text and "without the customer's data" in said
    assert report["missing"] == [] and job in text, report["missing"]
    assert report["versions"]["muster"] == report["versions"]["musterd"]
    assert {"listening"} <= {line["event"] for line in report["events"]}, report["events"]
    assert [attempt["outcome"] for attempt in report["queueLog"]][0] == "unreachable"
    checks = {check["id"]: check for check in report["doctor"]["checks"]}
    assert "(refused)" in checks["server"]["finding"] and checks["server"]["remedy"]
    assert [peer["name"] for peer in report["peers"]] == ["bert"]
    assert {setting["name"] for setting in report["settings"]} >= {"listen", "server", "state-dir"}

    text, report, said = written(solos, anna, "--with-customer-data")
    for words in ("family", "sofa", "hall", "scratch"):
        assert f"{MARK} {words}" in text, words
    assert "with the customer's data" in said

    anna.kill()
    text, report, said = written(solos, anna)
    assert "Missing: " in said and report["missing"] and "musterd" not in report["versions"], report
    assert checks.keys() == {check["id"] for check in report["doctor"]["checks"]}


def journal(*lines):
    """As journalctl prints them."""
    fields = [{"__REALTIME_TIMESTAMP": str(1_785_580_200_000_000 + number), **line} for number, line in enumerate(lines)]
    return "".join(json.dumps(line) + "\n" for line in fields)


def test_of_a_daemon_that_was_killed_the_report_has_its_last_words_and_nothing_of_the_customer(
    solos, tmp_path, build_directory
):
    anna = solos("anna").start()
    job = anna.create_job(f"{MARK} family")
    anna.add(job, name=f"{MARK} sofa")
    anna.kill()
    lines = tmp_path / "lines"
    ours = {"PRIORITY": "4", "_PID": "900", "MESSAGE": f"a store is slow job={job} error={MARK}", "MUSTER_JOB": job}
    lines.write_text(journal(
        {**ours, "MUSTER_EVENT": "a store is slow", "MUSTER_ERROR": f"{MARK} sofa", "MUSTER_STEP_MILLISECONDS": "7"},
        {"PRIORITY": "6", "_PID": "900", "MESSAGE": "x", "MUSTER_EVENT": "an invitation", "MUSTER_INVITATION": "secret-word"},
        {"PRIORITY": "3", "_PID": "900", "MESSAGE": f"Fatal error: {MARK} family"},
        {"PRIORITY": "5", "_PID": "1", "MESSAGE": "musterd.service: Main process exited, code=killed, status=9/KILL"}))
    # What stands between the command and a journal, which is not everywhere.
    program = tmp_path / "bin" / "journalctl"
    program.parent.mkdir()

    def reported(script, *flags):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        file = tmp_path / f"report-{len(os.listdir(tmp_path))}.json"
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MUSTER_", "XDG_"))}
        # Where nobody has named a socket, it is the service's.
        done = subprocess.run(
            [os.path.join(build_directory, "muster"), "report", str(file), *flags], capture_output=True, text=True,
            env={**environment, "HOME": str(tmp_path), "PATH": f"{program.parent}:{os.environ['PATH']}"})
        assert done.returncode == 0, done
        return file.read_text(), json.loads(file.read_text())

    text, report = reported(f"echo \"$@\" > {tmp_path}/asked; cat {lines}")
    asked = (tmp_path / "asked").read_text()
    assert "--unit=musterd.service" in asked and "--lines=500" in asked, asked
    assert MARK not in text and "secret-word" not in text
    assert [(line["level"], line["event"], line["details"]) for line in report["events"]] == [
        ("warning", "a store is slow", {"job": job, "stepMilliseconds": "7"}),
        ("info", "an invitation", {}),
        ("notice", "musterd.service: Main process exited, code=killed, status=9/KILL", {})]
    assert report["doctor"]["checks"][0]["outcome"] == "fail" and report["versions"]["muster"]
    assert any("settings, status, peers, clock, queue, store" in one for one in report["missing"])
    assert any(one.startswith("1 line of the daemon's log in which anything may stand") for one in report["missing"])

    text, report = reported(f"cat {lines}", "--with-customer-data")
    assert f"Fatal error: {MARK} family" in text and f"{MARK} sofa" in text and "secret-word" not in text
    assert len(report["customerData"]["events"]) == 4

    # Whoever may see everything is sent to nobody else.
    none = "systemd's journal has none of it" if os.geteuid() == 0 else "systemd shows this user none of it"
    for script, reason in (
        ("exit 0", none), ("exit 1", "journalctl has failed"), ("echo nonsense", none)):
        _, report = reported(script)
        assert "events" not in report and any(reason in one for one in report["missing"]), (script, report)
