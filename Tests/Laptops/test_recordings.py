"""All that a person sees, read again at 60, 80 and 120 columns and recorded, one recording for each group of commands.

With MUSTER_RECORDINGS the recordings are left there: `asciinema play jobs.cast`. What a rule of readable.py finds and nobody
has mended yet stands in recordings_known.py.
"""

import os
import re
import signal
from types import SimpleNamespace

import pytest
from gateways import advance, server_flags, wait_published
from household import FAMILY, JAPANESE, JOB, barcode, rows, write
from invitations import CODE, admit, anna as inviter, invite, join, newcomer, wait_joining  # noqa: F401
from lab import wait_until
from membership import assign
from recording import INTERRUPT, ROWS, WIDTHS, Scene, parse
from recordings_known import KNOWN, MEANT
from revoking import certify, enlist, install
from solo import PATIENCE_SECONDS, wait_agreed

DECLINED, NOT_KNOWN, USAGE, BAD_DATA, UNAVAILABLE, NOT_PERMITTED = 1, 2, 64, 65, 69, 77
ENDED = "Elm Street 4"
BERT = "bert-warehouse-thinkpad-x13"
OUTAGE = "503"


@pytest.fixture
def scene(request, tmp_path):
    """Of the test's group, which is its name's last word."""
    group = request.node.name.removeprefix("test_")
    with Scene(group, tmp_path, KNOWN.get(group), MEANT.get(group)) as scene:
        yield scene
    if getattr(request.node, "has_failed", False):
        return
    scene.judge()
    header, events = parse(scene.recording.path)
    typed = [data for _, kind, data in events if kind == "o" and data.startswith("$ muster")]
    assert (header["width"], header["height"]) == (max(WIDTHS), ROWS)
    assert [data for _, kind, data in events if kind == "r"][:3] == [f"{columns}x{ROWS}" for columns in WIDTHS]
    assert len(typed) == sum(kind == "m" for _, kind, _ in events), "each command stands there as it was typed"


def lead(daemon):
    """Lets it put others on jobs."""
    install(daemon, daemon.fleet.sign(daemon.get("/v1/fleet")["request"], "lead"))
    return daemon


def pair(solos, *flags):
    """Anna, who leads, and bert, connected."""
    anna = lead(solos("anna").start(*flags))
    bert = solos(BERT).start("--peer", anna.address)
    wait_until(lambda: anna.connected() == [BERT], PATIENCE_SECONDS, "they meet")
    return anna, bert


def fill(daemon, job, tmp_path, count):
    """Imports so many rows."""
    done = daemon.muster("import", job, write(tmp_path / "house.csv", rows(count)), "--key", "barcode")
    assert done.returncode == 0, done


def without_daemon(daemon, path):
    return SimpleNamespace(command=daemon.command, socket=str(path))


def test_status(scene, solos, office, front, tmp_path):
    anna, bert = pair(solos, *server_flags(front.url), "--reader-socket", str(tmp_path / "look.sock"))
    alone = newcomer(solos, "carl-new-laptop")
    job = anna.create_job(JOB)
    wait_published([anna, bert], job, "scheduled")
    for daemon in (anna, bert):
        for words in (["status"], ["doctor"], ["peers"], ["peers", "--wide"], ["clock"], ["session", "show"], ["session", "list"]):
            scene.read(daemon, *words, label=f"{' '.join(words)} on {'anna' if daemon == anna else 'bert'}")
    scene.read(anna, "ps", "--columns", "device,state")
    for columns, person in zip(WIDTHS, ("Ann", "Maximiliane-Alexandra Hohenberg-Leutheusser", "田中 花子")):
        scene.run(columns, anna, "session", "start", person, code=BAD_DATA, label="session start unknown")
        scene.run(columns, anna, "session", "start", person, "--new", label="session start --new")
        scene.run(columns, anna, "session", "show", label="session show while one goes on")
        scene.run(columns, anna, "status", label="status in a session")
    scene.read(anna, "session", "list", label="session list of three")
    scene.read(anna, "session", "start", "Anne", code=BAD_DATA)
    for columns in WIDTHS:
        scene.run(columns, anna, "session", "start", "ann", label="session start again")
        scene.run(columns, anna, "session", "end")
        scene.run(columns, anna, "session", "end", label="session end of none")
    for words in (["status"], ["doctor"], ["peers"], ["clock"]):
        scene.read(alone, *words, label=f"{words[0]} without a fleet")
    scene.read(anna, "peers", "--columns", "nmae", code=USAGE)
    scene.read(anna, "peers", "--sort", "size", code=USAGE)
    scene.read(anna, "statsu", code=USAGE)
    scene.read(anna, "status", "twice", code=USAGE)
    reader = without_daemon(anna, tmp_path / "look.sock")
    scene.read(reader, "status", label="status for a reader")
    scene.read(reader, "session", "start", "Ann", code=NOT_PERMITTED, label="session start for a reader")
    bert.stop()
    wait_until(lambda: anna.connected() == [], PATIENCE_SECONDS, "bert is gone")
    for words in (["status"], ["doctor"], ["peers"]):
        scene.read(anna, *words, label=f"{words[0]} without peers")
    for words in (["status"], ["doctor"], ["peers"], ["clock"], ["session", "show"]):
        scene.read(bert, *words, code=1 if words == ["doctor"] else UNAVAILABLE, label=f"{' '.join(words)} without a daemon")


def test_job(scene, solos, office, front, tmp_path):
    anna, bert = pair(solos, *server_flags(front.url))
    job = scene.call(anna.create_job(JOB), "JOB")
    for name in (JAPANESE, FAMILY, "Miller", "Miller", "Depot", "Warehouse"):
        anna.create_job(name)
    fill(anna, JOB, tmp_path, 300)
    wait_published([anna, bert], job, "scheduled")
    wait_agreed([anna, bert], job)
    warehouse = scene.call(contradict(anna, bert, job), "WAREHOUSE")
    ended = work_late(anna, bert)
    for words in (["list"], ["ls", "--wide"], ["list", "--columns", "name,id"], ["list", "--sort", "-items"]):
        scene.read(anna, "job", *words)
    for name in (JOB, JAPANESE, FAMILY):
        scene.call(name, {JOB: "JOB", JAPANESE: "JAPANESE", FAMILY: "FAMILY"}[name])
    for words in (
            ["show", JOB], ["show", JAPANESE], ["show", FAMILY], ["log", FAMILY], ["log", JOB, "--item", barcode(10)],
            ["late", JOB], ["summary", JOB], ["summary", JAPANESE], ["conflicts", JOB],
            ["conflicts", FAMILY], ["show", warehouse], ["conflicts", warehouse], ["check", JOB], ["roster", JOB],
            ["roster", JOB, "--wide"], ["audit", JOB], ["late", ENDED], ["show", ENDED]):
        scene.read(anna, "job", *words)
    for form in ("json", "csv", "amendments"):
        scene.read(anna, "job", "export", "Depot", "--format", form, is_data=True)
    for columns in WIDTHS:
        seen = scene.run(columns, anna, "job", "log", JOB)
        assert seen.printed.count("\n") >= 300
        # It may not hear yet what changes while it paints for the first time.
        add = lambda name: lambda: anna.add(job, name=name) and None
        scene.run(columns, anna, "job", "watch", JOB, answers=[
            ("Ctrl-C ends", add(f"Early {columns}")), (f"{len(anna.items(job)) + 1} items", add(f"New {columns}")),
            (f"New {columns}", INTERRUPT)])
    history = tmp_path / "history.jsonl"
    history.write_text(anna.muster("job", "export", JOB, "--format", "history").stdout, encoding="utf-8")
    scene.call(str(history), "HISTORY")
    scene.read(anna, "job", "audit", str(history))
    scene.read(anna, "job", "audit", str(history), "--fleet", "0123abcd", code=BAD_DATA)
    history.write_text("{}\n", encoding="utf-8")
    scene.read(anna, "job", "audit", str(history), code=BAD_DATA, label="job audit of no history")
    errors = {
        ("show", "Smiht"): BAD_DATA, ("show", "Miller"): BAD_DATA, ("show", "0"): BAD_DATA, ("show",): USAGE,
        ("advance", JOB, "dispached"): BAD_DATA, ("shwo", JOB): USAGE, ("list", "--columns", "id,nmae"): USAGE,
        ("create", "--name", ""): BAD_DATA, ("create", "--name", "X", "--kind", "pikcup"): USAGE,
        ("create", "--name", "X", "--id", "two words"): BAD_DATA, ("export", JOB, "--format", "xml"): USAGE,
        ("create", "--name", "X", "--for", "nobody-laptop"): BAD_DATA, ("assign", JOB, "nobody-laptop"): BAD_DATA,
        ("log", JOB, "--item", "4711"): BAD_DATA, ("conflicts", JOB, "--take", barcode(10), "room", "Moon"): BAD_DATA,
        ("audit", "history-that-is-not-there"): BAD_DATA, ("rename", JOB): USAGE,
        ("log", JOB, "--item", barcode(14)): BAD_DATA}
    for words, code in errors.items():
        scene.read(anna, "job", *words, code=code)
    scene.read(bert, "job", "assign", JOB, "anna", code=NOT_PERMITTED)
    change_jobs(scene, anna, ended)
    bert.stop()
    wait_until(lambda: anna.connected() == [], PATIENCE_SECONDS, "bert is gone")
    scene.read(anna, "job", "check", JOB, code=NOT_KNOWN, label="job check alone")
    scene.read(anna, "job", "show", JOB, label="job show alone")


def contradict(anna, bert, job):
    """Both change the same of some items apart from each other; one barcode is there twice."""
    items = {item["fields"]["barcode"]: id for id, item in anna.items(job).items()}
    [warehouse] = [one["id"] for one in anna.get("/v1/jobs") if one["name"] == "Warehouse"]
    bert.stop()
    bert.start()
    for daemon, room in ((anna, "Living room"), (bert, "Garage, behind the winter tyres, on the left")):
        for number in range(10, 13):
            fields = {"room": f"{room} {number}", "name": f"Sofa of {daemon.name}"}
            status, answer = daemon.ask("PATCH", f"/v1/jobs/{job}/items/{items[barcode(number)]}", {"fields": fields})
            assert status == 200, answer
        done = daemon.muster("job", "rename", warehouse, f"Warehouse of {daemon.name}")
        assert done.returncode == 0, done
    anna.add(job, barcode=barcode(14), name="Umbrella stand")
    bert.make("/v1/peers", {"address": anna.address})
    wait_agreed([anna, bert], job)
    wait_agreed([anna, bert], warehouse)
    return warehouse


def work_late(anna, bert):
    """A job that anna has ended while bert wrote in it."""
    job = anna.create_job(ENDED)
    wait_agreed([anna, bert], job)
    bert.stop()
    bert.start()
    for number, piece in enumerate(("Chair", "Table, oak, extensible, with the six boards wrapped apart", "ランプ")):
        bert.add(job, name=piece, barcode=str(number), room="Kitchen")
    assert anna.muster("job", "remove", ENDED, "--yes").returncode == 0
    bert.make("/v1/peers", {"address": anna.address})
    wait_until(lambda: len(anna.get(f"/v1/jobs/{job}/late")) == 3, PATIENCE_SECONDS, "anna lists what came late")
    return job


def change_jobs(scene, anna, ended):
    """Whatever changes a job, once at each width."""
    for columns in WIDTHS:
        run = lambda *words, **options: scene.run(columns, anna, "job", *words, **options)
        name = f"Hohenberg-Leutheusser, Unter den Linden {columns}, Hinterhaus"
        scene.call(name, "NEW")
        run("create", "--name", name, "--kind", "pickup")
        run("create", "--name", name, label="job create of the same name")
        newest = anna.get("/v1/jobs")
        [other] = [one["id"] for one in newest if one["name"] == name][1:]
        scene.call(other, "OTHER")
        run("rename", other, f"{name}, second floor", label="job rename OTHER")
        run("create", "--name", f"For bert {columns}", "--for", BERT, label="job create --for")
        run("assign", name, BERT)
        run("roster", name)
        run("unassign", name, BERT)
        run("advance", name, "dispatched")
        run("advance", name, "dispatched", label="job advance again")
        anna.add(other, name="Sofa")
        run("sign-off", other, "--name", "Dr. Smith-Hohenberg", code=BAD_DATA, label="job sign-off too early")
        for state in ("dispatched", "inProgress", "awaitingSignature"):
            run("advance", other, state)
        run("sign-off", other, "--name", "Dr. Smith-Hohenberg", "--digest", "0" * 64, code=BAD_DATA,
            label="job sign-off of something else")
        run("sign-off", other, "--name", "Dr. Smith-Hohenberg", label="job sign-off")
        number = {60: 10, 80: 11, 120: 12}[columns]
        run("conflicts", JOB, "--take", barcode(number), "room", f"Living room {number}", label="job conflicts --take")
        run("remove", other, code=DECLINED, answers=[(" to go on: ", "no\n")], label="job remove declined")
        run("remove", other, answers=[(" to go on: ", f"{name}, second floor\n")])
        run("remove", "Depot", code=-signal.SIGINT, answers=[(" to go on: ", INTERRUPT)], label="job remove Ctrl-C")
        run("late", ENDED, "--accept", "zzzz", code=BAD_DATA)
        run("late", ENDED, "--drop", "all", code=DECLINED, answers=[("[y/N] ", "n\n")], label="job late --drop declined")
    late = [change["id"] for change in anna.get(f"/v1/jobs/{ended}/late")]
    for columns, choice, change in zip(WIDTHS, ("--drop", "--accept", "--accept"), late):
        answers = [("[y/N] ", "y\n")] if choice == "--drop" else ()
        scene.run(columns, anna, "job", "late", ENDED, choice, change, answers=answers, label=f"job late {choice}")
        scene.run(columns, anna, "job", "late", ENDED, label=f"job late after {choice}")
    scene.read(anna, "job", "list", label="job list of many")


def test_item(scene, solos, tmp_path):
    anna, bert = pair(solos)
    for name in (JOB, JAPANESE):
        anna.create_job(name)
    scene.call(JOB, "JOB"), scene.call(JAPANESE, "JAPANESE")
    fill(anna, JOB, tmp_path, 300)
    [job] = [one["id"] for one in anna.get("/v1/jobs") if one["name"] == JOB]
    wait_agreed([anna, bert], job)
    for words in (
            ["list", JOB], ["ls", JOB, "room=Attic"], ["list", JOB, "room=書斎", "--sort", "-volume"], ["list", JAPANESE],
            ["list", JOB, "room=Garage", "--columns", "id,name,room"], ["list", JOB, "room=Garage", "--wide"],
            ["list", JOB, "room=Moon"], ["show", JOB, barcode(0)], ["show", JOB, barcode(24)], ["show", JOB, barcode(9)]):
        scene.read(anna, "item", *words)
    errors = {
        ("show", JOB, "4711"): BAD_DATA, ("show", JOB, "0"): BAD_DATA, ("show", "Smiht", "4711"): BAD_DATA,
        ("add", JOB, "quantity=abc"): BAD_DATA, ("add", JOB, "quantiy=2"): BAD_DATA, ("add", JOB, "category=sofa3"): BAD_DATA,
        ("add", JOB, "name"): USAGE, ("add", JOB, "name=a", "name=b"): USAGE, ("add", JOB): USAGE,
        ("add", JOB, "barcode=" + barcode(5)): 0, ("set", JOB, barcode(1), "volumeCubicFeet=-3"): BAD_DATA,
        ("set", JOB, "4711", "room=Hall"): BAD_DATA, ("note", JOB, barcode(1), ""): BAD_DATA,
        ("remove", JOB, "4711"): BAD_DATA, ("remove", JOB, "--where", "room=Moon", "--yes"): 0,
        ("remove", JOB): USAGE, ("restore", JOB, barcode(1)): BAD_DATA, ("restore", JOB, "4711"): BAD_DATA,
        ("list", JOB, "--columns", "id,nmae"): 0, ("list", JOB, "rom=Attic"): 0, ("lst", JOB): USAGE}
    for words, code in errors.items():
        scene.read(anna, "item", *words, code=code)
    for columns in WIDTHS:
        run = lambda *words, **options: scene.run(columns, anna, "item", *words, **options)
        number = {60: 6, 80: 9, 120: 18}[columns]
        item, second = scene.call(barcode(number), "ITEM"), scene.call(barcode(number + 1), "SECOND")
        run("add", JOB, f"name=Standing lamp {columns}", "category=carton-lamp", "room=Hall", label="item add")
        run("add", JOB, "name=Two", f"barcode={barcode(number + 40)}", "--force", label="item add --force")
        run("set", JOB, item, f"condition=scratched at {columns}", label="item set")
        run("set", JOB, item, f"condition=scratched at {columns}", label="item set again")
        run("note", JOB, item, "Mrs Smith says that the left leg was loose before, photographed by Ann", label="item note")
        run("show", JOB, item)
        run("remove", JOB, item)
        run("show", JOB, item, label="item show removed")
        run("restore", JOB, item)
        run("restore", JOB, item, label="item restore again")
        run("remove", JOB, item, second, code=DECLINED, answers=[("[y/N] ", "n\n")], label="item remove declined")
        run("remove", JOB, item, second, answers=[("[y/N] ", "y\n")], label="item remove two")
        room = {60: "Attic", 80: "Garage", 120: "Kitchen"}[columns]
        run("remove", JOB, "--where", f"room={room}", answers=[("[y/N] ", "y\n")], label="item remove --where")


def test_import(scene, solos, tmp_path):
    anna = solos("anna").start()
    sound = list(rows(300))
    doubtful = [dict(row) for row in sound[:40]]
    for line, fields in {3: {"quantity": "abc"}, 5: {"category": "sofa-3-set"}, 7: {"quantity": "-1"}, 9: {"barcode": ""}}.items():
        doubtful[line].update(fields)
    for number in range(12, 40):
        doubtful[number]["quantity"] = "a few, see the note that Mr Hohenberg has left on the door"
    files = {
        "sound": write(tmp_path / "sound.csv", sound), "doubtful": write(tmp_path / "doubtful.csv", doubtful),
        "misspelt": write(tmp_path / "misspelt.csv", [{"barcode": "1", "quantiy": "2", "colour of the box": "red"}]),
        "many": write(tmp_path / "many.csv", [{"barcode": str(number), "name": f"Carton {number}"} for number in range(60_000)])}
    (tmp_path / "broken.csv").write_text('barcode,name\n1,"Sofa\n2,Chair\n', encoding="utf-8")
    (tmp_path / "latin.csv").write_bytes("barcode,name\n1,Wohnküche\n".encode("latin-1"))
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "ragged.csv").write_text("barcode,name\n1,Sofa,red\n2\n", encoding="utf-8")
    files |= {name: str(tmp_path / f"{name}.csv") for name in ("broken", "latin", "empty", "ragged")}
    for name, path in files.items():
        scene.call(path, name)
    for columns in WIDTHS:
        job = scene.call(f"{JOB} {columns}", "JOB")
        anna.create_job(job)
        run = lambda *words, **options: scene.run(columns, anna, "import", *words, **options)
        run(job, files["sound"], "--key", "barcode")
        run(job, files["sound"], "--key", "barcode", label="import JOB sound again")
        run(job, files["doubtful"], "--key", "barcode", code=BAD_DATA)
        run(job, files["doubtful"], code=DECLINED, answers=[("[y/N] ", "n\n")], label="import JOB doubtful declined")
        run(job, files["misspelt"], code=BAD_DATA)
        run(job, files["broken"], code=BAD_DATA)
        run(job, files["latin"], code=BAD_DATA)
        run(job, files["empty"], code=BAD_DATA)
        run(job, files["ragged"], code=BAD_DATA)
        run(job, files["sound"], "--key", "colour", code=BAD_DATA)
        run(job, files["sound"], "--field", "Colour=name", code=BAD_DATA)
        run(job, files["sound"], "--field", "name", code=USAGE)
        run(job, "/nowhere/house.csv", code=BAD_DATA)
        run("Smiht", files["sound"], code=BAD_DATA)
        run(job, code=USAGE)
        run(job, files["many"], code=-signal.SIGINT, answers=[("%", INTERRUPT)], label="import Ctrl-C")


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
    scene.read(anna, "fleet", "revoke", dora.name, answers=[("[y/N] ", "y\n")], label="fleet revoke again")
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


def test_catalogue(scene, solos):
    anna = solos("anna").start()
    for words in ([], ["sofa"], ["--sort", "-cu-ft"], ["--columns", "category"], ["bed", "--wide"], ["zither"]):
        scene.read(anna, "catalogue", *words)
    scene.read(anna, "catalogue", "--sort", "size", code=USAGE)
    scene.read(anna, "catalog", code=USAGE)
    scene.read(away_from(anna), "catalogue", code=UNAVAILABLE, label="catalogue without a daemon")


def away_from(daemon):
    return SimpleNamespace(command=daemon.command, socket="/nowhere/muster.sock")


COMMANDS = """status; session; session start; session end; session show; session list; doctor; peers; clock; job; job create; job list;
    job show; job rename; job advance; job sign-off; job watch; job log; job summary; job conflicts; job check; job export;
    job audit; job assign; job unassign; job roster; job late; job remove; item; item add; item set; item note; item remove;
    item restore; item list; item show; catalogue; import; queue; queue list; queue show; queue retry; queue drop; queue pause;
    queue resume; queue log; fleet; fleet init; fleet invite; fleet join; fleet list; fleet show; fleet revoke; fleet request;
    fleet sign; fleet install; fleet recover; fleet leave; completions"""


def test_help(scene, solos):
    anna = away_from(solos("anna"))
    scene.read(anna, "--help")
    scene.read(anna, "--version")
    scene.read(anna, "help", "job", "list")
    scene.read(anna, code=0, label="nothing")
    for command in COMMANDS.split(";"):
        scene.read(anna, *command.split(), "--help")
    for shell in ("bash", "zsh", "fish"):
        scene.read(anna, "completions", shell, is_data=True)
    scene.read(anna, "completions", "powershell", code=USAGE)
    scene.read(anna, "completions", code=USAGE)
    scene.read(anna, "help", "jbo", code=USAGE)
    scene.read(anna, "--bogus", code=USAGE)
