"""Whatever a person sees of jobs, read at 60, 80 and 120 columns and recorded: see test_recordings.py."""

import re
import signal

from gateways import server_flags, wait_published
from belongings import BERT, FAMILY, JAPANESE, JOB, barcode, fill, pair
from lab import wait_until
from screencast import (
    BAD_DATA, DECLINED, INTERRUPT, NOT_KNOWN, NOT_PERMITTED, USAGE, WIDTHS, scene)  # noqa: F401
from solo import PATIENCE_SECONDS, wait_agreed

ENDED = "Elm Street 4"


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
    for words in (["list"], ["ls", "--wide"], ["list", "--columns", "id,name"], ["list", "--sort", "-items"]):
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
    short_id = lambda: re.search(r"or (\w+), to go on", scene.screen.shown)[1] + "\n"
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
        run("remove", other, answers=[(" to go on: ", f"{name}, second floor\n" if columns == max(WIDTHS) else short_id)])
        run("remove", "Depot", code=-signal.SIGINT, answers=[(" to go on: ", INTERRUPT)], label="job remove Ctrl-C")
        run("late", ENDED, "--accept", "zzzz", code=BAD_DATA)
        run("late", ENDED, "--drop", "all", code=DECLINED, answers=[("[y/N] ", "n\n")], label="job late --drop declined")
    late = [change["id"] for change in anna.get(f"/v1/jobs/{ended}/late")]
    for columns, choice, change in zip(WIDTHS, ("--drop", "--accept", "--accept"), late):
        answers = [("[y/N] ", "y\n")] if choice == "--drop" else ()
        scene.run(columns, anna, "job", "late", ENDED, choice, change, answers=answers, label=f"job late {choice}")
        scene.run(columns, anna, "job", "late", ENDED, label=f"job late after {choice}")
    scene.read(anna, "job", "list", label="job list of many")
