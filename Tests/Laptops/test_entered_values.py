"""What people enter is looked at where they enter it, and nowhere else: real daemons and the command line."""

import os

import pytest

from lab import wait_until
from screen import Screen
from solo import PATIENCE_SECONDS, wait_agreed

BAD_DATA = 65
HOUSEHOLD = os.path.join(os.path.dirname(__file__), "..", "..", "Examples", "data", "household-inventory.csv")


@pytest.fixture
def anna(solos):
    anna = solos("anna").start()
    anna.job = anna.create_job("Elm")
    return anna


@pytest.mark.parametrize(
    "field, hint",
    [
        ("quantity=abc", "whole number"),
        ("quantity=-3", "not '-3'"),
        ("volumeCubicFeet=1,5", "point before its fraction"),
        ("category=sofa-3-set", "'sofa-3-seat'"),
        ("category=harpsichord", "'muster catalogue'"),
        ("quantiy=2", "'quantity'"),
        ("Room=Den", "'room'"),
    ],
)
def test_what_is_hardly_meant_is_refused_with_the_nearest_right_one_and_taken_when_it_is_meant(anna, field, hint):
    sofa = anna.add(anna.job, name="Sofa")
    for words in (["item", "add", "Elm"], ["item", "set", "Elm", sofa]):
        refused = anna.muster(*words, field)
        assert refused.returncode == BAD_DATA and refused.stdout == "", refused
        assert hint in refused.stderr and "--force" in refused.stderr and refused.stderr.count("\n") == 1, refused
    assert [item["fields"] for item in anna.items(anna.job).values()] == [{"name": "Sofa"}], "nothing was changed"
    assert anna.muster("item", "set", "Elm", sofa, field, "--force").returncode == 0
    name, value = field.split("=")
    assert anna.items(anna.job)[sofa]["fields"] == {"name": "Sofa", name: value}
    # Meant once, it is in nobody's way: neither with another field nor when it is emptied.
    assert anna.muster("item", "set", "Elm", sofa, field, "condition=good").returncode == 0
    assert anna.muster("item", "set", "Elm", sofa, f"{name}=").returncode == 0
    assert anna.items(anna.job)[sofa]["fields"] == {"name": "Sofa", "condition": "good", name: ""}


def test_an_application_is_told_what_may_be_meant_and_can_say_that_it_is(anna):
    items = f"/v1/jobs/{anna.job}/items"
    status, problem = anna.ask("POST", items, {"fields": {"category": "sofa-3-set"}})
    assert (status, problem["code"], problem["candidates"]) == (422, "doubtfulValue", ["sofa-3-seat"]), problem
    assert anna.ask("POST", items + "?force=maybe", {"fields": {"name": "Sofa"}})[0] == 400
    assert anna.ask("POST", items + "?force=true", {"fields": {"category": "sofa-3-set"}})[0] == 201
    catalogue = anna.get("/v1/catalogue")
    assert {"id": "sofa-3-seat", "name": "Sofa (three seats)", "cubicFeet": 50} in catalogue


def test_what_a_colleague_has_meant_is_never_refused(anna, solos):
    sofa = anna.add(anna.job, name="Sofa")
    bert = solos("bert").start("--peer", anna.address)
    forced = anna.muster("item", "set", "Elm", sofa, "quantity=many", "quantiy=few", "category=spaceship", "--force")
    assert forced.returncode == 0, forced
    wait_agreed([anna, bert], anna.job)
    fields = bert.items(anna.job)[sofa]["fields"]
    assert fields == {"name": "Sofa", "quantity": "many", "quantiy": "few", "category": "spaceship"}
    # Who sends an item back as it is has not entered what he has not changed.
    status, answer = bert.ask("PATCH", f"/v1/jobs/{anna.job}/items/{sofa}", {"fields": {**fields, "room": "Den"}})
    assert status == 200, answer
    assert bert.muster("item", "set", "Elm", sofa, "quantity=more").returncode == BAD_DATA


def test_every_row_of_the_example_is_taken_and_a_bad_one_is_named_by_its_line(anna, tmp_path):
    with open(HOUSEHOLD, encoding="utf-8") as file:
        lines = file.read().splitlines()
    lines[16] = lines[16].replace(",1,", ",abc,")
    lines[99] = lines[99].replace(lines[99].split(",")[1], "sofa-3-set")
    path = tmp_path / "house.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = anna.muster("import", "Elm", str(path), "--key", "barcode")
    assert done.returncode == BAD_DATA, done
    assert done.stdout == f"{len(lines) - 1} rows: {len(lines) - 3} added, 0 updated, 0 unchanged, 2 not taken.\n"
    named = done.stderr.splitlines()
    assert len(named) == 2 and named[0].startswith("muster: line 17: 'quantity'"), named
    assert named[1].startswith("muster: line 100: ") and "'sofa-3-seat'" in named[1], named
    assert anna.muster("import", "Elm", HOUSEHOLD, "--key", "barcode").returncode == 0
    assert len(anna.items(anna.job)) == len(lines) - 1


def test_a_misspelt_column_is_refused_before_anything_is_imported(anna, tmp_path):
    path = tmp_path / "house.csv"
    path.write_text("barcode,quantiy\n1,2\n", encoding="utf-8")
    for key in ([], ["--key", "barcode"]):
        refused = anna.muster("import", "Elm", str(path), *key)
        assert refused.returncode == BAD_DATA and '--field "quantiy=quantity"' in refused.stderr, refused
    assert anna.items(anna.job) == {}
    done = anna.muster("import", "Elm", str(path), "--field", "quantiy=quantity")
    assert done.returncode == 0, done
    assert [item["fields"] for item in anna.items(anna.job).values()] == [{"barcode": "1", "quantity": "2"}]


@pytest.mark.parametrize("answer, items, code", [("n", 140, 1), ("y", 280, 0)])
def test_at_a_terminal_somebody_is_asked_before_barcodes_are_there_twice(anna, answer, items, code):
    assert anna.muster("import", "Elm", HOUSEHOLD, "--key", "barcode").returncode == 0
    with Screen(anna, "import", "Elm", HOUSEHOLD) as screen:
        screen.read_until("[y/N]")
        assert "Of the file's 140 barcodes the job has 140 already" in " ".join(screen.shown.split()), screen.shown
        screen.type(answer + "\n")
        assert screen.wait() == code, screen.shown
    wait_until(lambda: len(anna.items(anna.job)) == items, PATIENCE_SECONDS, f"there are {items} items")
