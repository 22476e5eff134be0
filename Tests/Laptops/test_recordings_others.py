"""Whatever a person sees of the office and of the fleet, read at 60, 80 and 120 columns and recorded: see test_recordings.py."""

import re

from gateways import advance, server_flags, wait_published
from belongings import BERT, FAMILY, JAPANESE, JOB, lead
from invitations import CODE, admit, anna as inviter, invite, join, newcomer, wait_joining  # noqa: F401
from lab import wait_until
from screencast import BAD_DATA, DECLINED, INTERRUPT, NOT_PERMITTED, USAGE, WIDTHS, scene  # noqa: F401
from revoking import enlist
from solo import PATIENCE_SECONDS

OUTAGE = "503"


def test_queue(scene, solos, office, front):
    anna = lead(solos("anna").start(*server_flags(front.url)))
    scene.read(anna, "queue", "list", label="queue list of nothing")
    scene.read(anna, "queue", "log", label="queue log of nothing")
    jobs = [anna.create_job(name) for name in (JOB, JAPANESE, FAMILY)]
    for job in jobs:
        wait_published([anna], job, "scheduled")
    # The first is refused: the office cancels the job while nothing goes out.
    anna.make("/v1/queue/pause", {})
    refused = [advance(anna, jobs[0], state)[0] for state in ("dispatched", "inProgress")]
    status, _ = office.mutate(jobs[0], 2, lane="office", kind="advanceState", payload={"state": "cancelled"})
    assert status == 200
    scene.read(anna, "queue", "list", label="queue list while paused")
    scene.read(anna, "status", label="status while paused")
    scene.read(anna, "job", "show", JOB, label="job show while paused")
    for columns in WIDTHS:
        scene.run(columns, anna, "queue", "resume")
        scene.run(columns, anna, "queue", "resume", label="queue resume of no pause")
        if columns < max(WIDTHS):
            scene.run(columns, anna, "queue", "pause")
    rejected = lambda: [entry["state"] for entry in anna.get("/v1/queue")] == ["rejected"] * 2
    wait_until(rejected, PATIENCE_SECONDS, "both are refused")
    front.always(OUTAGE)
    waiting = [advance(anna, job, "dispatched")[0] for job in jobs[1:]]
    advance(anna, jobs[1], "inProgress")
    anna.make("/v1/queue/pause", {"lane": f"{jobs[2]}/state"})
    tried = lambda: any(entry["attempts"] for entry in anna.get("/v1/queue") if entry["token"] == waiting[0])
    wait_until(tried, PATIENCE_SECONDS, "the office does not answer")
    for token, name in zip((*refused, *waiting, f"{JAPANESE}/stat"), ("REFUSED", "AFTER", "WAITING", "PAUSED", "LANE")):
        scene.call(token, name)
    for words in (
            ["list"], ["ls", "--wide"], ["log"], ["log", "--last", "3", "--wide"], ["show", refused[0]], ["show", refused[1]],
            ["show", waiting[0]], ["show", waiting[1]]):
        scene.read(anna, "queue", *words)
    for words in (["status"], ["doctor"], ["job", "show", JOB], ["job", "list"]):
        scene.read(anna, *words, label=f"{' '.join(words[:2])} with some refused")
    errors = {
        ("show", "ffff"): BAD_DATA, ("retry", "ffff"): BAD_DATA, ("drop", "ffff"): BAD_DATA, ("pause", "Nowhere/state"): BAD_DATA,
        ("pause", "Smith"): BAD_DATA, ("resume", f"{JAPANESE}/stat"): BAD_DATA, ("show", ""): USAGE, ("drop",): USAGE,
        ("lsit",): USAGE, ("log", "--last", "many"): USAGE, ("list", "--columns", "tokn"): USAGE}
    for words, code in errors.items():
        scene.read(anna, "queue", *words, code=code)
    for columns in WIDTHS:
        run = lambda *words, **options: scene.run(columns, anna, "queue", *words, **options)
        run("retry", waiting[0])
        run("pause", f"{JAPANESE}/state", label="queue pause LANE")
        run("pause", f"{JAPANESE}/state", label="queue pause LANE again")
        run("resume", f"{JAPANESE}/state", label="queue resume LANE")
    scene.run(60, anna, "queue", "drop", refused[0])
    scene.run(80, anna, "queue", "drop", refused[1])
    scene.run(120, anna, "queue", "drop", waiting[1])
    scene.read(anna, "queue", "show", refused[0], label="queue show DROPPED")
    scene.run(80, anna, "queue", "retry", refused[0], code=BAD_DATA, label="queue retry DROPPED")
    scene.run(80, anna, "queue", "drop", refused[0], code=BAD_DATA, label="queue drop DROPPED")


def test_fleet(scene, solos, inviter, tmp_path):  # noqa: F811
    anna = inviter
    bert = enlist(solos, anna, BERT, anna.address)
    dora = enlist(solos, anna, "dora-stolen-laptop", anna.address)
    device = scene.call(dora.get("/v1/fleet")["deviceID"], "DORA")
    wait_until(lambda: len(anna.connected()) == 2, PATIENCE_SECONDS, "they meet")
    scene.read(anna, "fleet", "list")
    scene.read(anna, "fleet", "ls", "--wide")
    for words in (["show"], ["show", BERT], ["show", device]):
        scene.read(anna, "fleet", *words)
    scene.read(anna, "fleet", "request", is_data=True)
    scene.read(bert, "fleet", "show", label="fleet show of a member")
    passphrase = "a drawer of its own"
    for columns in WIDTHS:
        carl = newcomer(solos, f"carl-new-laptop-{columns}", anna.address)
        run = lambda *words, **options: scene.run(columns, carl, "fleet", *words, **options)
        run("show", label="fleet show without a fleet")
        run("list", label="fleet list without a fleet")
        run("invite", code=BAD_DATA, label="fleet invite without a fleet")
        run("join", "7K3M-QX0T", code=BAD_DATA, label="fleet join half a code")
        scene.run(columns, bert, "fleet", "invite", code=NOT_PERMITTED, label="fleet invite of a member")
        let_in(scene, columns, anna, carl)
        join_by_code(scene, columns, anna, carl)
        run("show", label="fleet show after joining")
        scene.run(columns, anna, "fleet", "invite", "--role", "lead", code=DECLINED, answers=[("Waiting for it", INTERRUPT)],
            label="fleet invite Ctrl-C")
        run("leave", code=DECLINED, answers=[("[y/N] ", "n\n")], label="fleet leave declined")
        run("leave", answers=[("[y/N] ", "y\n")])
        root = scene.call(str(tmp_path / f"root-{columns}.pem"), "ROOT")
        run("init", "--root", root, code=BAD_DATA, answers=[("assphrase", f"{passphrase}\n"), ("more", "other\n")],
            label="fleet init with two passphrases")
        seen = run("init", "--root", root, answers=[("assphrase", f"{passphrase}\n"), ("more", f"{passphrase}\n")])
        recovery = next(line.strip() for line in seen.printed.split("\n") if re.fullmatch(r"  \S+(-\S+){4,}", line))
        run("init", "--root", root, code=BAD_DATA, label="fleet init again")
        if columns > min(WIDTHS):
            carl.stop()
            continue
        # Each takes a second or more: a key is made from what somebody knows.
        lost = scene.call(str(tmp_path / "again.pem"), "AGAIN")
        run("recover", "--root", lost, code=BAD_DATA, answers=[("ode", recovery[:-1] + "\n")], label="fleet recover wrong")
        run("recover", "--root", lost,
            answers=[("ode", recovery + "\n"), ("assphrase", f"{passphrase}\n"), ("more", f"{passphrase}\n")])
        carl.stop()
    errors = {
        ("show", "nobody-laptop"): BAD_DATA, ("revoke", "nobody-laptop"): BAD_DATA, ("revoke", "anna"): BAD_DATA,
        ("invite", "--role", "boss"): USAGE, ("join",): USAGE, ("sign", "/nowhere/tom.request"): BAD_DATA,
        ("install", "/nowhere/tom.pem"): BAD_DATA, ("lsit",): USAGE, ("join", "7K3M-QX0T-94WD-BZES"): BAD_DATA}
    for words, code in errors.items():
        scene.read(anna, "fleet", *words, code=code)
    scene.run(60, anna, "fleet", "revoke", dora.name, code=DECLINED, answers=[("[y/N] ", "n\n")], label="fleet revoke declined")
    scene.read(bert, "fleet", "revoke", "anna", "--yes", code=NOT_PERMITTED, label="fleet revoke of a member")
    scene.run(80, anna, "fleet", "revoke", dora.name, answers=[("[y/N] ", "y\n")])
    scene.read(anna, "fleet", "revoke", dora.name, label="fleet revoke again")
    scene.read(anna, "fleet", "list", label="fleet list with a revoked one")
    scene.read(anna, "fleet", "show", dora.name, label="fleet show of a revoked one")
    wait_until(lambda: dora.connected() == [], PATIENCE_SECONDS, "dora is shut out")
    for words in (["status"], ["fleet", "show"], ["doctor"]):
        scene.read(dora, *words, code=1 if words == ["doctor"] else 0, label=f"{' '.join(words)} on the revoked one")


def let_in(scene, columns, anna, carl):
    """An invitation at a terminal; who joins by it leaves again."""
    def begin():
        join(carl, CODE.search(scene.screen.shown)[1])

    scene.run(columns, anna, "fleet", "invite", answers=[("Waiting for it", begin), ("[y/N] ", "y\n")])
    wait_joining(carl, "joined")
    assert carl.muster("fleet", "leave", "--yes").returncode == 0


def join_by_code(scene, columns, anna, carl):
    """Joining at a terminal, first with a mistake in the code."""
    code = scene.call(invite(anna), "CODE")
    wrong = scene.call(code[:-1] + ("0" if code[-1] != "0" else "1"), "WRONG")
    scene.run(columns, carl, "fleet", "join", wrong, code=BAD_DATA)
    scene.run(columns, carl, "fleet", "join", code, answers=[("Looking", lambda: admit(anna, code))])
