"""What an administrator does to a laptop, and what its sandbox has to leave open for that."""

import os
import time

from crew import CREW, PATIENCE_SECONDS
from day import change_settings, package
from evening import remarks
from lab.waiting import wait_until
from repository import Repository

RESTARTS = 20


def drop_in(machine, lines):
    place = machine.disk / "etc/systemd/system/musterd.service.d"
    place.mkdir(exist_ok=True)
    (place / "field.conf").write_text("[Service]\n" + "".join(f"{line}\n" for line in lines))
    machine.run(["systemctl", "daemon-reload"])


def test_two_people_at_one_laptop_are_two(day):
    """The kernel tells the daemon who asks."""
    lea = day.lea.machine
    lea.run(["useradd", "--groups", "muster", "dave"])
    users = {}
    for person, user in (("Lea", CREW), ("Dave", "dave")):
        lea.run(["muster", "session", "start", person, "--new"], user=user)
        users[person] = int(lea.run(["id", "-u", user]))
    for person, user in (("Lea", CREW), ("Dave", "dave")):
        assert person in lea.run(["muster", "session", "show"], user=user)
    assert len(set(users.values())) == 2
    lea.run(["muster", "session", "end"], user="dave")
    lea.run(["muster", "session", "end"], user=CREW)


def test_a_socket_is_given_to_another_group(day):
    """With the drop-in that the unit tells of."""
    lea = day.lea.machine
    lea.run(["useradd", "--user-group", "office"])
    change_settings(lea, {"MUSTER_READER_SOCKET": "/run/muster/look.sock", "MUSTER_READER_GROUP": "office"})
    drop_in(lea, ["SupplementaryGroups=office", "RuntimeDirectoryMode=0755"])
    lea.run(["systemctl", "restart", "musterd"])
    day.lea.wait_ready()
    looking = ["--socket", "/run/muster/look.sock"]
    assert "attic" in lea.run(["muster", "job", "list", *looking], user="office")
    assert lea.try_run(["muster", "job", "create", "--name", "No", *looking], user="office").returncode == 77
    assert lea.try_run(["muster", "job", "list"], user="office").returncode != 0, "the other one is not theirs"


def test_settings_are_taken_up_while_it_runs(day):
    ben = day.ben.machine
    writer = day.ben.begin_writing(day.attic, day.items[day.attic])
    writer.wait_for(1)
    process = ben.main_process("musterd")
    change_settings(ben, {"MUSTER_LISTEN": "nowhere"})
    done = ben.try_run(["systemctl", "reload", "musterd"])
    assert done.returncode != 0, done
    assert "MUSTER_LISTEN: 'nowhere' is no address" in ben.run(["journalctl", "-u", "musterd", "-n", "20", "-o", "cat"])
    change_settings(ben, {"MUSTER_LISTEN": "", "MUSTER_READER_SOCKET": "/run/muster/look.sock"})
    ben.run(["systemctl", "reload", "musterd"])
    wait_until(
        lambda: ben.try_run(["muster", "job", "list", "--socket", "/run/muster/look.sock"]).returncode == 0,
        PATIENCE_SECONDS, "the second socket is there")
    assert ben.main_process("musterd") == process
    writer.stop()
    assert ben.run(["systemctl", "is-active", "musterd"]).strip() == "active"
    change_settings(ben, {"MUSTER_READER_SOCKET": ""})
    ben.run(["systemctl", "reload", "musterd"])
    day.ben.wait_ready()
    day.agree()


def test_twenty_restarts_leave_it_running(day):
    anna = day.anna.machine
    writer = day.anna.begin_writing(day.attic, day.items[day.attic])
    writer.wait_for(1)
    began = time.monotonic()
    processes = set()
    for _ in range(RESTARTS):
        # Returns when the daemon has said that it is ready.
        anna.run(["systemctl", "restart", "musterd"])
        processes.add(anna.main_process("musterd"))
    print(f"{RESTARTS} restarts in {time.monotonic() - began:.1f} s", end=" ")
    assert len(processes) == RESTARTS and 0 not in processes
    writer.stop()
    assert anna.run(["systemctl", "is-active", "musterd"]).strip() == "active"
    acknowledged, _ = day.ledger.of(day.attic)
    assert acknowledged <= set(remarks(day.anna.export(day.attic)))
    day.agree()


def test_upgrades_come_by_themselves(day):
    """Though somebody has changed settings, and the new version explains them otherwise."""
    lea = day.lea.machine
    before, process = lea.version("muster"), lea.main_process("musterd")
    settings = (lea.disk / "etc/default/muster").read_text()
    assert settings != (lea.disk / "usr/share/muster/default/muster").read_text()
    Repository(lea).offer(package("muster", os.environ["MUSTER_PACKAGES_NEXT"]))
    writer = day.lea.begin_writing(day.attic, day.items[day.attic])
    writer.wait_for(1)
    said = lea.run(["unattended-upgrade", "--verbose"])
    day.lea.wait_ready()
    writer.stop()
    assert lea.version("muster") != before, said
    assert lea.main_process("musterd") not in (0, process)
    assert (lea.disk / "etc/default/muster").read_text() == settings
    day.agree()


def test_a_library_that_is_renewed_under_it_wants_a_restart(day):
    lea = day.lea.machine

    def wanted():
        return "musterd.service" in lea.run(["needrestart", "-b", "-r", "l"])

    assert not wanted(), "its own upgrade has restarted it"
    process = lea.main_process("musterd")
    # As an upgrade of the library does: another file in the place of the one that is open.
    for library in lea.disk.glob("usr/lib/x86_64-linux-gnu/libsqlite3.so.0.*"):
        copy = library.with_name("renewed")
        copy.write_bytes(library.read_bytes())
        copy.chmod(0o644)
        copy.rename(library)
    assert wanted()
    lea.run(["env", "DEBIAN_FRONTEND=noninteractive", "needrestart", "-q", "-r", "a"])
    day.lea.wait_ready()
    assert lea.main_process("musterd") not in (0, process) and not wanted()
    day.work()
    day.agree()


def test_who_leaves_the_fleet_listens_no_more(day):
    anna = day.anna.machine
    port = anna.port("musterd")
    day.anna.muster("fleet", "leave", "--yes")
    wait_until(lambda: not anna.listens("musterd"), PATIENCE_SECONDS, "nobody can connect any more")
    day.let_in(day.anna)
    assert anna.port("musterd") == port
    day.meet()
    day.work()
    day.agree()


def test_a_purged_package_leaves_the_work(day):
    anna = day.anna.machine
    before = day.anna.export(day.attic)
    anna.run(["apt-get", "remove", "-y", "muster"])
    assert not (anna.disk / "usr/bin/musterd").exists()
    done = anna.try_run(["apt-get", "purge", "-y", "muster"])
    assert done.returncode == 0 and "rm -r /var/lib/muster" in done.stdout + done.stderr
    # Settings go with it.
    assert not (anna.disk / "etc/default/muster").exists()
    anna.install(package("muster", os.environ["MUSTER_PACKAGES_NEXT"]))
    day.configure(day.anna)
    assert day.anna.export(day.attic) == before
    day.meet()
    day.work()
    day.agree()
