"""What is changed after the customer has signed is named on every laptop, until the job is signed again."""

import base64
import json
import subprocess

from gateways import advance, crew, wait_published
from lab import wait_until
from solo import PATIENCE_SECONDS, wait_agreed

BROKEN = 1
STATES = ["dispatched", "inProgress", "awaitingSignature"]


def amendments(daemon, job):
    return daemon.get(f"/v1/jobs/{job}/amendments")


def named(daemon, job):
    report = amendments(daemon, job)
    return report["standing"], [(item["kind"], item["itemName"], item["byName"]) for item in report["items"]]


def wait_standing(daemons, job, standing, signed_by):
    def is_so(daemon):
        report = amendments(daemon, job)
        signature = report["signature"] or {}
        return (report["standing"], signature.get("name"), signature.get("isPending")) == (standing, signed_by, False)

    wait_until(lambda: all(is_so(daemon) for daemon in daemons), PATIENCE_SECONDS, f"{standing}, signed by {signed_by}")


def said(daemon, *arguments):
    """What a command that has to succeed said beside its answer."""
    done = daemon.muster(*arguments)
    assert done.returncode == 0 and done.stdout, done
    return done.stderr


def test_whoever_writes_to_a_signed_job_is_told_so(solos, office, front, tmp_path):
    anna, bert = crew(solos, office, front)
    job = anna.create_job("Smith")
    wait_published([anna, bert], job, "scheduled")
    sofa, lamp = (anna.add(job, name=name, barcode=name) for name in ("Sofa", "Lamp"))
    for name in STATES:
        advance(anna, job, name)
    wait_published([anna, bert], job, "awaitingSignature")
    wait_agreed([anna, bert], job)
    assert said(bert, "item", "set", "Smith", "Sofa", "room=Hall") == "", "nobody has signed"
    anna.make(f"/v1/jobs/{job}/signature", {"name": "J. Smith"})
    wait_standing([anna, bert], job, "asSigned", "J. Smith")
    rows = tmp_path / "rows.csv"
    rows.write_text("barcode,name\nSofa,Sofa bed\n1,Box\n")
    commands = [
        ("item", "add", "Smith", "name=Stool"), ("item", "set", "Smith", sofa, "room=Den"),
        ("item", "note", "Smith", sofa, "scratched"), ("item", "remove", "Smith", "Lamp"),
        ("item", "restore", "Smith", "Lamp"), ("import", "Smith", str(rows), "--key", "barcode"),
    ]
    for daemon in (bert, anna):
        for command in commands[:3]:
            line = said(daemon, *command)
            assert "J. Smith has signed for this job" in line and "amendment" in line, line
            assert len(line.splitlines()) == 1
    for command in commands[3:]:
        assert "J. Smith has signed for this job" in said(anna, *command), command
    # Nothing was written, and nothing has to be said.
    assert said(anna, "item", "restore", "Smith", "Lamp") == "muster: Lamp was back already.\n"
    assert said(anna, "import", "Smith", str(rows), "--key", "barcode") == ""
    answer = anna.make(f"/v1/jobs/{job}/items", {"fields": {"name": "Rug"}})
    assert (answer["amends"]["signedBy"], answer["amends"]["state"]) == ("J. Smith", None), answer
    signed_at = answer["amends"]["signedAt"]
    assert signed_at and bert.make(f"/v1/jobs/{job}/items", {"fields": {"name": "Rug"}})["amends"]["signedAt"] == signed_at
    advance(anna, job, "completed")
    wait_published([anna, bert], job, "completed")
    assert "and it is completed" in said(bert, "item", "add", "Smith", "name=Chair")
    other = anna.make("/v1/jobs", {"name": "Oak"})["id"]
    assert set(anna.make(f"/v1/jobs/{other}/items", {"fields": {"name": "Rug"}})) == {"id"}


def test_whoever_writes_to_a_job_that_is_to_be_cancelled_is_told_so_without_an_office(solos):
    anna = solos("anna").start()
    job = anna.create_job("Oak")
    advance(anna, job, "cancelled")
    assert "This job is cancelled" in said(anna, "item", "add", "Oak", "name=Sofa")


def test_amendments_are_named_everywhere_and_a_new_signature_ends_them(solos, office, front, tmp_path):
    anna, bert = crew(solos, office, front)
    job = anna.create_job("Smith")
    wait_published([anna, bert], job, "scheduled")
    sofa = anna.add(job, name="Sofa", room="Hall")
    lamp = anna.add(job, name="Lamp")
    for name in STATES:
        advance(anna, job, name)
    wait_published([anna, bert], job, "awaitingSignature")
    wait_agreed([anna, bert], job)
    first = anna.make(f"/v1/jobs/{job}/signature", {"name": "J. Smith"})
    wait_standing([anna, bert], job, "asSigned", "J. Smith")

    assert bert.muster("item", "set", job, sofa, "room=Den").returncode == 0
    assert bert.muster("item", "remove", job, lamp).returncode == 0
    bert.add(job, name="Stool")
    wait_agreed([anna, bert], job)
    told = named(anna, job)
    assert told[0] == "amended" and told == named(bert, job)
    assert [kind for kind, _, _ in told[1]] == ["changed", "removed", "added"], told
    assert amendments(anna, job)["signature"]["digest"] == first["digest"]
    changed = amendments(anna, job)["items"][0]["fields"]
    assert [(field["field"], field["signed"], field["present"]["value"]) for field in changed] == [
        ("room", "Hall", "Den")
    ]
    assert "3 amendments since" in anna.muster("job", "show", job).stdout
    summary = anna.muster("job", "summary", job).stdout
    assert "Den" in summary and "Lamp" in summary and "Stool" in summary
    assert json.loads(anna.muster("job", "summary", job, "--json").stdout)["amendments"] == amendments(anna, job)

    exported = anna.muster("job", "export", job, "--format", "amendments")
    assert exported.returncode == 0 and json.loads(exported.stdout) == amendments(anna, job)

    bert.make(f"/v1/jobs/{job}/signature", {"name": "A. Smith"})
    wait_standing([anna, bert], job, "asSigned", "A. Smith")
    notes = "\n".join(change["note"] or "" for change in anna.get(f"/v1/jobs/{job}/log"))
    assert "J. Smith" in notes and "A. Smith" in notes and "vector" not in notes
    audit = anna.muster("job", "audit", job)
    assert audit.returncode == 0 and max(map(len, audit.stdout.splitlines())) <= 80, audit
    assert audit.stdout.index("Signed by J. Smith at ") < audit.stdout.index("Signed by A. Smith at ")
    found = json.loads(anna.muster("job", "audit", job, "--json").stdout)["signatures"]
    digests = [first["digest"], anna.digest(job)]
    assert [(one["name"], one["digest"]) for one in found] == list(zip(["J. Smith", "A. Smith"], digests))

    # Months later: the file, when nobody runs any more who could be asked.
    exported = anna.muster("job", "export", job, "--format", "history")
    assert exported.returncode == 0, exported
    office.program.stop(PATIENCE_SECONDS)
    for daemon in (anna, bert):
        assert daemon.stop() == 0
    history = tmp_path / "smith.history"
    history.write_text(exported.stdout)
    audit = audited(anna, history)
    assert audit.returncode == 0 and not audit.stderr, audit
    assert audit.stdout.index("Signed by J. Smith at ") < audit.stdout.index("Signed by A. Smith at ")
    assert json.loads(audited(anna, history, "--json").stdout)["signatures"] == found
    # Somebody puts another name under it, or another total.
    for true, false in ((b"J. Smith", b"J. Smyth"), (first["digest"].encode(), amended(first["digest"]).encode())):
        history.write_text(altered(exported.stdout, true, false))
        audit = audited(anna, history)
        assert audit.returncode == BROKEN and "is not what was signed" in audit.stdout, audit
        assert "Signed by J. Smyth" not in audit.stdout, audit


def audited(daemon, path, *arguments):
    return subprocess.run(daemon.command("job", "audit", str(path), *arguments), capture_output=True, text=True)


def amended(digest):
    return ("0" if digest[0] != "0" else "1") + digest[1:]


def altered(history, true, false):
    """The file with something else in the changes of its runs."""
    lines, count = [json.loads(line) for line in history.splitlines()], 0
    for line in lines:
        if line["line"] == "run":
            changes = base64.b64decode(line["changes"])
            count += changes.count(true)
            line["changes"] = base64.b64encode(changes.replace(true, false)).decode()
    assert count, f"{true} stands in it"
    return "".join(json.dumps(line) + "\n" for line in lines)
