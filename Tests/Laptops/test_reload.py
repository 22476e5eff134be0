"""Settings that change while a daemon runs: `systemctl reload`, as the unit has it."""

import os
import signal
import socket
import subprocess

import pytest
from lab import surroundings, wait_until
from reloading import Manager, reload
from solo import PATIENCE_SECONDS, Solo

USAGE = 64


@pytest.fixture
def manager(tmp_path):
    return Manager(tmp_path)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "muster"
    path.write_text("# settings\nMUSTER_HOST_NAME=anna\n")
    return path


@pytest.fixture
def anna(tmp_path, build_directory, file, manager):
    anna = Solo(str(tmp_path), build_directory, "anna")
    # A unit names both on the command line, and everything else in the file.
    environment = {"NOTIFY_SOCKET": manager.path, "MUSTER_HOST_NAME": "of the environment"}
    anna.start("--environment-file", str(file), environment=environment)
    yield anna
    anna.stop()


def name(daemon):
    return next(device["name"] for device in daemon.get("/v1/fleet/devices") if device["state"] == "own")


def test_other_settings_are_taken_up_in_the_same_process_and_nothing_is_lost(anna, file, manager):
    wait_until(lambda: manager.hears("READY=1"), PATIENCE_SECONDS, "it is ready")
    assert name(anna) == "anna"
    job = anna.create_job()
    item = anna.add(job, name="Sofa")
    pid, replica = anna.program.pid, anna.replica()
    for word in ("bert", "cleo"):
        file.write_text(f"MUSTER_HOST_NAME={word}\n")
        told = reload(anna.program, manager)
        assert "STOPPING=1" not in told, told
        wait_until(anna.answers, PATIENCE_SECONDS, "it answers")
        assert (name(anna), anna.program.pid, anna.replica()) == (word, pid, replica)
        assert list(anna.items(job)) == [item]
    assert anna.stop() == 0


def test_wrong_settings_end_nothing(anna, file, manager, build_directory):
    wait_until(lambda: manager.hears("READY=1"), PATIENCE_SECONDS, "it is ready")
    job = anna.create_job()
    for text, sentence in (
        ("MUSTER_HOST_NAM=bert\n", "did you mean MUSTER_HOST_NAME?"),
        ("MUSTER_HOST_NAME=bert\nnothing\n", f"Line 2 of {file} is no setting; write NAME=VALUE, or # before it."),
        ("MUSTER_SERVER=office\n", "'office' is no server"),
    ):
        file.write_text(text)
        # What the unit asks first, so that whoever types it sees why.
        done = subprocess.run(
            [os.path.join(build_directory, "musterd"), "--check-config", "--environment-file", str(file)],
            capture_output=True, text=True, env=surroundings(), timeout=PATIENCE_SECONDS)
        assert done.returncode == USAGE and sentence in done.stderr, done
        reload(anna.program, manager)
        assert sentence in anna.log()
        # It was ended by nothing: what it holds in memory alone is there still.
        assert name(anna) == "anna" and anna.get(f"/v1/jobs/{job}")["items"] == 0
    file.write_text("MUSTER_HOST_NAME=dora\n")
    reload(anna.program, manager)
    wait_until(anna.answers, PATIENCE_SECONDS, "it answers")
    assert name(anna) == "dora"


def test_settings_that_are_gone_are_no_others(anna, file, manager):
    wait_until(lambda: manager.hears("READY=1"), PATIENCE_SECONDS, "it is ready")
    file.write_text("")
    reload(anna.program, manager)
    assert anna.log().count(f"The file {file} is gone or empty; put it back") == 1 and name(anna) == "anna"
    file.unlink()
    reload(anna.program, manager)
    assert anna.log().count("is gone or empty") == 2 and name(anna) == "anna"


def test_another_store_is_not_taken_up(anna, file, manager, tmp_path):
    wait_until(lambda: manager.hears("READY=1"), PATIENCE_SECONDS, "it is ready")
    file.write_text(f"MUSTER_STATE_DIR={tmp_path}/other\n")
    reload(anna.program, manager)
    assert f"A reload keeps the state directory {anna.state}; restart the daemon to use {tmp_path}/other." in anna.log()
    assert name(anna) == "anna" and not (tmp_path / "other").exists()


def test_at_a_terminal_that_is_gone_it_ends(tmp_path, build_directory):
    anna = Solo(str(tmp_path), build_directory, "anna")
    # As at a terminal, whatever has started the tests.
    anna.start(prefix=["env", "--default-signal=HUP"])
    os.kill(anna.program.pid, signal.SIGHUP)
    wait_until(lambda: not anna.program.is_running, PATIENCE_SECONDS, "it has ended")


def test_a_second_change_soon_after_the_first_is_taken_up_too(anna, file, manager):
    wait_until(lambda: manager.hears("READY=1"), PATIENCE_SECONDS, "it is ready")
    for number in range(6):
        # While it begins anew nobody listens to the second one.
        for word in (f"first-{number}", f"second-{number}"):
            file.write_text(f"MUSTER_HOST_NAME={word}\n")
            heard = len(manager.heard)
            os.kill(anna.program.pid, signal.SIGHUP)
            wait_until(lambda: manager.hears("RELOADING=1", heard) or word.startswith("second"), PATIENCE_SECONDS, "it has heard")
        wait_until(lambda: answers_as(anna, f"second-{number}"), PATIENCE_SECONDS, "it goes by the last settings")


def answers_as(daemon, word):
    try:
        return name(daemon) == word
    except (OSError, AssertionError):
        return False


def test_a_pipe_in_the_place_of_the_settings_holds_nothing_up(anna, file, manager):
    wait_until(lambda: manager.hears("READY=1"), PATIENCE_SECONDS, "it is ready")
    file.unlink()
    os.mkfifo(file)
    reload(anna.program, manager)
    assert "is no file" in anna.log() and name(anna) == "anna"


def test_a_socket_that_cannot_be_had_is_no_setting(anna, file, manager):
    wait_until(lambda: manager.hears("READY=1"), PATIENCE_SECONDS, "it is ready")
    for path in ("/nowhere/at/all/look.sock", "/dev/null/look.sock"):
        file.write_text(f"MUSTER_READER_SOCKET={path}\n")
        reload(anna.program, manager)
        assert f"Cannot make the socket {path}" in anna.log() and name(anna) == "anna"
    # The system has that directory, and lets nobody put anything there.
    file.write_text("MUSTER_READER_SOCKET=/proc/look.sock\n")
    reload(anna.program, manager)
    assert "Cannot make the socket /proc/look.sock" in anna.log() and name(anna) == "anna"


def test_a_socket_that_somebody_answers_at_is_no_setting(anna, file, manager, tmp_path):
    wait_until(lambda: manager.hears("READY=1"), PATIENCE_SECONDS, "it is ready")
    taken = tmp_path / "taken.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(taken))
        listener.listen()
        file.write_text(f"MUSTER_READER_SOCKET={taken}\n")
        told = reload(anna.program, manager)
        assert "STOPPING=1" not in told, told
        assert f"Another daemon answers on {taken}" in anna.log() and name(anna) == "anna"
    # Nobody does any more.
    reload(anna.program, manager)
    wait_until(lambda: taken.is_socket() and anna.answers(), PATIENCE_SECONDS, "it has both sockets")


def test_one_path_for_both_sockets_is_refused_however_it_is_written(anna, file, manager, tmp_path, build_directory):
    wait_until(lambda: manager.hears("READY=1"), PATIENCE_SECONDS, "it is ready")
    directory, last = os.path.split(anna.socket)
    os.symlink(directory, tmp_path / "link")
    spellings = [anna.socket, f"{directory}/./{last}", f"{directory}//{last}", f"{tmp_path}/link/{last}"]
    for spelling in spellings:
        file.write_text(f"MUSTER_READER_SOCKET={spelling}\n")
        done = subprocess.run(
            [os.path.join(build_directory, "musterd"), "--check-config", "--environment-file", str(file), "--socket", anna.socket],
            capture_output=True, text=True, env=surroundings(), timeout=PATIENCE_SECONDS)
        assert done.returncode == USAGE and "cannot be both sockets" in done.stderr, (spelling, done)
        reload(anna.program, manager)
        assert name(anna) == "anna"
    assert anna.log().count("cannot be both sockets") == len(spellings)


def test_a_socket_that_cannot_be_had_is_no_stop(tmp_path, build_directory):
    anna = Solo(str(tmp_path), build_directory, "anna")
    anna.launch("--socket", "/proc/muster.sock")
    wait_until(lambda: not anna.program.is_running, PATIENCE_SECONDS, "it has ended")
    assert anna.program.stop(PATIENCE_SECONDS) != 0 and "/proc/muster.sock" in anna.log()
