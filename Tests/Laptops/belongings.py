"""A household of some hundred pieces, and a crew that lists it: for what has to be read with as much in it as there is."""

import csv
from types import SimpleNamespace

from lab import wait_until
from revoking import install
from solo import PATIENCE_SECONDS

ROOMS = ("Living room", "Kitchen", "Main bedroom", "Children's room, first floor left", "Garage", "Attic", "Wohnküche", "書斎")
PIECES = (
    ("sofa-3-seat", "Sofa (three seats)"), ("carton-medium", "Carton with books, maps and the collection of atlases"),
    ("bed-queen", "Queen bed with a carved headboard, 1890s"), ("dining-chair", "Dining chair"), ("tv-large", "テレビ 75インチ"),
    ("carton-dishpack", "Dish pack 📦 fragile"), ("bookcase-large", "Bücherregal"), ("desk-medium", "Cafe\u0301 table"),
    ("safe", "保険箱"), ("", "Grandfather clock, weights taken out and wrapped, pendulum in carton 12, key with Mrs Smith"))
CONDITIONS = ("good", "worn", "scratched on the left side", "")
BERT = "bert-warehouse-thinkpad-x13"
JOB = "Smith-Hohenberg, 12 Elm Street, third floor, ring twice"
JAPANESE = "東京都港区引越し作業 田中様 二階 グランドピアノあり"
FAMILY = "👩‍👩‍👧 Miller 📦📦 piano 🎹 and 40 cartons"


def barcode(number):
    return str(2_000_000_000_000 + 17 * number)


def rows(count):
    for number in range(count):
        category, name = PIECES[number % len(PIECES)]
        yield {
            "barcode": barcode(number), "category": category, "name": f"{name} {number}" if number >= 10 else name,
            "room": ROOMS[number // 3 % len(ROOMS)], "quantity": str(1 + number % 4),
            "condition": CONDITIONS[number % len(CONDITIONS)],
            "notes": "The customer wants it to be the last one that is loaded" if number % 25 == 0 else ""}


def write(path, some):
    """A table of these rows; returns the path."""
    some = list(some)
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(some[0]))
        table.writeheader()
        table.writerows(some)
    return str(path)


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


def at_socket(daemon, path):
    """The daemon as it is reached by another socket, or not at all."""
    return SimpleNamespace(command=daemon.command, socket=str(path))


def away_from(daemon):
    return at_socket(daemon, "/nowhere/muster.sock")
