"""All that a person sees, read again at 60, 80 and 120 columns and recorded, one recording for each group of commands.

With MUSTER_RECORDINGS the recordings are left there: `asciinema play jobs.cast`. What a rule of readable.py finds and nobody
has mended yet stands in recordings_known.py.
"""

import signal

from gateways import server_flags, wait_published
from belongings import JAPANESE, JOB, at_socket, away_from, barcode, fill, pair, rows, write
from invitations import newcomer
from lab import wait_until
from screencast import (
    BAD_DATA, DECLINED, INTERRUPT, NOT_PERMITTED, UNAVAILABLE, USAGE, WIDTHS, scene)  # noqa: F401
from solo import PATIENCE_SECONDS, wait_agreed


def test_status(scene, solos, office, front, tmp_path):
    anna, bert = pair(solos, *server_flags(front.url), "--reader-socket", str(tmp_path / "look.sock"))
    alone = newcomer(solos, "carl-new-laptop")
    job = anna.create_job(JOB)
    wait_published([anna, bert], job, "scheduled")
    for daemon in (anna, bert):
        for words in (["status"], ["doctor"], ["peers"], ["peers", "--wide"], ["clock"], ["session", "show"], ["session", "list"]):
            scene.read(daemon, *words, label=f"{' '.join(words)} on {'anna' if daemon == anna else 'bert'}")
    scene.read(anna, "ps", "--columns", "laptop,state")
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
    reader = at_socket(anna, tmp_path / "look.sock")
    scene.read(reader, "status", label="status for a reader")
    scene.read(reader, "session", "start", "Ann", code=NOT_PERMITTED, label="session start for a reader")
    bert.stop()
    wait_until(lambda: anna.connected() == [], PATIENCE_SECONDS, "bert is gone")
    for words in (["status"], ["doctor"], ["peers"]):
        scene.read(anna, *words, label=f"{words[0]} without peers")
    for words in (["status"], ["doctor"], ["peers"], ["clock"], ["session", "show"]):
        scene.read(bert, *words, code=1 if words == ["doctor"] else UNAVAILABLE, label=f"{' '.join(words)} without a daemon")


def test_item(scene, solos, tmp_path):
    anna, bert = pair(solos)
    for name in (JOB, JAPANESE):
        anna.create_job(name)
    scene.call(JOB, "JOB"), scene.call(JAPANESE, "JAPANESE")
    fill(anna, JOB, tmp_path, 300)
    [job] = [one["id"] for one in anna.get("/v1/jobs") if one["name"] == JOB]
    wait_agreed([anna, bert], job)
    for words in (
            ["list", JOB], ["ls", JOB, "room=Attic"], ["list", JOB, "room=書斎", "--sort", "-volumeCubicFeet"], ["list", JAPANESE],
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
        ("list", JOB, "--columns", "id,nmae"): BAD_DATA, ("list", JOB, "rom=Attic"): BAD_DATA, ("lst", JOB): USAGE}
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


def test_catalogue(scene, solos):
    anna = solos("anna").start()
    for words in ([], ["sofa"], ["--sort", "-cu-ft"], ["--columns", "category"], ["bed", "--wide"], ["zither"]):
        scene.read(anna, "catalogue", *words)
    scene.read(anna, "catalogue", "--sort", "size", code=USAGE)
    scene.read(anna, "catalog", code=USAGE)
    scene.read(away_from(anna), "catalogue", code=UNAVAILABLE, label="catalogue without a daemon")


COMMANDS = """status; session; session start; session end; session show; session list; doctor; report; peers; clock; job; job create; job list;
    job show; job rename; job advance; job sign-off; job watch; job log; job summary; job conflicts; job check; job export;
    job audit; job assign; job unassign; job roster; job late; job remove; item; item add; item set; item note; item remove;
    item restore; item list; item show; catalogue; import; queue; queue list; queue show; queue retry; queue drop; queue pause;
    queue resume; queue log; fleet; fleet init; fleet invite; fleet join; fleet list; fleet show; fleet revoke; fleet request;
    fleet sign; fleet install; fleet recover; fleet leave; store; store rollback;
    completions"""


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
