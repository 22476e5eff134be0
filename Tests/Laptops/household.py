"""A household of some hundred pieces, as a crew lists it: for what has to be read with as much in it as there is."""

import csv

ROOMS = ("Living room", "Kitchen", "Main bedroom", "Children's room, first floor left", "Garage", "Attic", "Wohnküche", "書斎")
PIECES = (
    ("sofa-3-seat", "Sofa (three seats)"), ("carton-medium", "Carton with books, maps and the collection of atlases"),
    ("bed-queen", "Queen bed with a carved headboard, 1890s"), ("dining-chair", "Dining chair"), ("tv-large", "テレビ 75インチ"),
    ("carton-dishpack", "Dish pack 📦 fragile"), ("bookcase-large", "Bücherregal"), ("desk-medium", "Cafe\u0301 table"),
    ("safe", "保険箱"), ("", "Grandfather clock, weights taken out and wrapped, pendulum in carton 12, key with Mrs Smith"))
CONDITIONS = ("good", "worn", "scratched on the left side", "")
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
