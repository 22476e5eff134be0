"""Certificates end, and laptops stay: they are renewed by any issuer in reach, by a time that no wall clock decides."""

import time
from datetime import datetime

import pytest
from clocks import WallClock
from invitations import anna, invite, join, let_in, newcomer, wait_joining
from lab import never_during, wait_until
from newcomer import ENROLMENT, REFUSAL, Conversation
from revoking import fleet_of
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import Member, connect, frame, number, wait_for_log
from time_server import TimeServer

DAY = 86_400
LIFETIME = 45 * DAY
RENEWAL, NOT_RENEWABLE = 7, 8
# The clock is learned, and the certificate is looked at, within some seconds of a start.
RENEW_SECONDS = 40


def valid_until(daemon):
    """In seconds since 1970."""
    return datetime.fromisoformat(daemon.get("/v1/fleet")["validUntil"]).timestamp()


def crew(solos, anna):
    """Bert joins anna, and both agree on a job."""
    bert = newcomer(solos, "bert", anna.address)
    let_in(anna, bert, invite(anna))
    job = anna.create_job()
    wait_agreed([anna, bert], job)
    return bert, job


def restart(daemon, server, *flags):
    assert daemon.stop() == 0
    daemon.start("--server", server.url, *flags)


@pytest.mark.parametrize("days", [30, 60, 100])
def test_after_weeks_in_the_basement_a_laptop_is_renewed(solos, anna, days):
    """Before the end of its certificate, in the days of grace that follow, and long after them."""
    bert, job = crew(solos, anna)
    before = valid_until(bert)
    with TimeServer(fleet_of(anna), error_seconds=days * DAY) as server:
        # Anna's clock is right, and bert's certificate has run out by it, before he may ask her for another.
        restart(anna, server)
        ahead = lambda: anna.get("/v1/clock")["source"] == "server"
        wait_until(ahead, PATIENCE_SECONDS, "anna has the server's time")
        if days > 90:
            wait_for_log(anna, "ran out long ago", RENEW_SECONDS)
        restart(bert, server, "--peer", anna.address)
        renewed = lambda: valid_until(bert) > before
        wait_until(renewed, RENEW_SECONDS, f"bert's certificate is renewed; {bert.log()}")
        assert abs(valid_until(bert) - (time.time() + days * DAY + LIFETIME)) < DAY
        assert abs(valid_until(anna) - (time.time() + days * DAY + LIFETIME)) < DAY, "anna has renewed her own"
        wait_for_log(bert, "this laptop's certificate was renewed")
        wait_for_log(anna, "a certificate was renewed")
        item = bert.add(job, name="found in the basement")
        wait_agreed([anna, bert], job)
        assert item in anna.items(job)


def test_a_revoked_laptop_is_not_renewed(solos, anna):
    bert, _ = crew(solos, anna)
    before = valid_until(bert)
    assert bert.stop() == 0
    device = [known["deviceID"] for known in anna.get("/v1/fleet/devices") if known["name"] == "bert"]
    anna.make("/v1/fleet/revocations", {"device": device[0]})
    with TimeServer(fleet_of(anna), error_seconds=60 * DAY) as server:
        restart(anna, server)
        bert.start("--server", server.url, "--peer", anna.address)
        wait_for_log(anna, "It was revoked", RENEW_SECONDS)
        never_during(lambda: valid_until(bert) != before, RENEW_SECONDS / 4, "bert has another certificate")


def test_before_half_way_nobody_is_renewed(anna):
    """Whoever asks too early has a wrong clock, or wants to keep the issuer busy."""
    context = Member(fleet_of(anna)).context
    context.set_alpn_protocols([ENROLMENT])
    with Conversation(context.wrap_socket(connect(anna))) as conversation:
        assert conversation.say(frame(number(RENEWAL, 1)))
        assert conversation.next() == (REFUSAL, (NOT_RENEWABLE, 0))
    assert "a certificate was renewed" not in anna.log()


@pytest.mark.parametrize("setting", ["@1970-01-02 00:00:00", "+10y"])
def test_a_laptop_whose_clock_is_decades_wrong_joins_and_works(solos, anna, setting):
    """A dead battery of its clock neither shuts a laptop out nor lets its certificate end."""
    bert = solos("bert")
    clock = WallClock(solos.directory, "bert", setting)
    environment = {**clock.environment, "MUSTER_PEERS": anna.address}
    bert.launch(environment=environment)
    wait_until(bert.answers, PATIENCE_SECONDS, "bert answers")
    started = datetime.fromisoformat(bert.get("/v1/status")["startedAt"]).timestamp()
    assert abs(started - time.time()) > 9 * 365 * DAY, "the fault is there"
    code = invite(anna)
    join(bert, code)
    wait_joining(bert, "waiting")
    device = anna.get(f"/v1/fleet/invitations/{code[:4]}")["newcomer"]["deviceID"]
    anna.ask("PUT", f"/v1/fleet/invitations/{code[:4]}", {"deviceID": device})
    wait_joining(bert, "joined", PATIENCE_SECONDS)
    job = bert.create_job()
    wait_agreed([anna, bert], job)
    bert.stop()
    bert.launch(environment=environment)
    wait_until(lambda: anna.connected() == ["bert"], PATIENCE_SECONDS, "it is let in again after a new start")
