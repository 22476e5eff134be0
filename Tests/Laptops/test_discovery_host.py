"""The host of our own at which a laptop's service is, against real avahi daemons: who is told of which address, and what an avahi or a
neighbour can do to it."""

import os
import signal
import time

import pytest
from lab import never_during, wait_until
from probe import HERE, PATIENCE_SECONDS, Probes, eavesdropper, now_found, wait_at_rest, wake_ups_during


@pytest.fixture
def probes(build_directory):
    return Probes(build_directory)


def seen(probe, name, patience=PATIENCE_SECONDS):
    """What a probe holds for present under a name, waiting for it."""
    return wait_until(lambda: now_found(probe).get(name), patience, f"{probe.name} finds {name}")


def test_discovery_at_rest_does_nothing(lab, probes):
    anna, ben = lab.laptop("anna"), lab.laptop("ben")
    resting = probes.start(anna)
    probes.start(ben)
    seen(resting, "ben")
    wait_until(lambda: resting.events("advertised"), PATIENCE_SECONDS, "anna is announced")
    wait_at_rest(resting)


def test_without_a_network_and_after_it_discovery_is_at_rest_too(lab, probes):
    """Avahi shows a service to its own machine on the loopback, and there alone while there is no other network."""
    anna = lab.laptop("anna")
    first = probes.start(anna, port=7447, id="id-one")
    wait_until(lambda: first.events("advertised"), PATIENCE_SECONDS, "the first is announced")
    anna.interface_down()
    # Starts without a network.
    second = probes.start(anna, port=7448, id="id-two")
    (name,) = {event["name"] for event in wait_until(lambda: second.events("advertised"), PATIENCE_SECONDS, "so is the second")}
    assert seen(first, name)["addresses"][0] == "127.0.0.1"
    wait_at_rest(first)
    wait_at_rest(second)
    anna.interface_up()
    known = lambda: anna.address in now_found(first)[name]["addresses"]
    wait_until(known, PATIENCE_SECONDS, "it has an address in the network, too")
    wait_at_rest(first)
    wait_at_rest(second)
    assert "avahi closed a question" not in first.errors() + second.errors()


def test_an_address_is_told_on_its_own_network_alone(lab, probes):
    """What a laptop is called for its containers or in a private network is nobody's business in a customer's."""
    anna, ben = lab.laptop("anna"), lab.laptop("ben")
    private = "172.17.0.1"
    anna.ip("link", "add", "inside0", "type", "veth", "peer", "name", "inside1")
    anna.ip("link", "set", "inside1", "up")
    anna.ip("addr", "add", f"{private}/16", "dev", "inside0")
    anna.ip("link", "set", "inside0", "up")
    heard = eavesdropper(ben)
    probes.start(anna)
    found = seen(probes.start(ben), "anna")
    of_host = lambda: heard.events("record", name=found["host"], **{"from": anna.address})
    wait_until(lambda: [one for one in of_host() if anna.address in one["text"]], PATIENCE_SECONDS, "the address is told")
    never_during(lambda: [one for one in of_host() if private in one["text"]], 3, "so is the one inside")
    assert private not in now_found(probes.start(lab.laptop("cleo"))).get("anna", {}).get("addresses", [])


def test_somebody_who_says_that_the_host_is_theirs_does_not_get_it(lab, probes):
    """RFC 6762 section 9: whoever asks first whether a name is free, and hears that another has it, gives it up."""
    anna, ben, mallory = lab.laptop("anna"), lab.laptop("ben"), lab.laptop("mallory")
    heard = eavesdropper(ben)
    probes.start(anna)
    found = seen(probes.start(ben), "anna")
    mallory.run(["/usr/bin/python3", os.path.join(HERE, "claimant.py"), mallory.address, found["host"]])
    claimed = heard.events("record", name=found["host"], **{"from": mallory.address})
    assert len(claimed) == 5 and all(mallory.address in one["text"] for one in claimed), "the fault is there"
    # Whoever comes now knows nothing of before.
    cleo = probes.start(lab.laptop("cleo"))
    known = lambda: anna.address in now_found(cleo).get("anna", {}).get("addresses", [])
    wait_until(known, PATIENCE_SECONDS, "cleo knows where anna is")
    assert now_found(cleo)["anna"]["host"] == found["host"]


def test_an_avahi_that_stands_still_holds_up_nobody_who_stops(lab, probes):
    anna = lab.laptop("anna")
    probe = probes.start(anna)
    wait_until(lambda: probe.events("advertised"), PATIENCE_SECONDS, "anna is announced")
    wait_at_rest(probe)
    anna.avahi.signal(signal.SIGSTOP)
    try:
        anna.ip("addr", "add", "10.77.0.200/24", "dev", "eth0")
        probe.signal(signal.SIGHUP)
        # It asks avahi, and waits for an answer.
        wait_until(lambda: wake_ups_during(probe, 1) > 0, PATIENCE_SECONDS, "it has heard of the address")
        began = time.monotonic()
        assert probe.stop() == 0
        assert time.monotonic() - began < 5, "the bus gives an answer up after 25 seconds"
    finally:
        anna.avahi.signal(signal.SIGCONT)
