"""Who does not belong to the fleet gets no word out of a laptop, and changes nothing on it."""

import os
import ssl

import pytest
from attacks import assert_kept, kept
from lab import Fleet
from solo import Solos, wait_agreed
from stranger import Link, Member, connect, hello, tls, wait_for_log


def with_another_protocol(context):
    context.set_alpn_protocols(["http/1.1"])
    return context


def with_an_older_tls(context):
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
    return context


OUTSIDERS = {
    "no certificate": (lambda fleet, other: tls(), "PEER_DID_NOT_RETURN_A_CERTIFICATE"),
    "another fleet": (lambda fleet, other: Member(other).context, "another fleet"),
    "another protocol": (lambda fleet, other: with_another_protocol(Member(fleet).context), "another protocol"),
    "an older TLS": (lambda fleet, other: with_an_older_tls(Member(fleet).context), "UNSUPPORTED_PROTOCOL"),
    "no TLS": (lambda fleet, other: None, "WRONG_VERSION_NUMBER"),
}


@pytest.fixture(scope="module")
def other_fleet(build_directory):
    fleet = Fleet(build_directory)
    yield fleet
    fleet.end()


@pytest.mark.parametrize("who", OUTSIDERS)
def test_who_is_not_of_the_fleet_learns_nothing(build_directory, other_fleet, who):
    make, reason = OUTSIDERS[who]
    with Solos(build_directory) as solos:
        bert = solos("bert").start()
        anna = solos("anna").start("--peer", bert.address)
        job = anna.create_job()
        wait_agreed([anna, bert], job)
        before = kept(anna)
        heard = hear(anna, make(anna.fleet, other_fleet))
        assert b"anna" not in heard and len(heard) < 16, heard
        wait_for_log(anna, "a connection was refused")
        wait_for_log(anna, reason)
        assert anna.connected() == ["bert"]
        assert_kept(anna, before)


def hear(daemon, context):
    """What a daemon tells somebody who says hello, until it closes the connection. Without a context nothing is
    encrypted."""
    heard = b""
    with connect(daemon) as connection:
        try:
            link = Link(connection, context) if context else None
            (link.send if link else connection.sendall)(hello(os.urandom(32)))
            while more := link.receive(1 << 16) if link else connection.recv(1 << 16):
                heard += more
        except (ssl.SSLError, ConnectionError):
            pass
    return heard
