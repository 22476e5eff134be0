"""What happens to machines: power cuts in mid-write, avahi restarted, a disk that is full."""

import random
import time

from crew import PATIENCE_SECONDS, wait_connected
from disks import fill
from lab.waiting import wait_until

POWER_CUTS = 20


def test_twenty_power_cuts_in_mid_write(day):
    chance = random.Random(20)
    boots, caught = set(), 0
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
        caught += writer.tried > writer.count
        day.work(others, 1)
        member.machine.boot().wait_running()
        member.wait_ready()
        assert member.machine.boot_id() not in boots
        member.remark(job, day.items[job][0])
    assert caught > POWER_CUTS / 2, "most of them took an edit that nobody had acknowledged yet"
    day.meet()
    day.agree()


def test_keys_are_bound_to_their_machines(day):
    """systemd has put them out of the daemon's reach at a start since."""
    for member in day.crew:
        assert not (member.machine.disk / "var/lib/muster/device.key").exists(), member.machine.journal("muster-key")
        assert (member.machine.disk / "etc/credstore.encrypted/muster.device-key").exists()


def test_a_request_survives_a_power_cut(day):
    day.network.cut("ben")
    day.ask(day.ben, day.garage)
    day.ben.machine.power_cut()
    # Among what the office has done, besides the job itself, it is not.
    assert len(day.desk.published(day.garage)) == sum(job == day.garage for job, _ in day.ledger.requests)
    day.ben.machine.boot().wait_running()
    day.wait_carried_out(day.garage)


def test_avahi_is_restarted(day):
    before = {member.name: member.machine.main_process("avahi-daemon") for member in day.crew}
    for member in day.crew:
        member.machine.run(["systemctl", "restart", "avahi-daemon"])
        assert member.machine.main_process("avahi-daemon") not in (0, before[member.name])
    for member in day.crew:
        everybody = {other.service for other in day.crew}
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
