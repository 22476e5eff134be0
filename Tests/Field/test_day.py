"""A day in the field, step by step. A step that fails ends the day; each fault asserts that it has happened."""

import os
import random
import time

import pytest
from crew import PATIENCE_SECONDS, Ledger, wait_connected
from day import Day, package
from disks import Backup, fill
from evening import assert_all_is_there, assert_exports_are_equal, assert_requests_arrived_once, remarks
from lab.waiting import wait_until

POWER_CUTS = 20
SUSPENDED_SECONDS = 8
# A bad mobile connection.
DELAY_MILLISECONDS, LOSS_PERCENT, KILOBITS = 150, 10, 1_000


@pytest.fixture(scope="module")
def day():
    with Day() as day:
        yield day


def test_machines_boot_in_any_order_and_take_the_packages(day):
    for machine in (day.laptops[2], day.server, day.laptops[0], day.laptops[1]):
        machine.boot()
    day.install()
    for member in day.crew:
        day.configure(member)
    assert len({machine.boot_id() for machine in day.machines}) == len(day.machines)


def test_laptops_and_server_join_by_a_code(day):
    day.found()
    day.let_server_in()
    day.let_in(day.anna)
    day.let_in(day.ben)
    day.meet()
    day.open_desk()


def test_the_crew_works(day):
    for member, name in ((day.anna, "attic"), (day.ben, "cellar"), (day.lea, "garage")):
        day.create_job(member, name)
    day.attic, day.cellar, day.garage = day.jobs
    day.agree()
    day.work()
    day.ben.ask(day.attic, "dispatched")
    day.wait_carried_out(day.attic, "dispatched")
    day.agree()


def test_a_suspended_laptop_wakes_up(day):
    ben = day.ben.machine
    process = ben.main_process("musterd")
    ben.suspend()
    since = time.time()
    day.work([day.lea, day.anna])
    day.agree([day.lea, day.anna])
    wait_until(lambda: time.time() - since > SUSPENDED_SECONDS, PATIENCE_SECONDS, "time goes on")
    assert ben.group.is_frozen()
    ben.resume()
    assert day.ben.digest(day.attic) is not None
    day.agree()
    assert ben.main_process("musterd") == process
    day.work()
    day.agree()


def test_a_laptop_that_was_given_up_wakes_up(day):
    anna = day.anna.machine
    process = anna.main_process("musterd")
    anna.suspend()
    wait_connected(day.lea, day.ben)
    wait_connected(day.ben, day.lea)
    day.work([day.lea, day.ben])
    assert anna.group.is_frozen()
    anna.resume()
    day.meet()
    assert anna.main_process("musterd") == process
    day.work([day.anna])
    day.agree()


def test_a_laptop_goes_to_the_cafe_and_comes_back(day):
    anna = day.anna.machine
    anna.move("cafe")
    wait_until(lambda: anna.pings(day.server), PATIENCE_SECONDS, "the café has the internet")
    assert not anna.pings(day.lea.machine)
    day.work()
    day.anna.ask(day.garage, "dispatched")
    # By way of the server.
    day.wait_carried_out(day.garage, "dispatched")
    day.agree()
    wait_connected(day.anna)
    anna.move("house")
    wait_until(lambda: anna.pings(day.lea.machine), PATIENCE_SECONDS, "anna is in the house again")
    day.meet()
    day.work()
    day.agree()


def test_a_link_is_slow_and_loses_packets(day):
    ben = day.ben.machine
    day.network.impair(ben, "house", DELAY_MILLISECONDS, LOSS_PERCENT, KILOBITS)
    assert ben.round_trip_milliseconds(day.lea.machine) >= 2 * DELAY_MILLISECONDS
    day.work()
    ben.run(["systemctl", "restart", "musterd"])
    day.ben.wait_ready()
    day.work()
    day.ben.ask(day.cellar, "dispatched")
    day.wait_carried_out(day.cellar, "dispatched")
    day.agree()
    passed, lost = day.network.repair(ben, "house")
    assert passed > 100 and lost > 5, f"{passed} frames passed, {lost} were lost"
    day.meet()


def test_an_access_point_lets_nobody_reach_anybody(day):
    names = [member.name for member in day.crew]
    day.network.isolate(names, True)
    for member in day.crew:
        assert member.machine.pings(day.server)
        assert not any(member.machine.pings(other.machine) for other in day.crew if other is not member)
    day.work()
    day.lea.ask(day.attic, "inProgress")
    day.wait_carried_out(day.attic, "inProgress")
    day.agree()
    day.network.isolate(names, False)
    day.meet()


def test_an_access_point_passes_no_multicast_on(day):
    day.network.mute([member.name for member in day.crew], True)
    day.network.cut("server")
    # Whoever has found somebody before goes on knowing the address; after this nobody knows anybody.
    for member in day.crew:
        member.machine.shut_down()
    for member in day.crew:
        member.machine.boot()
    for member in day.crew:
        member.machine.wait_running()
        member.wait_ready()
    for member in day.crew:
        wait_until(member.machine.neighbours, PATIENCE_SECONDS, f"{member.name} is announced")
        assert member.machine.neighbours() == {member.name}
        assert member.connected() == []
    day.work()
    for member in day.crew:
        day.configure(member, peers=[other for other in day.crew if other is not member])
    day.meet()
    day.work()
    day.agree()
    day.network.mute([member.name for member in day.crew], False)
    day.network.heal("server")
    for member in day.crew:
        day.configure(member)
    day.meet()


def test_the_way_to_the_office_goes_and_comes(day):
    day.network.cut("server")
    assert not day.lea.machine.pings(day.server)
    day.ben.ask(day.attic, "awaitingSignature")
    day.anna.ask(day.cellar, "inProgress")
    day.work()
    day.agree()
    pending = {"published": "inProgress", "pending": "awaitingSignature"}
    for member in day.crew:
        wait_until(lambda: member.state(day.attic) == pending, PATIENCE_SECONDS, f"{member.name} shows what waits")
    day.network.heal("server")
    day.wait_carried_out(day.attic, "awaitingSignature")
    day.wait_carried_out(day.cellar, "inProgress")


def test_twenty_power_cuts_in_mid_write(day):
    chance = random.Random(20)
    boots = set()
    for number in range(POWER_CUTS):
        member = day.crew[number % len(day.crew)]
        others = [other for other in day.crew if other is not member]
        job = day.jobs[number % len(day.jobs)]
        boots.add(member.machine.boot_id())
        writer = member.begin_writing(job, day.items[job])
        writer.wait_for(chance.randint(1, 12))
        time.sleep(chance.uniform(0, 0.05))
        assert writer.process.poll() is None, "it was writing when the power went"
        assert member.machine.power_cut() > 0
        assert writer.end() > 0
        day.work(others, 1)
        member.machine.boot().wait_running()
        member.wait_ready()
        assert member.machine.boot_id() not in boots
        member.remark(job, day.items[job][0])
    day.meet()
    day.agree()


def test_keys_are_bound_to_their_machines(day):
    """systemd has put them out of the daemon's reach at a start since."""
    for member in day.crew:
        assert not (member.machine.disk / "var/lib/muster/device.key").exists(), member.machine.journal("muster-key")
        assert (member.machine.disk / "etc/credstore.encrypted/muster.device-key").exists()


def test_a_request_survives_a_power_cut(day):
    day.network.cut("ben")
    day.ben.ask(day.garage, "inProgress")
    day.ben.machine.power_cut()
    assert day.desk.published(day.garage) == ["scheduled", "dispatched"]
    day.ben.machine.boot().wait_running()
    day.wait_carried_out(day.garage, "inProgress")


def test_avahi_is_restarted(day):
    before = {member.name: member.machine.main_process("avahi-daemon") for member in day.crew}
    for member in day.crew:
        member.machine.run(["systemctl", "restart", "avahi-daemon"])
        assert member.machine.main_process("avahi-daemon") not in (0, before[member.name])
    for member in day.crew:
        everybody = {other.name for other in day.crew}
        wait_until(lambda: member.machine.neighbours() == everybody, PATIENCE_SECONDS, f"{member.name} finds all again")
    day.network.cut("ben")
    wait_connected(day.lea, day.anna)
    wait_connected(day.ben)
    day.network.heal("ben")
    day.meet()
    day.work()
    day.agree()


def test_a_disk_runs_full_and_is_freed_again(day):
    state = day.anna.machine.disk / "var/lib/muster"
    process = day.anna.machine.main_process("musterd")
    fill(state / "filler")
    assert day.anna.machine.run(["stat", "-f", "-c", "%a", "/var/lib/muster"]).strip() == "0"

    def is_refused():
        try:
            day.anna.remark(day.attic, day.items[day.attic][0])
        except RuntimeError as error:
            return "disk is full" in str(error)
        return False

    wait_until(is_refused, PATIENCE_SECONDS, "an edit is refused for want of space")
    day.work([day.lea, day.ben])
    assert day.anna.answers()
    (state / "filler").unlink()
    day.work([day.anna])
    day.agree()
    assert day.anna.machine.main_process("musterd") == process


def test_one_laptop_is_upgraded_at_noon(day):
    before = {member.name: member.machine.version("muster") for member in day.crew}
    process = day.ben.machine.main_process("musterd")
    day.ben.machine.install(package("muster", os.environ["MUSTER_PACKAGES_NEXT"]))
    day.ben.wait_ready()
    assert len(set(before.values())) == 1 and day.ben.machine.version("muster") != before["ben"]
    assert day.ben.machine.main_process("musterd") not in (0, process)
    day.meet()
    day.work()
    day.ben.ask(day.garage, "awaitingSignature")
    day.wait_carried_out(day.garage, "awaitingSignature")
    day.agree()
    assert [member.machine.version("muster") for member in (day.lea, day.anna)] == [before["lea"], before["anna"]]


def set_back(day, is_another_machine):
    """Anna's laptop has a backup of this morning put back; others have had her work since. Returns when it has started, in no
    network."""
    anna = day.anna.machine
    then = day.anna.digest(day.attic)
    anna.shut_down()
    backup = Backup(anna, day.directory / f"backup-{is_another_machine}")
    anna.boot().wait_running()
    day.anna.wait_ready()
    day.work()
    day.agree()
    now = day.anna.digest(day.attic)
    anna.power_cut()
    backup.put_back()
    if is_another_machine:
        anna.become_another()
    anna.boot()
    day.network.cut("anna")
    anna.wait_running()
    day.anna.wait_ready()
    assert day.anna.digest(day.attic) == then != now
    day.work([day.lea, day.ben])


def test_a_laptop_is_set_back_to_its_backup(day):
    set_back(day, is_another_machine=False)
    day.network.heal("anna")
    day.meet()
    day.agree()
    day.work()
    day.agree()


def test_a_laptop_is_replaced_by_another_with_its_backup(day):
    device = day.anna.json("status")["deviceID"]
    set_back(day, is_another_machine=True)
    # The key was bound to the machine that is gone.
    assert day.anna.json("status")["deviceID"] != device
    day.network.heal("anna")
    day.let_in(day.anna)
    day.meet()
    day.agree()
    day.work()
    day.agree()


def test_a_laptop_is_lost_and_revoked(day):
    day.agree()
    ben = day.ben
    ben.machine.power_cut()
    day.lea.muster("fleet", "revoke", "ben", "--yes")
    day.crew.remove(ben)
    day.meet()
    # Whoever has found it writes on, and is told that it is kept.
    ben.ledger = Ledger(day.directory / "ledger-of-the-thief")
    ben.machine.boot()
    day.network.cut("ben")
    ben.machine.wait_running()
    ben.wait_ready()
    ben.work(day.attic, day.items[day.attic], 3)
    assert len(ben.ledger.acknowledged) == 3
    day.network.heal("ben")
    wait_until(lambda: "revoked" in ben.try_muster("doctor").stdout, PATIENCE_SECONDS, "it hears that it was revoked")
    assert not day.is_connected_anywhere(ben) and not ben.connected()
    day.work()
    day.agree()
    written = {text for _, text in ben.ledger.acknowledged}
    assert not written & set(remarks(day.lea.export(day.attic)))


def test_in_the_evening_all_is_there(day):
    day.work()
    day.lea.ask(day.cellar, "awaitingSignature")
    for job in day.jobs:
        day.wait_carried_out(job, "awaitingSignature")
    day.agree()
    edits = requests = 0
    for job in day.jobs:
        export = assert_exports_are_equal(day.crew, job)
        edits += assert_all_is_there(day.ledger, job, export)
        digest = day.lea.digest(job)
        wait_until(lambda: day.desk.digest(job) == digest, PATIENCE_SECONDS, "the office holds the same")
        requests += assert_requests_arrived_once(day.desk, day.ledger, job)
        day.lea.muster("job", "audit", job)
    assert edits == len(day.ledger.acknowledged) and requests == len(day.ledger.requests) + len(day.jobs)
    print(f"{edits} acknowledged edits and {requests} requests are there")
