"""A daemon that is stopped, killed or started anew under a command: nothing waits for ever, and whoever watches is told."""

import json
import os
import signal
import subprocess
import threading
import time

import pytest

from screen import Screen
from solo import PATIENCE_SECONDS, wait_until

BAD_DATA, UNAVAILABLE, TRY_AGAIN = 65, 69, 75


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
            for words in (["status"], ["job", "watch", "Smith"], ["item", "add", "Smith", "name=Sofa"])
        ]
        ended = [(one.communicate(timeout=2 * PATIENCE_SECONDS), one.returncode) for one in asked]
    finally:
        os.kill(anna.program.pid, signal.SIGCONT)
    for (output, error), _ in ended:
        assert output == "" and error.count("\n") == 1 and "has not answered for 30 s" in error, error
    assert [code for _, code in ended] == [TRY_AGAIN, TRY_AGAIN, UNAVAILABLE]
    assert "try again" in ended[0][0][1]
    # The request may lie in the socket still: a script that repeats it would add two.
    assert "whether this was done is not known" in ended[2][0][1] and "try again" not in ended[2][0][1]
    wait_until(lambda: anna.muster("status").returncode == 0, PATIENCE_SECONDS, "it goes on")
    assert len(anna.get(f"/v1/jobs/{anna.job}/items")) <= 1


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_who_reads_a_stream_hears_that_it_ends(anna, options):
    watching = subprocess.Popen(
        anna.command("job", "watch", "Smith", *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = Lines(watching.stdout)

    def is_told():
        # Another change each time, until one has been seen: the stream has begun then.
        anna.add(anna.job, name="Sofa")
        return any("Sofa" in line for line in lines.so_far)

    wait_until(is_told, PATIENCE_SECONDS, "it tells of a change")
    anna.stop()
    assert watching.wait(PATIENCE_SECONDS) == UNAVAILABLE
    error = watching.stderr.read()
    assert error.count("\n") == 1 and "The daemon has stopped" in error, error


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_who_watches_a_job_that_is_removed_hears_that_it_ends(anna, options):
    watching = subprocess.Popen(
        anna.command("job", "watch", "Smith", *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = Lines(watching.stdout)

    def is_told():
        anna.add(anna.job, name="Sofa")
        return any("Sofa" in line for line in lines.so_far)

    wait_until(is_told, PATIENCE_SECONDS, "it tells of a change")
    assert anna.muster("job", "remove", "Smith", "--yes").returncode == 0
    assert watching.wait(PATIENCE_SECONDS) == BAD_DATA
    error = watching.stderr.read()
    assert error.startswith("muster: The job 'Smith' has been removed") and "'muster job late Smith'" in error, error
    if options:
        wait_until(lambda: json.loads(lines.so_far[-1]).get("isRemoved"), PATIENCE_SECONDS, "the last event says so")
    again = anna.muster("job", "watch", "Smith", *options)
    assert (again.returncode, again.stdout) == (BAD_DATA, "")


def test_a_view_of_a_job_that_is_removed_ends(anna, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    with Screen(anna, "job", "watch", "Smith") as screen:
        screen.read_until("Ctrl-C ends")
        assert anna.muster("job", "remove", "Smith", "--yes").returncode == 0
        screen.read_until("has been removed")
        assert screen.wait() == BAD_DATA


class Lines:
    """What a program prints, as it comes."""

    def __init__(self, stream):
        self.so_far = []
        threading.Thread(target=lambda: self.so_far.extend(stream), daemon=True).start()


def test_a_reader_may_take_as_long_as_it_likes(anna):
    """A person looks at a page of the export for longer than the daemon may be silent."""
    rows = [{"fields": {"name": f"box {number} " + "x" * 900}} for number in range(1_000)]
    for _ in range(5):
        anna.make(f"/v1/jobs/{anna.job}/import", {"items": rows})
    whole = anna.muster("job", "export", "Smith").stdout.encode()
    reading = subprocess.Popen(
        anna.command("job", "export", "Smith"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    first = reading.stdout.read(1_000)
    # Sleeps: that nothing happens while nobody reads is the point; longer than the daemon's 30 s.
    time.sleep(34)
    assert reading.poll() is None, "it waits for its reader"
    rest, error = reading.communicate(timeout=PATIENCE_SECONDS)
    is_whole = first + rest == whole
    assert reading.returncode == 0 and is_whole and len(whole) > 4_000_000, (len(first + rest), len(whole), error)


def test_a_daemon_that_is_killed_under_edits_carries_out_each_once(anna):
    """The command asks again under the same key when the daemon is back, and prints one id."""
    added, repeated, refused = [], [], []

    def add():
        while (len(added) < 40 or not repeated) and not refused:
            began = time.monotonic()
            done = anna.muster("item", "add", "Smith", f"name=box {len(added)}")
            if done.returncode == 0:
                added.append(done.stdout.strip())
                # Whoever asks again waits half a second before.
                if time.monotonic() - began > 0.5:
                    repeated.append(added[-1])
            # Between two daemons there is none: nothing was sent, and that is said.
            elif done.returncode != UNAVAILABLE or "No daemon answers" not in done.stderr:
                refused.append(done)

    adding = threading.Thread(target=add)
    adding.start()
    while adding.is_alive():
        # Sleeps: the daemon is killed wherever it is then.
        time.sleep(0.3)
        anna.kill()
        anna.start()
    adding.join()
    assert not refused
    items = anna.get(f"/v1/jobs/{anna.job}/items")
    assert sorted(item["id"] for item in items) == sorted(added)
    assert sorted(item["fields"]["name"] for item in items) == sorted(f"box {number}" for number in range(len(added)))


def test_a_view_waits_for_the_daemon_and_goes_on(anna, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    with Screen(anna, "job", "watch", "Smith") as screen:
        screen.read_until("Ctrl-C ends")
        anna.stop()
        screen.read_until("No daemon answers since")
        anna.start()
        anna.add(anna.job, name="Grand piano")
        screen.read_until("1 item ")
        screen.read_until("The daemon was away meanwhile")
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

