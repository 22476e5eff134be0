"""What has to be true in the evening, whatever the day has brought."""

import json
from collections import Counter


def remarks(export):
    return Counter(note for item in json.loads(export)["items"] for note in item.get("notes", []))


def assert_exports_are_equal(members, job):
    exports = {member.name: member.export(job) for member in members}
    assert len(set(exports.values())) == 1, f"the exports of {job} differ: {exports}"
    return next(iter(exports.values()))


def assert_all_is_there(ledger, job, export):
    """Each remark that was acknowledged stands there once; what was not may stand there once; and nothing else."""
    acknowledged, tried = ledger.of(job)
    found = remarks(export)
    assert not acknowledged - set(found), f"lost in {job}: {sorted(acknowledged - set(found))}"
    assert not set(found) - tried, f"nobody has written in {job}: {sorted(set(found) - tried)}"
    twice = sorted(text for text, count in found.items() if count > 1)
    assert not twice, f"more than once in {job}: {twice}"
    return len(acknowledged)


def assert_requests_arrived_once(desk, ledger, job):
    """The office has done what was asked for, in that order, each once; the first of all opened the job."""
    entries = desk.channel(job)
    asked = [state for name, state in ledger.requests if name == job]
    published = desk.published(job)
    assert published == ["scheduled", *asked], f"the office did {published} of {asked} in {job}"
    outcomes = [outcome for entry in entries for outcome in entry["outcomes"]]
    assert len({outcome["token"] for outcome in outcomes}) == len(outcomes) == len(asked) + 1, outcomes
    assert all(outcome["verdict"] == "accepted" for outcome in outcomes), outcomes
    return len(outcomes)
