"""The rest of the day: an upgrade, a backup put back, a laptop replaced, one lost and revoked. Then what has to be true."""

import os
import shutil

from crew import CREW, PATIENCE_SECONDS, Ledger
from day import package
from disks import Backup
from evening import assert_all_is_there, assert_exports_are_equal, assert_requests_arrived_once, remarks
from lab.waiting import wait_until
from upgrades import ADDED, layout, take_back


def test_one_laptop_is_upgraded_at_noon(day):
    """The store is of a version that did not know what the last migrations add, so that it is copied first."""
    before = {member.name: member.machine.version("muster") for member in day.crew}
    process = day.ben.machine.main_process("musterd")
    day.ben.machine.run(["systemctl", "stop", "musterd"])
    state = day.ben.machine.disk / "var/lib/muster"
    take_back(state / "muster.sqlite", *ADDED)
    older = layout(state / "muster.sqlite")
    day.ben.machine.install(package("muster", os.environ["MUSTER_PACKAGES_NEXT"]))
    # Whether or not the package has.
    day.ben.machine.run(["systemctl", "start", "musterd"])
    day.ben.wait_ready()
    (copy,) = state.glob("muster.sqlite-before-*")
    assert copy.stat().st_uid == (state / "muster.sqlite").stat().st_uid != 0 and copy.stat().st_mode & 0o777 == 0o600
    shutil.copy(copy, day.directory / "copy.sqlite")
    assert layout(day.directory / "copy.sqlite") == older
    assert "upgrading the store" in day.ben.machine.journal("musterd")
    assert len(set(before.values())) == 1 and day.ben.machine.version("muster") != before["ben"]
    assert day.ben.machine.main_process("musterd") not in (0, process)
    day.meet()
    day.work()
    day.ask(day.ben, day.garage)
    day.wait_carried_out(day.garage)
    day.agree()
    assert [member.machine.version("muster") for member in (day.lea, day.anna)] == [before["lea"], before["anna"]]


def test_and_goes_back_to_the_store_of_the_morning(day):
    """What it has written since comes back from the others: it is a new replica."""
    ben = day.ben.machine
    now, replica = day.ben.digest(day.attic), day.ben.json("status")["replicaID"]
    refused = ben.try_run(["muster", "store", "rollback", "--yes"])
    assert refused.returncode == 75 and "Another musterd" in refused.stderr, refused
    assert ben.try_run(["muster", "store", "rollback", "--yes"], user=CREW).returncode != 0, "it is no matter of the crew"
    ben.run(["systemctl", "stop", "musterd"])
    told = ben.try_run(["muster", "store", "rollback", "--yes"])
    assert told.returncode == 0 and "changes of this laptop" in told.stderr, told
    day.network.cut("ben")
    ben.run(["systemctl", "start", "musterd"])
    day.ben.wait_ready()
    assert day.ben.digest(day.attic) != now and day.ben.json("status")["replicaID"] != replica
    assert list((ben.disk / "var/lib/muster").glob("muster.sqlite-after-*"))
    day.network.heal("ben")
    day.meet()
    day.agree()
    day.work()
    day.agree()


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


def test_in_the_evening_all_is_there(day, capsys):
    day.work()
    for job in day.jobs:
        day.wait_carried_out(job)
    day.agree()
    edits = requests = 0
    for job in day.jobs:
        export = assert_exports_are_equal(day.crew, job)
        edits += assert_all_is_there(day.ledger, job, export)
        digest = day.lea.digest(job)
        wait_until(lambda: day.desk.digest(job) == digest, PATIENCE_SECONDS, "the office holds the same")
        requests += assert_requests_arrived_once(day.desk, day.ledger, job)
        for member in day.crew:
            member.muster("job", "audit", job)
    assert edits == len(day.ledger.acknowledged) and requests == len(day.ledger.requests) + len(day.jobs)
    with capsys.disabled():
        print(f"\n{edits} acknowledged edits and {requests} requests are there", end="")
