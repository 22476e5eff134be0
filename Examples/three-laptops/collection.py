"""The story of two laptops and a museum's collection."""

import csv
import gzip
import os
import time

import fleet
from lab import CrewMember, finish
from telling import SCREEN_COLUMNS, check_and_compare, in_sync

JOB = "Tate collection"
DATA = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/tate-collection.csv.gz"))
WORKS = 69_202
# Who gives which work the number of which other.
MISTAKES = [("anna", 101, 100), ("anna", 501, 500), ("bert", 901, 900)]


def tell(teller, lab, build_directory):
    teller.title("Two laptops and the Tate collection: 69,202 works of art")
    anna, bert = crew = [
        CrewMember(lab.laptop(name), build_directory, columns=SCREEN_COLUMNS).launch() for name in ("anna", "bert")
    ]
    numbers = accession_numbers()

    teller.chapter("Anna's laptop begins a fleet, and lets Bert's in")
    fleet.begin(teller, lab, anna)
    fleet.let_in(teller, anna, bert)
    teller.until(lambda: anna.connected() == ["bert"], "the two have found each other")

    teller.chapter("Anna imports the collection")
    teller.must(len(set(numbers)) == WORKS, f"the file has {WORKS:,} accession numbers, and none of them twice")
    anna.muster("job", "create", "--name", JOB, "--kind", "inventory")
    start = time.monotonic()
    teller.screen(anna, "import", JOB, DATA, "--field", "accession_number=barcode", "--field", "title=name")
    teller.say(f"  The import took {time.monotonic() - start:.1f} s.")
    teller.until(lambda: in_sync(crew), "Bert has told that he holds everything durably")
    teller.must(bert.json("job", "show", JOB)["items"] == WORKS, f"Bert has all {WORKS:,} works")
    teller.must(conflicts(bert) == ([], {}), "no conflict is listed yet")

    both_edit(teller, anna, bert, numbers)
    numbers_are_mixed_up(teller, crew, numbers)

    teller.chapter("Do both hold the same?")
    check_and_compare(teller, crew, JOB)
    for member in crew:
        teller.say(f"{member.name}'s daemon has {resident_megabytes(member.daemon.pid):.0f} MB in memory.")
    codes = [member.daemon.stop() for member in crew]
    teller.must(codes == [0, 0], "each daemon has stopped when asked, with exit code 0")


def accession_numbers():
    with gzip.open(DATA, "rt", encoding="utf-8", newline="") as file:
        return [row["accession_number"] for row in csv.DictReader(file)]


def both_edit(teller, anna, bert, numbers):
    teller.chapter("Both edit the collection at the same time")
    start = time.monotonic()
    work = []
    for number in range(20):
        work.append(anna.begin("item", "set", JOB, numbers[number * 1000], f"room=Crate {number + 1}"))
        work.append(bert.begin("item", "note", JOB, numbers[number * 1000], f"frame checked, sheet {number + 1}"))
    finish(work)
    teller.say(f"{len(work)} edits, 20 on each laptop, took {time.monotonic() - start:.1f} s.")
    teller.until(lambda: in_sync([anna, bert]), "each holds all edits of the other")
    crated = [item for item in bert.json("item", "list", JOB, "room=Crate 20") if item["notes"]]
    teller.must(len(crated) == 1, "the work in crate 20 has Anna's room and Bert's remark")
    teller.screen(bert, "job", "log", JOB, "--item", numbers[19_000], only=lambda lines: lines[-2:])


def numbers_are_mixed_up(teller, crew, numbers):
    teller.chapter("Three works get the number of another")
    teller.say("The file has no duplicate, so three mistakes are made on purpose: two on Anna's laptop, one on Bert's.")
    expected = {}
    for name, work, other in MISTAKES:
        member = next(member for member in crew if member.name == name)
        ids = {number: member.json("item", "show", JOB, number)["id"] for number in (numbers[work], numbers[other])}
        member.muster("item", "set", JOB, ids[numbers[work]], f"barcode={numbers[other]}")
        teller.say(f"{name}: {numbers[work]} becomes {numbers[other]}")
        expected[numbers[other]] = sorted(ids.values())
    teller.until(lambda: in_sync(crew), "each holds all edits of the other")
    teller.screen(crew[0], "job", "conflicts", JOB)
    for member in crew:
        edits, duplicates = conflicts(member)
        if edits or duplicates != expected:
            raise AssertionError(f"{member.name} lists {edits} and {duplicates}, not {expected}.")
    teller.must(True, "both laptops list exactly these three numbers, each with its two works")


def conflicts(member):
    """The concurrent edits, and the ids of the items by the barcode that they share."""
    report = member.json("job", "conflicts", JOB)
    return report["edits"], {entry["barcode"]: sorted(entry["items"]) for entry in report["duplicateBarcodes"]}


def resident_megabytes(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024
