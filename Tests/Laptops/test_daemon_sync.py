"""What one laptop records, all have: at once, through a third laptop, after a separation, after a crash."""

import signal

import pytest
from lab import Stopwatch, never_during, wait_until
from steps import (
    MOMENT_SECONDS,
    PATIENCE_SECONDS,
    Crew,
    Load,
    ids_of,
    names_of,
    wait_agreed,
    wait_item,
    wait_ready,
    wait_together,
)


@pytest.fixture
def crew(lab, build_directory):
    return Crew(lab, build_directory)


def test_what_one_records_all_have_within_a_second(crew, measured):
    members = crew.together("anna", "bert", "cleo")
    members[0].muster("job", "create", "--name", "Home")
    wait_agreed(members, "Home", MOMENT_SECONDS)
    for author in members:
        start = Stopwatch()
        author.muster("item", "add", "Home", f"name=lamp of {author.name}")
        for member in members:
            wait_item(member, "Home", f"lamp of {author.name}")
        measured(f"{author.name} adds an item: all show it", start.seconds(), MOMENT_SECONDS)
    wait_agreed(members, "Home", MOMENT_SECONDS)
    for member in members:
        assert member.json("job", "check", "Home")["isSame"]
        assert len(member.json("job", "check", "Home")["devices"]) == 2
    exports = {member.muster("job", "export", "Home") for member in members}
    assert len(exports) == 1


def test_a_check_says_who_is_away_and_what_it_lacked(crew):
    """The digest of those who are here says nothing of the third laptop, which went home with an item of its own."""
    anna, bert, cleo = crew.together("anna", "bert", "cleo")
    anna.muster("job", "create", "--name", "Home")
    for author in (anna, bert, cleo):
        wait_agreed([anna, bert, cleo], "Home", PATIENCE_SECONDS)
        author.muster("item", "add", "Home", f"name=lamp of {author.name}")
    wait_agreed([anna, bert, cleo], "Home", PATIENCE_SECONDS)
    assert anna.try_muster("job", "check", "Home").returncode == 0
    cleo.daemon.stop()
    wait_until(lambda: anna.connected() == ["bert"], PATIENCE_SECONDS, "cleo is gone")
    anna.muster("item", "add", "Home", "name=what cleo never saw")
    wait_item(bert, "Home", "what cleo never saw")
    assert anna.try_muster("job", "check", "Home").returncode == 2
    check = anna.json_whatever("job", "check", "Home")
    assert (check["isSame"], check["comparison"]) == (False, "unknown")
    outcomes = {device["name"]: device["outcome"] for device in check["devices"]}
    assert outcomes == {"bert": "same", "cleo": "away"}
    away = [device for device in check["devices"] if device["name"] == "cleo"][0]
    assert away["heardAt"]
    missing = [item["name"] for lacking in away["missingThere"] for item in lacking["items"]]
    assert missing == ["what cleo never saw"]
    member = [one for one in anna.json("job", "roster", "Home") if one["name"] == "cleo"][0]
    assert (member["isConnected"], member["behind"]) == (False, 1) and member["heardAt"]


def test_a_laptop_that_reaches_only_one_other(crew):
    """Everybody is announced to everybody, but no packet goes between anna and cleo."""
    anna, bert, cleo = crew.member("anna"), crew.member("bert"), crew.member("cleo")
    anna.laptop.ip("route", "add", "unreachable", f"{cleo.laptop.address}/32")
    cleo.laptop.ip("route", "add", "unreachable", f"{anna.laptop.address}/32")
    for member in (anna, bert, cleo):
        member.start()
    wait_until(lambda: bert.connected() == ["anna", "cleo"], PATIENCE_SECONDS, "bert is connected to both")
    anna.muster("job", "create", "--name", "Home")
    wait_agreed([anna, bert, cleo], "Home")
    for author, reader in ((anna, cleo), (cleo, anna)):
        author.muster("item", "add", "Home", f"name=of {author.name}")
        wait_item(reader, "Home", f"of {author.name}", MOMENT_SECONDS)
    assert (anna.connected(), cleo.connected()) == (["bert"], ["bert"]), "the fault is there"

    def listed():
        return [peer["name"] for peer in anna.json("peers") if peer["state"] != "connected"]

    # Its announcement may still be on the way. It says no host name, only connections do.
    wait_until(listed, PATIENCE_SECONDS, "anna has heard of cleo")
    announced = [f"muster-{cleo.json('status')['deviceID'][:8]}"]
    never_during(lambda: listed() != announced, 1, "not listed once, whatever number of addresses it has")
    wait_agreed([anna, bert, cleo], "Home", MOMENT_SECONDS)


def test_static_peers_in_a_line_without_discovery(crew):
    anna, bert, cleo = (crew.member(name, avahi=False) for name in ("anna", "bert", "cleo"))
    # The last is started first: whoever is dialled may come later.
    cleo.start("--no-discovery", "--peer", bert.address)
    bert.start("--no-discovery", "--peer", anna.address)
    for member in (bert, cleo):
        wait_ready(member)
    cleo.muster("job", "create", "--name", "Home")
    anna.start("--no-discovery")
    wait_agreed([anna, bert, cleo], "Home")
    assert (anna.connected(), bert.connected(), cleo.connected()) == (["bert"], ["anna", "cleo"], ["bert"])
    assert anna.json("status")["discovery"]["state"] == "off"
    anna.muster("item", "add", "Home", "name=lamp")
    wait_item(cleo, "Home", "lamp", MOMENT_SECONDS)


@pytest.mark.parametrize("seconds", [1, 6])
def test_a_cable_is_cut_while_both_sides_go_on(crew, measured, seconds):
    anna, bert, cleo = crew.together("anna", "bert", "cleo")
    anna.muster("job", "create", "--name", "Home")
    anna.muster("item", "add", "Home", "name=sofa", "barcode=1")
    wait_agreed([anna, bert, cleo], "Home")
    cleo.laptop.cut()
    for member in (anna, bert, cleo):
        member.muster("item", "add", "Home", f"name=of {member.name}")
        member.muster("item", "set", "Home", "1", f"room=room of {member.name}")
    wait_agreed([anna, bert], "Home", MOMENT_SECONDS)
    never_during(lambda: cleo.digest("Home") == anna.digest("Home"), seconds, "cleo agrees through a cut cable")
    assert names_of(cleo, "Home") == ["of cleo", "sofa"], "the fault is there"
    healed = Stopwatch()
    cleo.laptop.heal()
    wait_agreed([anna, bert, cleo], "Home", PATIENCE_SECONDS * 3)
    measured(f"a cable is cut for {seconds} s: all agree again", healed.seconds(), 10)
    assert names_of(anna, "Home") == ["of anna", "of bert", "of cleo", "sofa"]
    conflicts = [member.json("job", "conflicts", "Home") for member in (anna, bert, cleo)]
    assert conflicts[0]["edits"] and conflicts[0] == conflicts[1] == conflicts[2]


def test_a_stop_under_load_loses_nothing(crew, measured):
    anna, bert = crew.together("anna", "bert")
    job = anna.json("job", "create", "--name", "Home")["id"]
    wait_agreed([anna, bert], "Home")
    load = Load(anna, job)
    wait_until(lambda: len(load.acknowledged) > 200, PATIENCE_SECONDS, "anna is under load")
    stopped = Stopwatch()
    anna.daemon.signal(signal.SIGTERM)
    status = anna.daemon.process.wait(PATIENCE_SECONDS)
    measured("musterd stops under load", stopped.seconds(), 5)
    assert status == 0
    load.wait()

    anna.start()
    wait_together([anna, bert])
    wait_agreed([anna, bert], "Home")
    assert set(load.acknowledged) <= ids_of(anna, job)
    assert set(load.acknowledged) <= ids_of(bert, job)


def test_a_musterd_that_is_killed_comes_back_and_agrees(crew, measured):
    anna, bert, cleo = crew.together("anna", "bert", "cleo")
    job = anna.json("job", "create", "--name", "Home")["id"]
    wait_agreed([anna, bert, cleo], "Home")
    replica = anna.json("status")["replicaID"]
    load = Load(anna, job)
    wait_until(lambda: len(load.acknowledged) > 200, PATIENCE_SECONDS, "anna is under load")
    assert anna.daemon.kill() == -signal.SIGKILL
    load.wait()
    bert.muster("item", "add", "Home", "name=meanwhile")

    started = Stopwatch()
    anna.start()
    wait_together([anna, bert, cleo])
    wait_agreed([anna, bert, cleo], "Home")
    measured("musterd is killed and restarted: all agree", started.seconds(), 5)
    assert set(load.acknowledged) <= ids_of(anna, job) == ids_of(cleo, job)
    assert "meanwhile" in names_of(anna, "Home")
    assert anna.json("status")["replicaID"] == replica, "a crash is no reason to become a new replica"
