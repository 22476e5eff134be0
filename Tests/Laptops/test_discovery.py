"""Discovery against real avahi daemons: laptops that join and leave, with avahi-browse and zeroconf as witnesses."""

import os
import re
import signal
import time

import pytest
from lab import never_during, wait_until
from probe import APPEAR_SECONDS, GO_SECONDS, PATIENCE_SECONDS, Probes, avahi_browse, now_found


@pytest.fixture
def probes(build_directory):
    return Probes(build_directory)


def found(probe, after=0.0, **fields):
    """The first `found` with these values after that time, waiting for it."""

    def look():
        return [event for event in probe.events("found", **fields) if event["time"] > after]

    return wait_until(look, PATIENCE_SECONDS, f"{probe.name} finds {fields}")[0]


def lost(probe, name, after=0.0):
    """The first `lost` of this name after that time, waiting for it."""

    def look():
        return [event for event in probe.events("lost", name=name) if event["time"] > after]

    return wait_until(look, PATIENCE_SECONDS, f"{probe.name} loses {name}")[0]


def advertised(probe):
    """The names under which a probe is announced, waiting for the first."""
    names = wait_until(lambda: probe.events("advertised"), PATIENCE_SECONDS, f"{probe.name} is announced")
    return [event["name"] for event in names]


def test_a_laptop_appears_within_two_seconds_and_goes_within_five(lab, probes, measured):
    anna, ben = lab.laptop("anna"), lab.laptop("ben")
    watching = probes.start(anna)
    witness = probes.witness(anna)
    advertised(watching)
    found(witness, name="anna")

    joined = time.monotonic()
    joining = probes.start(ben, port=7450)
    event = found(watching, name="ben", id="id-ben", port=7450, fleet="f1", version=1)
    measured("a laptop joins", event["time"] - joined, APPEAR_SECONDS)
    assert event["addresses"][0] == ben.address
    event = found(joining, name="anna", id="id-anna")
    measured("the one that joins sees the other", event["time"] - joined, APPEAR_SECONDS)

    found(witness, name="ben")
    left = time.monotonic()
    assert joining.stop() == 0
    measured("a laptop leaves", lost(watching, "ben")["time"] - left, GO_SECONDS)
    lost(witness, "ben")
    assert now_found(watching) == {}


def test_a_running_laptop_that_enters_the_network_appears_within_two_seconds(lab, probes, measured):
    """Everything runs already; the wireless network comes into reach."""
    anna, ben = lab.laptop("anna"), lab.laptop("ben")
    watching = probes.start(anna)
    ben.interface_down()
    entering = probes.start(ben)
    wait_until(lambda: entering.events("available"), PATIENCE_SECONDS, "ben waits for a network")
    advertised(watching)
    assert now_found(watching) == {} and now_found(entering) == {}
    joined = time.monotonic()
    ben.interface_up()
    measured("a running laptop enters the network", found(watching, name="ben")["time"] - joined, APPEAR_SECONDS)
    measured("it sees the other", found(entering, name="anna")["time"] - joined, APPEAR_SECONDS)


def test_a_laptop_that_starts_together_with_its_avahi_appears_soon(lab, probes, measured):
    """Avahi first defends the host's name, then the service's (RFC 6762 section 8.1): twice 0.75 to 1 second."""
    anna, ben = lab.laptop("anna"), lab.laptop("ben", avahi=False)
    watching = probes.start(anna)
    advertised(watching)
    ben.start_avahi()
    joined = time.monotonic()
    probes.start(ben)
    measured("a laptop joins while its avahi starts", found(watching, name="ben")["time"] - joined, APPEAR_SECONDS + 1)


def test_witnesses_see_the_record_and_a_txt_of_v_id_and_fleet_only(lab, probes):
    anna, ben, witness_laptop = lab.laptop("anna"), lab.laptop("ben"), lab.laptop("witness")
    witness = probes.witness(witness_laptop)
    probes.start(anna, port=7451, id="0123abcd", fleet="beef")
    seen = found(witness, name="anna")
    assert seen["txt"] == {"v": "1", "id": "0123abcd", "fleet": "beef"}
    assert (seen["port"], seen["addresses"]) == (7451, [anna.address])
    host = re.fullmatch(r"muster-([0-9a-f]{16})\.local\.?", seen["host"])
    assert host, "none of anna's names"
    # One of very many: two laptops with one host would have each other's addresses.
    assert int(host[1], 16) >> 32, seen["host"]

    def browsed_by_avahi():
        return [service for service in avahi_browse(ben) if service["address"] == anna.address]

    # avahi-browse ends with the first lull, and this laptop's avahi may have heard of the service only a moment ago.
    browsed = wait_until(browsed_by_avahi, PATIENCE_SECONDS, "avahi-browse sees it too")
    assert (browsed[0]["name"], browsed[0]["port"], browsed[0]["txt"]) == ("anna", 7451, seen["txt"])


def test_two_laptops_with_one_host_name_get_two_names_and_see_each_other(lab, probes):
    first = lab.laptop("first", host_name="crew")
    # One after the other: two avahi-daemons that start in the same millisecond rename in step, crew-2, crew-3, crew-4 …
    wait_until(first.avahi_has_its_name, PATIENCE_SECONDS, "the first has the name")
    second = lab.laptop("second", host_name="crew")
    one, two = probes.start(first, id="id-one"), probes.start(second, id="id-two")
    found(one, id="id-two")
    found(two, id="id-one")

    # While names change hands, one laptop's new record may meet the other's old one: what counts is how it settles.
    wait_until(lambda: agree(one, two), PATIENCE_SECONDS, "each sees the other under the name that this has, and only that")
    assert len({advertised(one)[-1], advertised(two)[-1]}) == 2
    seen_by_one, seen_by_two = the_only(one), the_only(two)
    assert (seen_by_one["id"], seen_by_two["id"]) == ("id-two", "id-one")
    assert seen_by_one["addresses"][0] == second.address
    assert seen_by_two["addresses"][0] == first.address
    # The fault was there: avahi has renamed a host.
    assert "Host name conflict" in first.avahi.errors() + second.avahi.errors()


def the_only(probe):
    """The one service that a probe holds for present; None when there are none or several."""
    present = list(now_found(probe).values())
    return present[0] if len(present) == 1 else None


def agree(one, two):
    """Whether each of two probes sees exactly the other, under the name that it really has."""
    for seer, seen in ((one, two), (two, one)):
        service, names = the_only(seer), seen.events("advertised")
        if service is None or not names or service["name"] != names[-1]["name"]:
            return False
    return True


def test_two_crews_that_meet_with_equal_names_sort_it_out(lab, probes):
    """Both had the name while they were apart: the conflict comes when the cable is plugged in."""
    first, second = lab.laptop("first", host_name="crew"), lab.laptop("second", host_name="crew", avahi=False)
    second.cut()
    second.start_avahi()
    one, two = probes.start(first, id="id-one"), probes.start(second, id="id-two")
    assert (advertised(one), advertised(two)) == (["crew"], ["crew"]), "the fault is there"
    second.heal()
    # A switched-on link is announced to nobody: avahi notices the other when one of them speaks again.
    second.interface_down()
    second.interface_up()
    wait_until(lambda: agree(one, two), PATIENCE_SECONDS, "each sees the other, and only the other")
    assert (the_only(one)["id"], the_only(two)["id"]) == ("id-two", "id-one")
    assert len({advertised(one)[-1], advertised(two)[-1]}) == 2


def test_an_address_that_changes_is_told(lab, probes, measured):
    anna, ben = lab.laptop("anna"), lab.laptop("ben")
    watching, moving = probes.start(anna), probes.start(ben)
    old = ben.address
    found(watching, name="ben")

    changed = time.monotonic()
    ben.change_address("10.77.0.200")
    moving.signal(signal.SIGHUP)  # In musterd the kernel says so.
    moved = lambda: "10.77.0.200" in now_found(watching)["ben"]["addresses"]
    wait_until(moved, PATIENCE_SECONDS, "the new address is told")
    event = next(e for e in watching.events("found", name="ben") if "10.77.0.200" in e["addresses"])
    measured("an address changes", event["time"] - changed, GO_SECONDS)
    gone = lambda: old not in now_found(watching)["ben"]["addresses"]
    wait_until(gone, PATIENCE_SECONDS, "the old address is forgotten")
    event = next(e for e in watching.events("found", name="ben") if e["time"] > changed and old not in e["addresses"])
    measured("the old address is forgotten", event["time"] - changed, GO_SECONDS)
    assert old not in {service["address"] for service in avahi_browse(anna)}, "the address has really gone"


def test_an_interface_goes_down_and_comes_back(lab, probes, measured):
    anna, ben = lab.laptop("anna"), lab.laptop("ben")
    staying, moving = probes.start(anna), probes.start(ben)
    found(staying, name="ben")
    found(moving, name="anna")

    down = time.monotonic()
    ben.interface_down()
    assert "state DOWN" in ben.ip("link", "show", "eth0")
    measured("own interface goes down", lost(moving, "anna", after=down)["time"] - down, GO_SECONDS)
    assert moving.events("unavailable") == [], "avahi is still there"

    up = time.monotonic()
    ben.interface_up()
    measured("own interface comes back", found(moving, after=up, name="anna")["time"] - up, GO_SECONDS)
    wait_until(lambda: "ben" in now_found(staying), PATIENCE_SECONDS, "the other sees it again")


def test_a_cable_is_cut_while_a_laptop_leaves_and_another_joins(lab, probes):
    """What happened behind a cut cable is learned after it."""
    anna, ben, cleo = lab.laptop("anna"), lab.laptop("ben"), lab.laptop("cleo")
    watching = probes.start(anna)
    probes.start(ben)
    found(watching, name="ben")
    anna.cut()
    joining = probes.start(cleo)
    found(joining, name="ben")
    never_during(lambda: "cleo" in now_found(watching), 1, "the cable is cut, yet anna finds cleo")
    anna.heal()
    wait_until(lambda: set(now_found(watching)) == {"ben", "cleo"}, PATIENCE_SECONDS * 2, "anna finds both")


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_avahi_is_restarted_under_a_running_program(lab, probes, measured, how):
    anna, ben = lab.laptop("anna"), lab.laptop("ben")
    steady, shaken = probes.start(anna), probes.start(ben)
    witness = probes.witness(anna)
    found(steady, name="ben")
    found(shaken, name="anna")
    found(witness, name="ben")

    ended = time.monotonic()
    if how == "stopped":
        ben.stop_avahi()
        lost(steady, "ben")
        lost(witness, "ben")  # the old record has really gone
    else:
        ben.kill_avahi()
    event = wait_until(lambda: shaken.events("unavailable"), PATIENCE_SECONDS, "ben notices")[0]
    measured(f"avahi {how}: noticed", event["time"] - ended, 1)
    wait_until(lambda: now_found(shaken) == {}, PATIENCE_SECONDS, "ben forgets what avahi told")

    ben.start_avahi()
    started = time.monotonic()
    measured(f"avahi {how} and restarted: others found", found(shaken, after=started, name="anna")["time"] - started, 5)
    if how == "stopped":
        measured("avahi restarted: found by others", found(steady, after=started, name="ben")["time"] - started, 5)
    wait_until(lambda: "ben" in now_found(steady), PATIENCE_SECONDS, "ben is announced again")
    assert len(shaken.events("unavailable")) == 1
    assert len(shaken.events("available")) == 2


def test_restarts_of_avahi_leave_no_files_and_threads_behind(lab, probes):
    anna, ben = lab.laptop("anna"), lab.laptop("ben")
    probes.start(anna)
    shaken = probes.start(ben)

    def is_settled(restarts):
        return "anna" in now_found(shaken) and len(shaken.events("advertised")) == restarts + 1

    def entries(kind):
        return len(os.listdir(f"/proc/{shaken.pid}/{kind}"))

    wait_until(lambda: is_settled(0), PATIENCE_SECONDS, "ben is at work")
    files = entries("fd")
    for restarts in range(1, 6):
        ben.kill_avahi()
        wait_until(lambda: len(shaken.events("unavailable")) == restarts, PATIENCE_SECONDS, "ben notices")
        ben.start_avahi()
        wait_until(lambda: is_settled(restarts), PATIENCE_SECONDS, "ben is at work again")
    wait_until(lambda: entries("fd") == files, PATIENCE_SECONDS, f"there are {files} open files again")
    # Some threads belong to the dispatch library, which keeps a few more for a while.
    assert entries("task") < 24


def test_avahi_is_absent_at_the_start_and_comes_later(lab, probes, measured):
    anna, ben = lab.laptop("anna"), lab.laptop("ben", avahi=False)
    steady, early = probes.start(anna), probes.start(ben)
    wait_until(lambda: early.events("unavailable"), PATIENCE_SECONDS, "it says that avahi is absent")
    # Several tries pass meanwhile, and say nothing more.
    tries = lambda: early.errors().count("could not ask avahi") >= 3
    wait_until(tries, PATIENCE_SECONDS, "it tries again")
    assert [event["event"] for event in early.events()] == ["unavailable"]

    ben.start_avahi()
    come = time.monotonic()
    # At the worst a pause of five seconds has just begun; then a laptop joins as any other.
    measured("avahi comes later", found(steady, name="ben")["time"] - come, 5 + APPEAR_SECONDS)
    found(early, name="anna")
    assert len(early.events("unavailable")) == 1


def test_the_system_bus_goes_and_comes(lab, probes):
    anna, ben = lab.laptop("anna"), lab.laptop("ben")
    probes.start(anna)
    shaken = probes.start(ben)
    found(shaken, name="anna")
    ben.stop_bus()
    wait_until(lambda: shaken.events("unavailable"), PATIENCE_SECONDS, "ben notices")
    # Avahi ends with its bus, but now and then it hangs in that: a service manager ends it then.
    ben.kill_avahi()
    ben.start_avahi()
    wait_until(lambda: "anna" in now_found(shaken), PATIENCE_SECONDS, "ben finds anna again")
    assert shaken.is_running


def test_a_second_daemon_on_one_laptop(lab, probes):
    anna, ben = lab.laptop("anna"), lab.laptop("ben")
    watching = probes.start(anna)
    first = probes.start(ben, port=7447, id="id-one")
    assert advertised(first) == ["ben"]
    second = probes.start(ben, port=7448, id="id-two")
    assert advertised(second) == ["ben #2"], "the name was taken, by the same host"

    found(watching, id="id-one", port=7447)
    found(watching, id="id-two", port=7448)
    assert found(first, id="id-two")["addresses"][0] == ben.address
    assert found(second, id="id-one")["addresses"][0] == ben.address
    assert "id-one" not in {event.get("id") for event in first.events()}, "nobody reports itself"
    assert "id-two" not in {event.get("id") for event in second.events()}, "nobody reports itself"

    second.stop()
    lost(watching, "ben #2")
    assert list(now_found(watching)) == ["ben"]


def test_a_laptop_that_loses_its_power_is_not_reported_lost_at_once(lab, probes):
    """mDNS cannot know: the transport has to notice. This states what discovery does not promise."""
    anna, ben = lab.laptop("anna"), lab.laptop("ben")
    watching = probes.start(anna)
    probes.start(ben)
    found(watching, name="ben")
    ben.power_cut()
    never_during(lambda: watching.events("lost"), GO_SECONDS, "lost without a goodbye")
