"""musterd and a network that moves: laptops that join, leave, share a name, change their address, lose their avahi."""

import json
import re
import time

import pytest
from lab import Stopwatch, never_during, wait_until
from probe import Probes, avahi_browse, browsed, eavesdropper, now_found
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

    joined = Stopwatch()
    cleo.start()
    for member in (anna, bert):
        wait_until(lambda: "cleo" in member.connected(), PATIENCE_SECONDS, f"cleo is among the peers of {member.name}")
        measured(f"musterd starts: among the peers of {member.name}", joined.seconds(), APPEAR_SECONDS)

    left = Stopwatch()
    assert cleo.daemon.stop() == 0
    for member in (anna, bert):
        gone = lambda: "cleo" not in member.connected()
        wait_until(gone, PATIENCE_SECONDS, f"{member.name} is not connected to cleo any more")
        measured(f"musterd stops: gone from the peers of {member.name}", left.seconds(), LEAVE_SECONDS)
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
    changed = Stopwatch()
    bert.laptop.change_address("10.77.0.200")
    assert f"{old}/" not in bert.laptop.ip("addr", "show", "eth0"), "the address has really gone"
    bert.muster("item", "add", "Home", "name=lamp")
    wait_item(anna, "Home", "lamp", PATIENCE_SECONDS * 2)
    measured("an address changes: an edit of the one that moved arrives", changed.seconds(), 10)
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
    up = Stopwatch()
    bert.laptop.interface_up()
    wait_agreed([anna, bert], "Home", PATIENCE_SECONDS * 2)
    measured("an interface comes back: both agree", up.seconds(), 10)
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
    started = Stopwatch()
    cleo = crew.member("cleo").start()
    wait_together([anna, bert, cleo])
    measured(f"avahi {how} and restarted: the next laptop is found", started.seconds(), 5)
    assert bert.log_so_far().count("discovery is unavailable") <= 1, "it says so once"


def test_avahi_is_absent_at_the_start_and_comes_later(crew, measured):
    anna, bert = crew.member("anna").start(), crew.member("bert", avahi=False).start()
    wait_ready(bert)
    discovery = lambda: bert.json("status")["discovery"]["state"]
    wait_until(lambda: discovery() == "unavailable", PATIENCE_SECONDS, "bert says that there is no avahi")
    bert.muster("job", "create", "--name", "Home")
    never_during(lambda: bert.connected() or anna.connected(), 2, "without avahi bert and anna are connected")

    bert.laptop.start_avahi()
    come = Stopwatch()
    wait_together([anna, bert])
    # At the worst a pause of five seconds has just begun.
    measured("avahi comes later: connected", come.seconds(), 5 + APPEAR_SECONDS)
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


def test_the_record_has_keys_and_a_random_host_and_nothing_else(lab, crew):
    bert = crew.member("bert")
    heard = eavesdropper(bert.laptop)
    anna = crew.member("anna", host_name="smith-moving-3")
    anna.start(), bert.start()
    wait_until(lambda: bert.connected() == ["smith-moving-3"], PATIENCE_SECONDS, "people see the machine's name")
    anna.muster("job", "create", "--name", "Jones, 12 Elm Street")
    wait_agreed([anna, bert], "Jones, 12 Elm Street")
    shown = anna.json("fleet", "show")
    device, fleet = shown["deviceID"][:8], shown["fleetID"]

    # avahi-browse ends with the first lull, and this laptop's avahi may have heard of the service only a moment ago.
    def of_anna_now():
        of_anna = [service for service in avahi_browse(bert.laptop) if service["address"] == anna.laptop.address]
        # She was in no fleet at first.
        return of_anna if of_anna and of_anna[0]["txt"].get("fleet") else None

    (record,) = wait_until(of_anna_now, PATIENCE_SECONDS, "bert's avahi has anna's record")
    assert len(device) == len(fleet) == 8
    assert record == {
        "name": f"muster-{device}",
        "port": anna.port,
        "txt": {"v": record["txt"]["v"], "id": device, "fleet": fleet},
        "address": anna.laptop.address,
        "host": record["host"],
    }
    assert re.fullmatch(r"muster-[0-9a-f]{16}\.local", record["host"]) and device not in record["host"]
    assert record["txt"]["v"].isdigit()
    everything = browsed(bert.laptop, "--all")
    assert record["name"] in everything, everything
    assert not [name for name in ("Jones", "Elm", "smith-moving") if name in everything], everything

    # The machine's name stands in avahi's own records of it, and in no other: from the name to its addresses, and back.
    of_anna = heard.events("record", **{"from": anna.laptop.address})
    assert {f"{record['name']}._muster._tcp.local.", f"{record['host']}."} <= {one["name"] for one in of_anna}
    named = {one["name"] for one in of_anna if "smith-moving" in one["text"]}
    assert "smith-moving-3.local." in named, "the eavesdropper hears it"
    assert all(name == "smith-moving-3.local." or name.endswith(".arpa.") for name in named), named
    assert not [one for one in of_anna if "Jones" in one["text"] or "Elm" in one["text"]]

    # Made anew at each start.
    assert anna.daemon.stop() == 0
    anna.start()
    renamed = lambda: [service for service in of_anna_now() or [] if service["host"] != record["host"]]
    assert wait_until(renamed, PATIENCE_SECONDS, "another host")[0]["name"] == record["name"]


def test_where_avahi_does_not_tell_the_machines_name_no_record_has_it(lab, crew):
    """With publish-addresses=no, which leaves others without any address of the machine's own name."""
    bert = crew.member("bert")
    heard = eavesdropper(bert.laptop)
    anna = crew.member("anna", host_name="smith-moving-3", avahi=False)
    anna.laptop.start_avahi(publishes_addresses=False)
    anna.start(), bert.start()
    wait_until(lambda: bert.connected() == ["smith-moving-3"], PATIENCE_SECONDS, "people see the machine's name")
    of_anna = heard.events("record", **{"from": anna.laptop.address})
    assert [one for one in of_anna if "_muster._tcp" in one["name"]], "she was heard"
    assert not [one for one in of_anna if "smith-moving" in one["text"]]


def test_an_address_comes_and_goes_and_the_others_stay(lab, crew, build_directory):
    anna, ben = crew.member("anna").start(), lab.laptop("ben")
    wait_ready(anna)
    heard = eavesdropper(ben)
    probe = Probes(build_directory).start(ben)
    (name,) = wait_until(lambda: list(now_found(probe)), PATIENCE_SECONDS, "ben finds anna")
    addresses = lambda: [one for one in now_found(probe)[name]["addresses"] if ":" not in one]
    stays, comes = anna.laptop.address, "10.77.0.200"
    wait_until(lambda: addresses() == [stays] and probe.events("advertised"), PATIENCE_SECONDS, "ben knows her address")

    began = time.monotonic()
    anna.laptop.ip("addr", "add", f"{comes}/24", "dev", "eth0")
    wait_until(lambda: addresses() == [stays, comes], PATIENCE_SECONDS, "ben knows her second address")
    anna.laptop.ip("addr", "del", f"{comes}/24", "dev", "eth0")
    wait_until(lambda: addresses() == [stays], PATIENCE_SECONDS, "ben forgets it")

    told = [event for event in probe.events() if event["time"] > began]
    assert {event["event"] for event in told} == {"found"} and all(stays in event["addresses"] for event in told), told
    host = told[0]["host"]
    taken_back = [one["text"] for one in heard.events("record", name=host, ttl=0)]
    assert taken_back and all(comes in text for text in taken_back), taken_back
    assert not heard.events("record", name=f"{name}._muster._tcp.local.", ttl=0), "the service stays as it is"
