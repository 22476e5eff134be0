"""Certificates end, and laptops stay: they are renewed by any issuer in reach, by a time that no wall clock decides."""

import time
from datetime import datetime

import pytest
from attacks import assert_kept, kept
from clocks import WallClock, milliseconds, true_milliseconds
from invitations import anna, invite, join, let_in, newcomer, wait_joining
from lab import never_during, wait_until
from membership import QUIET_SECONDS
from newcomer import CERTIFICATES, ENROLMENT, REFUSAL, Conversation
from revoking import fleet_of
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import Member, connect, frame, number, wait_for_log
from time_server import TimeServer

DAY = 86_400
LIFETIME = 45 * DAY
RENEWAL, NOT_RENEWABLE = 7, 8
# The clock is learned, and the certificate is looked at, within some seconds of a start; a laptop is dialled again after 15 s, or twice that.
RENEW_SECONDS = 80
# Between two laptops without a server; the wrong clocks are off by years.
CLOSE_MILLISECONDS = 5_000


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
            # Had he been connected before she knew the time, he would stay so until she looks again, for minutes.
            assert bert.stop() == 0
            bert.start("--peer", anna.address)
            wait_for_log(anna, "ran out long ago", RENEW_SECONDS)
        restart(bert, server, "--peer", anna.address)
        renewed = lambda: valid_until(bert) > before
        wait_until(renewed, RENEW_SECONDS, f"bert's certificate is renewed; {bert.log()}")
        assert abs(valid_until(bert) - (time.time() + days * DAY + LIFETIME)) < DAY
        own = lambda: abs(valid_until(anna) - (time.time() + days * DAY + LIFETIME)) < DAY
        wait_until(own, RENEW_SECONDS, "anna renews her own")
        wait_for_log(bert, "this laptop's certificate was renewed")
        wait_for_log(anna, "a certificate was renewed")
        item = bert.add(job, name="found in the basement")
        wait_agreed([anna, bert], job)
        assert item in anna.items(job)


def test_without_an_issuer_a_crew_goes_on_with_what_it_has_and_is_apart_in_the_end(solos):
    """Nobody renews their certificates, which hold for 45 days and in grace for 45 more."""
    bert, carl = solos("bert").start(), solos("carl").start()
    ends = [valid_until(daemon) for daemon in (bert, carl)]
    meet(bert, carl)
    job = bert.create_job("Smith")
    wait_agreed([bert, carl], job)
    with TimeServer(bert.fleet, error_seconds=60 * DAY) as server:
        for daemon in (bert, carl):
            wait_told(daemon, server, 60)
        # What they may tell each other is looked at when they connect.
        meet(bert, carl)
        new = bert.create_job("Jones")
        for daemon in (bert, carl):
            daemon.add(job, name=f"in grace, of {daemon.name}")
        wait_agreed([bert, carl], job)
        assert len(carl.items(job)) == 2
        never_during(lambda: carl.ask("GET", f"/v1/jobs/{new}")[0] != 404, QUIET_SECONDS, "carl gets another job")
        assert [daemon.connected() for daemon in (bert, carl)] == [["carl"], ["bert"]]

        server.error_seconds = 100 * DAY
        for daemon in (bert, carl):
            wait_told(daemon, server, 100)
        before = [kept(daemon) for daemon in (bert, carl)]
        # Who calls looks first at what the other shows.
        for daemon, other in ((bert, carl), (carl, bert)):
            daemon.make("/v1/peers", {"address": other.address})
            wait_for_log(daemon, "ran out long ago", PATIENCE_SECONDS)
        never_during(lambda: bert.connected() + carl.connected(), QUIET_SECONDS, "they are connected")
        assert_kept(bert, before[0])
        assert_kept(carl, before[1])
        # Each goes on by itself.
        apart = bert.add(job, name="apart")
        assert apart in bert.items(job) and apart not in carl.items(job)
    assert [valid_until(daemon) for daemon in (bert, carl)] == ends, "nobody was renewed"


def meet(bert, carl):
    bert.make("/v1/peers", {"address": carl.address})
    wait_until(lambda: bert.connected() == ["carl"] and carl.connected() == ["bert"], PATIENCE_SECONDS, "they meet")


def wait_told(daemon, server, days):
    """Starts it anew, and waits until it knows that so many days have passed."""
    restart(daemon, server)
    past = lambda: milliseconds(daemon.get("/v1/clock")["time"]) - true_milliseconds() > (days - 1) * DAY * 1_000
    wait_until(past, PATIENCE_SECONDS, f"{daemon.name} knows the time")


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


def asked_to_renew(anna, member):
    """What she answers."""
    context = member.context
    context.set_alpn_protocols([ENROLMENT])
    with Conversation(context.wrap_socket(connect(anna))) as conversation:
        assert conversation.say(frame(number(RENEWAL, 1)))
        return conversation.next()


def test_from_half_way_on_everybody_is_renewed_and_before_nobody(solos, anna):
    """Whoever asks too early has a wrong clock, or wants to keep the issuer busy. 45 days make 22 and a half."""
    bert, _ = crew(solos, anna)
    eager = Member(fleet_of(anna))
    refused = (REFUSAL, (NOT_RENEWABLE, 0))
    assert asked_to_renew(anna, eager) == refused
    before = valid_until(anna), valid_until(bert)
    with TimeServer(fleet_of(anna), error_seconds=22 * DAY) as server:
        restart(anna, server)
        restart(bert, server, "--peer", anna.address)
        for daemon in (anna, bert):
            told = lambda: daemon.get("/v1/clock")["source"] == "server"
            wait_until(told, PATIENCE_SECONDS, f"{daemon.name} has the server's time")
        assert asked_to_renew(anna, eager) == refused
        # They look after one second, two and four.
        never_during(lambda: (valid_until(anna), valid_until(bert)) != before, 8, "somebody was renewed")
        assert "certificate was renewed" not in anna.log() + bert.log()
        server.error_seconds = 23 * DAY
        restart(anna, server)
        restart(bert, server, "--peer", anna.address)
        for daemon, former in zip((anna, bert), before):
            renewed = lambda: valid_until(daemon) > former
            wait_until(renewed, RENEW_SECONDS, f"{daemon.name} is renewed; {daemon.log()}")
        assert asked_to_renew(anna, eager)[0] == CERTIFICATES


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
    off = lambda: abs(milliseconds(bert.get("/v1/clock")["time"]) - true_milliseconds())
    wait_until(lambda: off() < CLOSE_MILLISECONDS, PATIENCE_SECONDS, f"bert has learned the time; {bert.get('/v1/clock')}")
    bert.stop()
    bert.launch(environment=environment)
    wait_until(lambda: anna.connected() == ["bert"], PATIENCE_SECONDS, "it is let in again after a new start")
