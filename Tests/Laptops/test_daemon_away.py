"""A daemon that is stopped, killed or started anew under a command: nothing waits for ever, and whoever watches is told."""

import os
import select
import signal
import subprocess

import pytest

from screen import Screen
from solo import PATIENCE_SECONDS, wait_until

UNAVAILABLE, TRY_AGAIN = 69, 75


@pytest.fixture
def anna(solos):
    anna = solos("anna").start()
    anna.job = anna.create_job("Smith")
    return anna


def test_a_daemon_that_stands_still_is_told_and_nobody_waits_for_ever(anna):
    os.kill(anna.program.pid, signal.SIGSTOP)
    try:
        asked = [
            subprocess.Popen(anna.command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for words in (["status"], ["item", "add", "Smith", "name=Sofa"], ["job", "watch", "Smith"])
        ]
        for one in asked:
            output, error = one.communicate(timeout=2 * PATIENCE_SECONDS)
            assert one.returncode == TRY_AGAIN and output == "", (one.args, one.returncode, output, error)
            assert error.count("\n") == 1 and "has said nothing for 30 s" in error and "restart it" in error, error
    finally:
        os.kill(anna.program.pid, signal.SIGCONT)
    wait_until(lambda: anna.muster("status").returncode == 0, PATIENCE_SECONDS, "it goes on")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_who_reads_a_stream_hears_that_it_ends(anna, options):
    watching = subprocess.Popen(
        anna.command("job", "watch", "Smith", *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def is_told():
        # Another change each time, until one has been seen: the stream has begun then.
        anna.add(anna.job, name="Sofa")
        return select.select([watching.stdout], [], [], 0.5)[0] != []

    wait_until(is_told, PATIENCE_SECONDS, "it tells of a change")
    anna.stop()
    _, error = watching.communicate(timeout=PATIENCE_SECONDS)
    assert watching.returncode == UNAVAILABLE and error.count("\n") == 1 and "The daemon has stopped" in error, error


def test_a_view_waits_for_the_daemon_and_goes_on(anna, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    with Screen(anna, "job", "watch", "Smith") as screen:
        screen.read_until("Ctrl-C ends")
        anna.stop()
        screen.read_until("No daemon answers since")
        anna.start()
        anna.add(anna.job, name="Grand piano")
        screen.read_until("1 item ")
        screen.type("\x03")
        assert screen.wait() == 0


def test_a_terminal_that_cannot_be_drawn_on_gets_lines(anna, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    with Screen(anna, "job", "watch", "Smith") as screen:
        screen.read_until("Watching Smith")
        anna.add(anna.job, name="Grand piano")
        assert "\x1b" not in screen.read_until("Grand piano")
        screen.type("\x03")
        assert screen.wait() == 0

