"""Where the time comes from: a server, another laptop, or nobody; and what becomes of what was written before."""

import time
from datetime import datetime

from lab import never_during, wait_until
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import Stranger, wait_for_log
from time_server import TimeServer

HOUR = 3_600


def clock(daemon):
    return daemon.get("/v1/status")["clock"]


def wait_source(daemon, source):
    wait_until(lambda: clock(daemon)["source"] == source, PATIENCE_SECONDS, f"{daemon.name} has the time of a {source}")


def written(daemon, job, item):
    """When an item was last written, in seconds since 1970."""
    return datetime.fromisoformat(daemon.items(job)[item]["updatedAt"]).timestamp()


def test_a_laptop_alone_does_not_claim_to_know(solos):
    anna = solos("anna").start()
    now = clock(anna)
    assert now["source"] == "none" and now["driftMilliseconds"] is None and now["uncertaintyMilliseconds"] is None


def test_the_servers_time_is_learned_and_unseen_work_is_stamped_anew(solos):
    anna = solos("anna").start()
    job = anna.create_job()
    items = [anna.add(job, name=f"box {count}") for count in range(3)]
    before = [written(anna, job, item) for item in items]
    assert anna.stop() == 0
    with TimeServer(solos.fleet, error_seconds=3 * HOUR) as server:
        anna.start("--server", server.url)
        wait_source(anna, "server")
        wait_until(lambda: written(anna, job, items[0]) != before[0], PATIENCE_SECONDS, "the work follows the clock")
        after = [written(anna, job, item) for item in items]
        steps = [late - early for early, late in zip(before, after)]
        assert all(abs(step - 3 * HOUR) < 0.1 for step in steps), steps
        assert after == sorted(after)
        now = clock(anna)
        assert abs(now["driftMilliseconds"] + 3 * HOUR * 1_000) < 500 and now["uncertaintyMilliseconds"] < 500
        wait_until(lambda: server.asked >= 4, PATIENCE_SECONDS, "it has asked four times")
        asked = server.asked
        busy = anna.processor_seconds()
        never_during(lambda: server.asked != asked, 3, "it asks again before a minute is over")
        assert anna.processor_seconds() - busy < 0.1
    # Restarted without the server it still knows, and what is written now is in order after what was.
    assert anna.stop() == 0
    anna.start()
    assert clock(anna)["source"] == "server"
    last = anna.add(job, name="last")
    assert abs(written(anna, job, last) - (time.time() + 3 * HOUR)) < 1


def test_the_time_goes_from_laptop_to_laptop_before_the_work(solos):
    anna, bert, cleo = solos("anna"), solos("bert"), solos("cleo")
    cleo.start()
    job = cleo.create_job()
    item = cleo.add(job, name="chair")
    early = written(cleo, job, item)
    with TimeServer(solos.fleet, error_seconds=5 * HOUR) as server:
        anna.start("--server", server.url)
        wait_source(anna, "server")
        bert.start("--peer", anna.address)
        wait_source(bert, "peer")
        assert cleo.stop() == 0
        cleo.start("--peer", bert.address)
        wait_source(cleo, "peer")
        wait_agreed([anna, bert, cleo], job)
        assert abs(written(cleo, job, item) - early - 5 * HOUR) < 1
        assert abs(clock(cleo)["driftMilliseconds"] + 5 * HOUR * 1_000) < 500
        uncertain = [clock(member)["uncertaintyMilliseconds"] for member in (anna, bert, cleo)]
        assert max(uncertain) < 500


def test_a_login_page_is_no_server(solos):
    with TimeServer(solos.fleet, page=b"<html>Welcome. Please log in.</html>") as server:
        anna = solos("anna").start(environment={"MUSTER_SERVER": server.url})
        wait_for_log(anna, "what answers is not the server")
        asked = server.asked
        wait_until(lambda: server.asked >= asked + 2, PATIENCE_SECONDS, "it has asked again")
        assert clock(anna)["source"] == "none"
        assert anna.log().count("what answers is not the server") == 1
        server.page = None
        wait_source(anna, "server")
        assert "the server tells the time" in anna.log()


def test_a_server_out_of_reach_costs_nothing(solos):
    anna = solos("anna").start("--server", "https://127.0.0.1:9")
    wait_for_log(anna, "the server is out of reach")
    busy = anna.processor_seconds()
    never_during(lambda: anna.log().count("the server is out of reach") > 1, 3, "it says so again")
    assert anna.processor_seconds() - busy < 0.1


def test_a_stranger_who_claims_an_absurd_time_changes_nothing(solos):
    anna = solos("anna").start()
    job = anna.create_job()
    for claim in (
        {"received": 1 << 62, "answered": 1 << 62, "stratum": 1, "uncertainty": 0},
        {"received": -5, "answered": -4, "stratum": 2, "uncertainty": 0},
        {"received": int(time.time() * 1e6) + 10**10, "answered": int(time.time() * 1e6), "stratum": 1, "uncertainty": 0},
        {"received": int(time.time() * 1e6) + 10**10, "answered": int(time.time() * 1e6) + 10**10, "stratum": 0},
    ):
        stranger = Stranger(anna).greet(clock=claim)
        wait_until(lambda: "stranger" in anna.connected(), PATIENCE_SECONDS, "the stranger is connected all the same")
        stranger.close()
        wait_until(lambda: "stranger" not in anna.connected(), PATIENCE_SECONDS, "and gone")
    assert clock(anna)["source"] == "none"
    assert abs(written(anna, job, anna.add(job, name="lamp")) - time.time()) < 2
