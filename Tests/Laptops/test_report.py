"""What a person attaches to a complaint: it helps, tells nothing of the customer, and can be had without a daemon."""

import json
import os

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
