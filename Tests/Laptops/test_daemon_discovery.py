"""musterd and a network that moves: laptops that join, leave, share a name, change their address, lose their avahi."""

import json
import time

import pytest
from lab import never_during, wait_until
from probe import avahi_browse
from steps import (
    APPEAR_SECONDS,
    LEAVE_SECONDS,
    MOMENT_SECONDS,
    PATIENCE_SECONDS,
    Crew,
    wait_agreed,
    wait_item,
    wait_ready,
    wait_together,
)


@pytest.fixture
def crew(lab, build_directory):
    return Crew(lab, build_directory)


def test_a_laptop_appears_within_two_seconds_and_goes_within_five(crew, measured):
    anna, bert, cleo = crew.member("anna"), crew.member("bert"), crew.member("cleo")
    wait_together([anna.start(), bert.start()])
    assert anna.connected() == ["bert"]

    joined = time.monotonic()
    cleo.start()
    for member in (anna, bert):
        wait_until(lambda: "cleo" in member.connected(), PATIENCE_SECONDS, f"cleo is among the peers of {member.name}")
        measured(f"musterd starts: among the peers of {member.name}", time.monotonic() - joined, APPEAR_SECONDS)

    left = time.monotonic()
    assert cleo.daemon.stop() == 0
    for member in (anna, bert):
        gone = lambda: "cleo" not in member.connected()
        wait_until(gone, PATIENCE_SECONDS, f"{member.name} is not connected to cleo any more")
        measured(f"musterd stops: gone from the peers of {member.name}", time.monotonic() - left, LEAVE_SECONDS)
    listed = lambda: len(anna.json("peers"))
    wait_until(lambda: listed() == 1, PATIENCE_SECONDS, "cleo is not even listed any more")


def test_two_laptops_with_one_host_name_find_each_other(lab, crew):
    first = crew.member("first", host_name="crew")
    # One after the other, see the discovery tests.
    wait_until(first.laptop.avahi_has_its_name, PATIENCE_SECONDS, "the first has the name")
    second = crew.member("second", host_name="crew")
    first.start(), second.start()
    for member in (first, second):
        wait_until(lambda: member.connected() == ["crew"], PATIENCE_SECONDS, f"{member.name} is connected to the other")
    assert "Host name conflict" in first.laptop.avahi.errors() + second.laptop.avahi.errors(), "the fault is there"
    first.muster("job", "create", "--name", "Home")
    wait_agreed([first, second], "Home")
    devices = {member.json("status")["deviceID"] for member in (first, second)}
    assert len(devices) == 2


def test_an_address_that_changes(crew, measured):
    anna, bert = crew.together("anna", "bert")
    anna.muster("job", "create", "--name", "Home")
    wait_agreed([anna, bert], "Home")
    old = bert.laptop.address
    changed = time.monotonic()
    bert.laptop.change_address("10.77.0.200")
    assert f"{old}/" not in bert.laptop.ip("addr", "show", "eth0"), "the address has really gone"
    bert.muster("item", "add", "Home", "name=lamp")
    wait_item(anna, "Home", "lamp", PATIENCE_SECONDS * 2)
    measured("an address changes: an edit of the one that moved arrives", time.monotonic() - changed, 10)
    wait_together([anna, bert])
    assert f"{old}:" not in json.dumps(anna.json("peers")), "the old address is forgotten"


def test_an_interface_goes_down_and_comes_back(crew, measured):
    anna, bert = crew.together("anna", "bert")
    anna.muster("job", "create", "--name", "Home")
    wait_agreed([anna, bert], "Home")
    bert.laptop.interface_down()
    assert "state DOWN" in bert.laptop.ip("link", "show", "eth0")
    anna.muster("item", "add", "Home", "name=of anna")
    bert.muster("item", "add", "Home", "name=of bert")
    never_during(lambda: anna.digest("Home") == bert.digest("Home"), 3, "they agree without a network")
    up = time.monotonic()
    bert.laptop.interface_up()
    wait_agreed([anna, bert], "Home", PATIENCE_SECONDS * 2)
    measured("an interface comes back: both agree", time.monotonic() - up, 10)
    wait_together([anna, bert])


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_avahi_is_restarted_under_a_running_musterd(crew, measured, how):
    anna, bert = crew.together("anna", "bert")
    anna.muster("job", "create", "--name", "Home")
    wait_agreed([anna, bert], "Home")
    if how == "stopped":
        bert.laptop.stop_avahi()
    else:
        bert.laptop.kill_avahi()
    discovery = lambda: bert.json("status")["discovery"]["state"]
    wait_until(lambda: discovery() == "unavailable", PATIENCE_SECONDS, "bert says that avahi is gone")
    # The connection does not need avahi.
    bert.muster("item", "add", "Home", "name=lamp")
    wait_item(anna, "Home", "lamp", MOMENT_SECONDS)

    bert.laptop.start_avahi()
    wait_until(lambda: discovery() == "available", PATIENCE_SECONDS, "bert says that avahi is back")
    started = time.monotonic()
    cleo = crew.member("cleo").start()
    wait_together([anna, bert, cleo])
    measured(f"avahi {how} and restarted: the next laptop is found", time.monotonic() - started, 5)
    assert bert.log_so_far().count("discovery is unavailable") <= 1, "it says so once"


def test_avahi_is_absent_at_the_start_and_comes_later(crew, measured):
    anna, bert = crew.member("anna").start(), crew.member("bert", avahi=False).start()
    wait_ready(bert)
    discovery = lambda: bert.json("status")["discovery"]["state"]
    wait_until(lambda: discovery() == "unavailable", PATIENCE_SECONDS, "bert says that there is no avahi")
    bert.muster("job", "create", "--name", "Home")
    never_during(lambda: bert.connected() or anna.connected(), 2, "without avahi bert and anna are connected")

    bert.laptop.start_avahi()
    come = time.monotonic()
    wait_together([anna, bert])
    # At the worst a pause of five seconds has just begun.
    measured("avahi comes later: connected", time.monotonic() - come, 5 + APPEAR_SECONDS)
    wait_agreed([anna, bert], "Home", MOMENT_SECONDS)


def test_a_second_musterd_on_one_laptop(crew):
    anna, bert = crew.together("anna", "bert")
    other = crew.second(bert, "other", 7474).start("--host-name", "other")
    wait_together([anna, bert, other])
    other.muster("job", "create", "--name", "Home")
    wait_agreed([anna, bert, other], "Home", MOMENT_SECONDS)
    peers = anna.json("peers")
    assert len({peer["deviceID"] for peer in peers}) == len(peers) == 2, "each is listed once"
    assert other.daemon.stop() == 0
    wait_together([anna, bert])


def test_the_record_has_keys_and_the_name_that_avahi_gives_the_machine_and_nothing_else(lab, crew):
    """avahi publishes its host's name itself, and takes no other one for the target of a service (docs/threat-model.md)."""
    anna, bert = crew.member("anna", host_name="smith-moving-3"), crew.member("bert")
    anna.start(), bert.start()
    wait_until(lambda: bert.connected() == ["smith-moving-3"], PATIENCE_SECONDS, "people see the machine's name")
    anna.muster("job", "create", "--name", "Jones, 12 Elm Street")
    wait_agreed([anna, bert], "Jones, 12 Elm Street")
    shown = anna.json("fleet", "show")
    device, fleet = shown["deviceID"][:8], shown["fleetID"]

    # avahi-browse ends with the first lull, and this laptop's avahi may have heard of the service only a moment ago.
    def browsed():
        of_anna = [service for service in avahi_browse(bert.laptop) if service["address"] == anna.laptop.address]
        # She was in no fleet at first.
        return of_anna if of_anna and of_anna[0]["txt"].get("fleet") else None

    (record,) = wait_until(browsed, PATIENCE_SECONDS, "bert's avahi has anna's record")
    assert len(device) == len(fleet) == 8
    assert record == {
        "name": f"muster-{device}",
        "port": anna.port,
        "txt": {"v": record["txt"]["v"], "id": device, "fleet": fleet},
        "address": anna.laptop.address,
        "host": "smith-moving-3.local",
    }
    assert record["txt"]["v"].isdigit()
    everything = bert.laptop.run(["avahi-browse", "--all", "--resolve", "--terminate", "--parsable", "--no-db-lookup"])
    assert record["name"] in everything and "Jones" not in everything and "Elm" not in everything, everything
    # Of the machine's name nothing but the target: no name of a service, no text.
    of_anna = [line.split(";") for line in everything.splitlines() if anna.laptop.address in line]
    assert of_anna and not [line for line in of_anna if "smith-moving" in ";".join(line[:6] + line[8:])], of_anna


def test_the_administrator_hides_the_machines_name_in_avahis_settings(lab, crew):
    """With another host-name= than the machine's own it is not in any record."""
    anna, bert = crew.member("anna", avahi=False), crew.member("bert")
    # The lab writes it into avahi-daemon.conf, when avahi starts.
    anna.laptop.host_name = "laptop-4711"
    anna.laptop.start_avahi()
    wait_together([anna.start(), bert.start()])
    assert anna.laptop.run(["hostname"]).strip() == "anna", "the machine has a name of its own"
    browsed = lambda: [service for service in avahi_browse(bert.laptop) if service["address"] == anna.laptop.address]
    (record,) = wait_until(browsed, PATIENCE_SECONDS, "bert's avahi has anna's record")
    assert record["host"] == "laptop-4711.local" and "anna" not in str(record), record
