"""Crews of which some have a clock that is wrong by an hour, a day, years, or from 1970: they agree on the earliest that may be
right as long as nobody has shown work, nothing that anybody wrote is ever hidden, and the edit made last wins."""

import time

import pytest
from clocks import PRECISION_MILLISECONDS, Crew, milliseconds, true_milliseconds, wait_synchronised
from lab import wait_until
from solo import PATIENCE_SECONDS, wait_agreed
from time_server import TimeServer

DAY_SECONDS = 86_400
# What one writes, all that it is connected with show within this.
MOMENT_SECONDS = 1
# Between two edits that are not told of each other: far more than clocks on one machine differ.
PAUSE_SECONDS = 0.02
# Two daemons that go by their own right wall clocks, and what a tick of the pings may leave.
SAME_SECONDS = 0.2


def error_seconds(crew, name):
    """How far a laptop's corrected time is off the true time."""
    return (milliseconds(crew.clock(name)["time"]) - true_milliseconds()) / 1000


def meet(crew, name, other):
    crew.connect(name, other)
    wait_until(lambda: other in crew[name].connected(), PATIENCE_SECONDS, f"{name} meets {other}")


def write_apart(crew, names):
    """Each makes a job with an item while apart; returns the jobs and items by name."""
    made = {}
    for name in names:
        job = crew[name].make("/v1/jobs", {"id": f"of-{name}", "name": name})["id"]
        made[name] = (job, crew[name].add(job, name=f"box of {name}"))
    return made


def assert_all_shown(crew, names, made, deadline_seconds=PATIENCE_SECONDS):
    for job, item in made.values():
        for name in names:
            wait_until(lambda: item in crew[name].items(job), deadline_seconds, f"{name} shows {item}")
        wait_agreed([crew[name] for name in names], job)


def assert_last_edit_wins(crew, names, made):
    """Each sets one field in turn, when it shows the one before, and then without waiting: the last stands everywhere."""
    job, item = next(iter(made.values()))
    shown = lambda name: crew[name].items(job)[item]["fields"].get("room")
    for turn, name in enumerate(names):
        crew[name].ask("PATCH", f"/v1/jobs/{job}/items/{item}", {"fields": {"room": f"{turn}"}})
        for other in names:
            wait_until(lambda: shown(other) == f"{turn}", MOMENT_SECONDS, f"{other} shows what {name} wrote")
    last = names[-1]
    for name in names:
        crew[name].ask("PATCH", f"/v1/jobs/{job}/items/{item}", {"fields": {"room": name}})
        time.sleep(PAUSE_SECONDS)
    wait_agreed([crew[name] for name in names], job)
    assert [shown(name) for name in names] == [last] * len(names)


@pytest.mark.parametrize("setting", ["+1h", "+1d", "+3650d", "@1970-01-01 00:00:05"])
def test_one_wrong_clock_of_three_moves_nobody(build_directory, setting):
    names = ["anna", "bert", "cleo"]
    with Crew(build_directory, {"anna": setting, "bert": "+0", "cleo": "+0"}) as crew:
        for name in names:
            crew.start(name)
        assert abs(crew.wall_error_seconds("anna")) > 3_000, "the clock is wrong"
        made = write_apart(crew, names)
        meet(crew, "bert", "anna")
        meet(crew, "cleo", "anna")
        assert_all_shown(crew, names, made)
        assert all(abs(error_seconds(crew, name)) < SAME_SECONDS for name in names)
        assert_last_edit_wins(crew, names, made)
        assert all("stamped up to" not in crew[name].muster("doctor").stdout for name in names)


def test_two_wrong_clocks_against_one(build_directory):
    names = ["anna", "bert", "cleo"]
    with Crew(build_directory, {"anna": "+1d", "bert": "+25h", "cleo": "+0"}) as crew:
        for name in names:
            crew.start(name)
        # They have met, but nobody has shown anything.
        meet(crew, "anna", "bert")
        assert abs(error_seconds(crew, "bert") - DAY_SECONDS) < SAME_SECONDS
        meet(crew, "cleo", "anna")
        meet(crew, "bert", "cleo")
        made = write_apart(crew, names)
        assert_all_shown(crew, names, made, MOMENT_SECONDS)
        assert all(abs(error_seconds(crew, name)) < SAME_SECONDS for name in names)
        assert_last_edit_wins(crew, names, made)


def test_who_was_shown_what_before_and_then_a_server(build_directory):
    names = ["anna", "bert", "cleo", "dora"]
    settings = {"anna": "+1d", "bert": "+1d", "cleo": "+0", "dora": "+0", "emil": "-1h"}
    with Crew(build_directory, settings) as crew, TimeServer(crew.fleet) as server:
        for name in names:
            crew.start(name)
        made = write_apart(crew, names)
        # Two pairs have shown each other their work: a day ahead, and right.
        meet(crew, "anna", "bert")
        meet(crew, "cleo", "dora")
        wait_until(lambda: made["anna"][1] in crew["bert"].items("of-anna"), PATIENCE_SECONDS, "bert has seen anna's")
        wait_until(lambda: made["cleo"][1] in crew["dora"].items("of-cleo"), PATIENCE_SECONDS, "dora has seen cleo's")
        meet(crew, "anna", "cleo")
        assert_all_shown(crew, names, made)
        errors = {name: error_seconds(crew, name) for name in names}
        assert all(abs(errors[name] - DAY_SECONDS) < 1 for name in ("anna", "bert")), errors
        assert all(abs(errors[name]) < 1 for name in ("cleo", "dora")), errors
        assert_last_edit_wins(crew, names, made)
        for name in ("cleo", "dora"):
            said = crew[name].muster("doctor").stdout
            assert "by anna" in said and "by bert" in said and "stamped up to 1 day ahead" in said, said

        # One who knows the time takes nobody's part; all learn it, and all that there was stays.
        emil = crew.start("emil", server_url=server.url)
        wait_synchronised(crew, ["emil"], "server")
        made |= write_apart(crew, ["emil"])
        everybody = [*names, "emil"]
        for name in names:
            meet(crew, name, "emil")
        wait_synchronised(crew, names, "peer")
        assert all(abs(error_seconds(crew, name)) * 1000 < PRECISION_MILLISECONDS for name in everybody)
        assert_all_shown(crew, everybody, made)
        assert_last_edit_wins(crew, everybody, made)
        # What the fast ones wrote is still a day ahead: each of its items can be found.
        job, item = made["bert"]
        listed = emil.get(f"/v1/jobs/{job}/conflicts")["future"]
        assert [(edit["item"], edit["field"]) for edit in listed] == [(item, "name")]


def test_a_crew_of_dead_batteries_agrees_and_then_follows(build_directory):
    names = ["anna", "bert"]
    settings = {"anna": "@1970-01-01 00:00:05", "bert": "@1999-12-31 23:00:00", "cleo": "+0"}
    with Crew(build_directory, settings) as crew:
        for name in names:
            crew.start(name)
        made = write_apart(crew, names)
        meet(crew, "anna", "bert")
        assert_all_shown(crew, names, made)
        times = [crew.clock(name)["time"] for name in names]
        assert all(time.startswith("2026-01-01") for time in times), times
        # They have shown each other their work: their time moves on to the right one.
        crew.start("cleo")
        made |= write_apart(crew, ["cleo"])
        everybody = [*names, "cleo"]
        meet(crew, "cleo", "anna")
        wait_until(lambda: abs(error_seconds(crew, "anna")) < SAME_SECONDS, PATIENCE_SECONDS, "anna has the time")
        assert_all_shown(crew, everybody, made)
        assert_last_edit_wins(crew, ["anna", "cleo"], made)
