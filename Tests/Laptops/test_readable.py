"""The rules of readable.py find what breaks them, and leave alone what does not."""

from types import SimpleNamespace

import pytest
from readable import broken, width


def rules(printed="", said="", columns=60, code=0, answered=False):
    seen = SimpleNamespace(printed=printed, said=said, columns=columns, code=code, answered=answered)
    return sorted({rule for rule, _ in broken(seen)})


@pytest.mark.parametrize("text, columns", [
    ("Sofa", 4), ("Cafe\u0301", 4), ("保険箱 18", 9), ("📦", 2), ("👩\u200d👧", 4), ("テレビ", 6), ("–…·", 3)])
def test_wide_characters_have_two_columns_and_combining_ones_none(text, columns):
    assert width(text) == columns


@pytest.mark.parametrize("printed, rule", [
    ("x" * 61, "wide"), ("保" * 31, "wide"), ("\x1b[1m" + "x " * 30 + "x\x1b[0m", "wide"), ("Sofa \nLamp", "trailing"),
    ('asked for {"kind":"inventory"}', "value"), ("Optional(3)", "value"), ("Item(id: 3)", "value"),
    ("01a21d40-baf9-7642-8816-6e6a29508f2b", "id"), ("0" * 32, "id"), ("2 parked", "word parked"),
    ("Mutations", "word mutation"), ("a\tb", "control"), ("a\x1b[2Jb", "control")])
def test_what_nobody_is_to_see_is_found(printed, rule):
    assert rules(printed) == [rule]


@pytest.mark.parametrize("printed", [
    "x" * 60, "\x1b[32m" + "x" * 60 + "\x1b[0m", f"Whole id   {'0a' * 32}", f"      /tmp/{'x' * 60}", "planet, vanilla",
    "20 s (from: server)", "Remove them? [y/N] ", "No [one] was there: {nobody}"])
def test_what_is_as_it_should_be_is_left_alone(printed):
    assert rules(printed) == []


@pytest.mark.parametrize("said, code, found", [
    ("muster: There is no job 'x'; see 'muster job list'.", 65, []), ("muster: It is so.", 65, ["remedy"]),
    ("It is so; try again.", 65, ["sender"]), ("muster: No; try again.\n\nmuster: Or ask.", 65, ["paragraphs"]), ("", 65, ["silence"]),
    ("muster: No; try again.", 3, ["code"]), ("muster: No; try.\nmuster: No; try.", 65, ["error again and again"])])
def test_an_error_says_what_to_do_and_ends_as_sysexits_has_it(said, code, found):
    assert rules(said=said, code=code) == found


def test_who_has_said_no_has_made_no_error():
    assert rules(said="muster: nothing was changed.\n", code=1, answered=True) == []
    assert rules(said="muster: nothing was changed.\n", code=1) == ["remedy"]
    assert rules("warn  disk  2 GB free\n", code=1) == []
