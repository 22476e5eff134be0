"""Settings of the server that change while it runs: `systemctl reload muster-channel`, as the unit has it."""

import os
import signal
import socket
import subprocess

import pytest
from gateways import server_flags, wait_at_office
from lab import Program, free_port, surroundings, wait_until
from reloading import Manager, reload
from solo import PATIENCE_SECONDS

USAGE = 64


@pytest.fixture
def manager(tmp_path):
    return Manager(tmp_path)


@pytest.fixture
def file(tmp_path, office):
    path = tmp_path / "muster-channel"
    path.write_text(f"# settings\nMUSTER_CHANNEL_LISTEN=127.0.0.1:{office.port}\n")
    return path


@pytest.fixture
def served(office, file, manager, build_directory):
    """The office's server as its unit starts it: with a file of settings, watched by systemd."""
    office.program.stop(PATIENCE_SECONDS)
    office.program = Program(
        "served",
        [os.path.join(build_directory, "muster-channel"), "serve", "--environment-file", str(file), "--database", office.store],
        office.directory,
        # As a unit has it: the file wins over it.
        {"STATE_DIRECTORY": office.directory, "NOTIFY_SOCKET": manager.path, "MUSTER_CHANNEL_LISTEN": "127.0.0.1:9"})
    wait_until(lambda: manager.hears("READY=1"), PATIENCE_SECONDS, "it is ready")
    wait_until(office.answers, PATIENCE_SECONDS, "the server answers")
    return office


def test_another_address_is_taken_up_in_the_same_process_and_nothing_is_lost(served, solos, file, manager):
    anna = solos("anna").start(*server_flags(served.url))
    job = anna.create_job()
    anna.add(job, name="Sofa")
    wait_at_office(served, anna, job, 1)
    pid, former = served.program.pid, served.port
    for _ in range(2):
        served.port = free_port()
        file.write_text(f"MUSTER_CHANNEL_LISTEN=127.0.0.1:{served.port}\n")
        told = reload(served.program, manager)
        assert "STOPPING=1" not in told, told
        wait_until(served.answers, PATIENCE_SECONDS, "it answers at the other address")
        assert served.program.pid == pid
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", former), 1)
        former = served.port
    # The laptop's settings name the first one.
    anna.stop()
    anna.start(*server_flags(served.url))
    anna.add(job, name="Lamp")
    wait_at_office(served, anna, job, 2)
    assert served.program.stop(PATIENCE_SECONDS) == 0


def test_a_laptop_goes_on_with_a_server_that_takes_up_settings(served, solos, file, manager):
    anna = solos("anna").start(*server_flags(served.url))
    job = anna.create_job()
    wait_at_office(served, anna, job, 0)
    for number in range(1, 4):
        level = ("debug", "info")[number % 2]
        file.write_text(f"MUSTER_CHANNEL_LISTEN=127.0.0.1:{served.port}\nMUSTER_CHANNEL_FLAGS=--log-level {level}\n")
        reload(served.program, manager)
        anna.add(job, name=f"Chair {number}")
        wait_at_office(served, anna, job, number)
    assert served.program.is_running


def test_further_flags_are_taken_up_and_taken_back(served, tmp_path, file, manager):
    listen = f"MUSTER_CHANNEL_LISTEN=127.0.0.1:{served.port}\n"
    proxy = tmp_path / "proxy.sock"
    file.write_text(f"{listen}MUSTER_CHANNEL_FLAGS=--recover --proxy-socket {proxy}\n")
    reload(served.program, manager)
    wait_until(served.answers, PATIENCE_SECONDS, "it answers")
    wait_until(proxy.exists, PATIENCE_SECONDS, "the proxy's socket is there")
    assert served.log().count("takes back what it had said") == 1
    file.write_text(listen)
    reload(served.program, manager)
    wait_until(served.answers, PATIENCE_SECONDS, "it answers")
    assert served.log().count("takes back what it had said") == 1
    assert not proxy.exists(), "nobody serves a proxy any more"


def test_wrong_settings_end_nothing(served, file, manager, build_directory):
    listen = f"MUSTER_CHANNEL_LISTEN=127.0.0.1:{served.port}\n"
    with socket.create_server(("127.0.0.1", free_port())) as other:
        taken = other.getsockname()[1]
        for text, sentence, is_seen_before in (
            ("MUSTER_CHANNEL_LISTN=127.0.0.1:1\n", "There is no setting MUSTER_CHANNEL_LISTN", True),
            (listen + "nothing\n", f"Line 2 of {file} is no setting; write NAME=VALUE, or # before it.", True),
            ("MUSTER_CHANNEL_LISTEN=nowhere\n", "'nowhere' is no address to listen on", True),
            (listen + "MUSTER_CHANNEL_FLAGS=--log-level loud\n", "'loud' is no log level", True),
            (listen + "MUSTER_CHANNEL_FLAGS=--recovr\n", "MUSTER_CHANNEL_FLAGS cannot be read: Unknown option '--recovr'", True),
            (listen + "MUSTER_CHANNEL_FLAGS=--check-config\n", "give them on the command line", True),
            (listen + "MUSTER_CHANNEL_FLAGS=--proxy-socket /nowhere/at/all.sock\n", "/nowhere/at/all.sock cannot be made", True),
            # Only who has the port itself can tell who has it otherwise.
            (f"MUSTER_CHANNEL_LISTEN=127.0.0.1:{taken}\n", f"Cannot listen on 127.0.0.1:{taken} (Address already in use)", False),
            (f"MUSTER_CHANNEL_LISTEN=192.0.2.1:{served.port}\n", "Cannot listen on 192.0.2.1", False),
        ):
            file.write_text(text)
            done = checked(build_directory, file, served.store)
            assert (done.returncode != 0) == is_seen_before and (sentence in done.stderr) == is_seen_before, done
            pid, starts = served.program.pid, served.log().count(" serving")
            reload(served.program, manager)
            assert sentence in served.log(), served.log()
            # It was ended by nothing: it has not begun to serve anew.
            assert served.answers() and served.program.pid == pid and served.log().count(" serving") == starts
    assert done.stdout.startswith("listen\t192.0.2.1:") and f"database\t{served.store}\n" in done.stdout
    # Every address, with the port that it has already, is no other program's.
    file.write_text(f"MUSTER_CHANNEL_LISTEN=*:{served.port}\n")
    reload(served.program, manager)
    wait_until(served.answers, PATIENCE_SECONDS, "it answers")
    assert served.log().count(" serving") == starts + 1


def checked(build_directory, file, store):
    """What the unit asks first, so that whoever types it sees why."""
    return subprocess.run(
        [os.path.join(build_directory, "muster-channel"), "serve", "--check-config", "--environment-file", str(file),
            "--database", store],
        capture_output=True, text=True, env=surroundings(), timeout=PATIENCE_SECONDS)


def test_a_database_that_cannot_be_served_from_ends_nothing(served, solos, file, manager, build_directory, tmp_path):
    anna = solos("anna").start()
    anna.stop()
    (tmp_path / "text").write_text("precious " * 1_000)
    pid, starts = served.program.pid, served.log().count(" serving")
    for path, sentence in (
        (tmp_path, "is a directory"),
        (tmp_path / "text", "is no database"),
        (tmp_path / "text/below/c.sqlite", "Not a directory"),
        (anna.store, "is a laptop's store"),
        # It may be one to serve from: a start will tell.
        (tmp_path / "new/c.sqlite", None),
    ):
        file.write_text(f"MUSTER_CHANNEL_LISTEN=127.0.0.1:{served.port}\nMUSTER_CHANNEL_FLAGS=--database {path}\n")
        done = checked(build_directory, file, served.store)
        if sentence:
            assert done.returncode in (64, 65) and sentence in done.stderr and "--database" in done.stderr, done
            assert done.stderr.count("\n") == 1 and "state directory" not in done.stderr, done
        else:
            assert done.returncode == 0, done
        reload(served.program, manager)
        assert f"A reload keeps the database {served.store}; restart the server to serve from {path}." in served.log()
        assert served.answers() and served.program.pid == pid and served.log().count(" serving") == starts
    assert not (tmp_path / "new").exists() and (tmp_path / "text").read_text().startswith("precious")


def test_the_port_of_ones_own_at_somebody_elses_address_is_not_ones_own(served, file, manager):
    starts = served.log().count(" serving")
    others = [("127.0.0.2", "127.0.0.2")]
    with open("/proc/net/if_inet6", encoding="ascii") as addresses:
        if any(line.split()[-1] == "lo" for line in addresses):
            # Of all addresses this one is taken.
            others.append(("::1", "*"))
    for address, host in others:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.create_server((address, served.port), family=family):
            file.write_text(f"MUSTER_CHANNEL_LISTEN={host}:{served.port}\n")
            heard = served.log().count("(Address already in use)")
            reload(served.program, manager)
            assert served.log().count("(Address already in use)") == heard + 1, host
            assert served.answers() and served.log().count(" serving") == starts
    for count, host in enumerate(("*", "127.0.0.1"), 1):
        file.write_text(f"MUSTER_CHANNEL_LISTEN={host}:{served.port}\n")
        reload(served.program, manager)
        wait_until(served.answers, PATIENCE_SECONDS, "it answers")
        assert served.log().count(" serving") == starts + count


def test_settings_that_are_gone_are_no_others(served, file, manager):
    starts = served.log().count(" serving")
    file.write_text("")
    reload(served.program, manager)
    file.unlink()
    reload(served.program, manager)
    assert served.log().count(f"The file {file} is gone or empty; put it back") == 2
    assert served.answers() and served.log().count(" serving") == starts


def test_the_same_settings_end_nothing(served, manager):
    starts = served.log().count(" serving")
    reload(served.program, manager)
    assert served.answers() and served.log().count(" serving") == starts
    assert any("the same settings" in line for line in manager.heard)


def test_whoever_waits_is_answered_first(served, solos, file, manager):
    anna = solos("anna").start(*server_flags(served.url))
    job = anna.create_job()
    wait_at_office(served, anna, job, 0)
    # Many changes one after the other, and reloads in their midst: each that was acknowledged is there.
    for number in range(30):
        anna.add(job, name=f"Box {number}")
        if number % 10 == 5:
            level = ("debug", "info")[number // 10 % 2]
            file.write_text(f"MUSTER_CHANNEL_LISTEN=127.0.0.1:{served.port}\nMUSTER_CHANNEL_FLAGS=--log-level {level}\n")
            reload(served.program, manager)
    wait_at_office(served, anna, job, 30)


def test_at_a_terminal_that_is_gone_it_ends(office, build_directory):
    office.program.stop(PATIENCE_SECONDS)
    office.program = Program(
        "alone",
        ["env", "--default-signal=HUP", os.path.join(build_directory, "muster-channel"), "--listen", f"127.0.0.1:{office.port}"],
        office.directory, {"STATE_DIRECTORY": office.directory})
    wait_until(office.answers, PATIENCE_SECONDS, "it answers")
    os.kill(office.program.pid, signal.SIGHUP)
    wait_until(lambda: not office.program.is_running, PATIENCE_SECONDS, "it has ended")
