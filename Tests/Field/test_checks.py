"""What the evening asks for, held against evenings on which something went wrong: else it could pass on each."""

import json

import pytest
from crew import Ledger
from evening import assert_all_is_there, assert_exports_are_equal, assert_requests_arrived_once

JOB = "smith"


def export(*notes):
    return json.dumps({"items": [{"fields": {}, "notes": list(notes)}, {"fields": {}}]})


@pytest.fixture
def ledger(tmp_path):
    """Two remarks are acknowledged, one was tried, one request was made."""
    ledger = Ledger(tmp_path / "ledger")
    for text in ("lea 1", "anna 1", "anna 2"):
        ledger.note(False, JOB, text)
    for text in ("lea 1", "anna 1"):
        ledger.note(True, JOB, text)
    ledger.request(JOB, "dispatched")
    return ledger


@pytest.mark.parametrize("notes", [("lea 1", "anna 1"), ("anna 2", "anna 1", "lea 1")])
def test_what_was_not_acknowledged_may_be_there_or_not(ledger, notes):
    assert assert_all_is_there(ledger, JOB, export(*notes)) == 2


@pytest.mark.parametrize("notes", [("lea 1",), ("lea 1", "anna 1", "ben 1"), ("lea 1", "anna 1", "lea 1")])
def test_lost_invented_and_doubled_remarks_are_found(ledger, notes):
    with pytest.raises(AssertionError):
        assert_all_is_there(ledger, JOB, export(*notes))


class Holder:
    """A laptop with an export, or an office with a channel."""

    def __init__(self, name="", export=None, entries=()):
        self.name, self._export, self._entries = name, export, entries

    def export(self, job):
        return self._export

    def channel(self, job):
        return self._entries

    def published(self, job):
        return [entry["published"]["state"] for entry in self._entries if "state" in entry["published"]]


def test_exports_that_differ_are_found():
    with pytest.raises(AssertionError):
        assert_exports_are_equal([Holder("lea", export("lea 1")), Holder("anna", export())], JOB)


def entry(token, state=None, verdict="accepted"):
    outcomes = [{"token": token, "verdict": verdict, "reason": ""}] if token else []
    return {"published": {"state": state} if state else {}, "outcomes": outcomes}


OPENED = entry("a", "scheduled")


def test_each_request_once_is_well(ledger):
    assert assert_requests_arrived_once(Holder(entries=[OPENED, entry("b", "dispatched"), entry(None)]), ledger, JOB) == 2


@pytest.mark.parametrize(
    "entries",
    [
        [OPENED],
        [OPENED, entry("b", "dispatched"), entry("c", "dispatched")],
        [OPENED, entry("b", "dispatched"), entry("b")],
        [OPENED, entry("b", "dispatched"), entry("c", verdict="rejected")],
    ],
)
def test_requests_that_are_missing_or_came_twice_are_found(ledger, entries):
    with pytest.raises(AssertionError):
        assert_requests_arrived_once(Holder(entries=entries), ledger, JOB)
