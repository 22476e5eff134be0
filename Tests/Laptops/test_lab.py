"""The lab itself: it cuts what it says it cuts, leaves nothing behind, and waits for events, not for time."""

import ast
import glob
import io
import os
import re
import signal
import subprocess
import sys
import time
import tokenize

import pytest
from lab import Lab, Stopwatch, never_during, wait_at_rest, wait_until
from lab.waiting import queued_seconds


def reaches(laptop, address):
    """Whether the host at this address refuses a connection, which proves that packets go there and back."""
    script = (
        "import socket,sys; s=socket.socket(socket.AF_INET,socket.SOCK_STREAM); s.settimeout(1)\n"
        f"sys.exit(s.connect_ex(('{address}',9)) != 111)"
    )
    return subprocess.run(laptop.inside(["/usr/bin/python3", "-c", script])).returncode == 0


def round_trip(laptop, address):
    start = time.monotonic()
    assert reaches(laptop, address)
    return time.monotonic() - start


def test_cables_are_cut_and_healed(lab):
    anna, ben = lab.laptop("anna", avahi=False), lab.laptop("ben", avahi=False)
    wait_until(lambda: reaches(anna, ben.address), 5, "anna reaches ben")
    ben.cut()
    assert not reaches(anna, ben.address)
    ben.heal()
    wait_until(lambda: reaches(anna, ben.address), 5, "anna reaches ben again")
    ben.change_address("10.77.0.99")
    assert reaches(anna, "10.77.0.99")
    assert not reaches(anna, "10.77.0.2")


def test_delay_comes_and_goes(lab):
    anna, ben = lab.laptop("anna", avahi=False), lab.laptop("ben", avahi=False)
    if not lab.can_impair():
        # Nothing to measure, but whoever asks for it on this kernel must be told.
        with pytest.raises(RuntimeError, match="netem"):
            anna.impair(delay_milliseconds=200)
        return
    wait_until(lambda: reaches(anna, ben.address), 5, "anna reaches ben")
    anna.impair(delay_milliseconds=200)
    assert round_trip(anna, ben.address) > 0.4
    anna.repair()
    assert round_trip(anna, ben.address) < 0.4


def test_laptops_have_a_host_name_a_run_and_a_network_of_their_own(lab):
    anna = lab.laptop("anna", host_name="crew")
    assert anna.run(["hostname"]).strip() == "crew"
    assert anna.run(["cat", "/run/avahi-daemon/pid"]).strip() == str(anna.avahi.pid)
    assert os.readlink(f"/proc/{anna.avahi.pid}/ns/net") != os.readlink("/proc/self/ns/net")
    with open("/proc/net/dev", encoding="utf-8") as file:
        assert anna.port not in file.read(), "the machine's own network sees nothing of it"


def test_two_labs_run_at_once(lab):
    with Lab() as other:
        first, second = lab.laptop("anna"), other.laptop("anna")
        assert first.address == second.address
        assert first.avahi.is_running and second.avahi.is_running


def lives(pid):
    """A zombie does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


STORY = """
import signal, sys, time
# Whoever is started in the background ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {here!r})
from lab import Lab
with Lab() as lab:
    laptop = lab.laptop("anna")
    program = laptop.start(["sleep", "1000"])
    print(lab.directory, *[p.pid for p in lab._programs], flush=True)
    # Sleeps: until it is ended.
    time.sleep(1000)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_lab_that_is_ended_leaves_no_process_behind(number):
    story = STORY.format(here=os.path.dirname(os.path.abspath(__file__)))
    lab = subprocess.Popen([sys.executable, "-c", story], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    directory, *pids = lab.stdout.readline().split()
    assert len(pids) == 5 and all(os.path.exists(f"/proc/{pid}") for pid in pids)
    lab.send_signal(number)
    lab.wait(10)
    lab.stdout.close()
    wait_until(lambda: not any(lives(pid) for pid in pids), 5, "every process has ended")
    if number != signal.SIGKILL:
        assert not os.path.exists(directory)
    else:
        subprocess.run(["rm", "-rf", directory], check=True)


def test_waiting_names_what_did_not_come():
    with pytest.raises(AssertionError, match="not within 0.05 s: the moon"):
        wait_until(lambda: False, 0.05, "the moon")
    with pytest.raises(AssertionError, match="must not: noise"):
        never_during(lambda: True, 0.05, "noise")


BUSY = """
import sys, time
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    {what}
sys.stdin.read()
"""


@pytest.mark.parametrize("what", ["pass", "time.sleep(0.02)"])
def test_a_program_at_rest_has_nothing_to_do(lab, what):
    anna = lab.laptop("anna", avahi=False)

    def busy(seconds):
        command = [sys.executable, "-c", BUSY.format(what=what), str(seconds)]
        return anna.start(command, name="busy", stdin=subprocess.PIPE)

    endless = busy(1000)
    with pytest.raises(AssertionError, match="not within 1 s: the end of its work"):
        wait_at_rest(endless, 1, "the end of its work")
    endless.kill()
    began = time.monotonic()
    wait_at_rest(busy(0.5), 10, "the end of its work")
    assert time.monotonic() - began > 0.5


@pytest.mark.parametrize(
    "passed, queued, counted",
    [(10, 0, 10), (10, 4, 6), (10, 5, 5), (10, 9, 5)],
    ids=["idle", "busy", "busy half of the time", "never idle"],
)
def test_a_stopwatch_leaves_out_the_time_in_which_programs_wait_for_a_processor(passed, queued, counted):
    times, waits = iter([100, 100 + passed]), iter([7, 7 + queued])
    assert Stopwatch(lambda: next(times), lambda: next(waits)).seconds() == counted


def test_who_waits_does_so_by_a_stopwatch(monkeypatch):
    monkeypatch.setattr("lab.waiting.queued_seconds", time.monotonic)
    began = time.monotonic()
    with pytest.raises(AssertionError, match="not within 0.2 s: never"):
        wait_until(lambda: False, 0.2, "never")
    assert time.monotonic() - began > 0.4, "the processors were busy all the while"


def test_the_kernel_tells_how_long_programs_wait_for_a_processor():
    if not os.path.exists("/proc/pressure/cpu"):
        assert queued_seconds() == 0
        return
    before, began = queued_seconds(), time.monotonic()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() + 1)]
    try:
        wait_until(lambda: queued_seconds() - before > 0.5, 20, "they wait for each other")
        assert queued_seconds() - before <= time.monotonic() - began + 0.1, "and no longer than there was time"
    finally:
        for program in busy:
            program.kill()
            program.wait()


LONGEST_PAUSE_SECONDS = 0.2


def unexplained_sleeps(source):
    """The lines with a sleep that may be longer than a pause, and no comment that gives a reason for it."""
    tree = ast.parse(source)
    numbers = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    explained = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and re.match(r"# Sleeps: \S", token.string)
    }

    def is_pause(argument):
        seconds = numbers.get(argument.id) if isinstance(argument, ast.Name) else getattr(argument, "value", None)
        return isinstance(seconds, (int, float)) and seconds < LONGEST_PAUSE_SECONDS

    return [
        call.lineno
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and "sleep" in (getattr(call.func, "attr", None), getattr(call.func, "id", None))
        and not (len(call.args) == 1 and is_pause(call.args[0]))
        and explained.isdisjoint((call.lineno - 1, call.lineno))
    ]


def test_nobody_sleeps_and_hopes():
    here = os.path.dirname(os.path.abspath(__file__))
    found = []
    for path in sorted(glob.glob(f"{here}/**/*.py", recursive=True)):
        with open(path, encoding="utf-8") as file:
            found += [f"{os.path.relpath(path, here)}:{line}" for line in unexplained_sleeps(file.read())]
    assert found == [], "wait_until, wait_at_rest or never_during; else a comment: '# Sleeps: ' and why"


@pytest.mark.parametrize(
    "source, lines",
    [
        ("time.sleep(0.1)", []),
        ("time.sleep(0.2)", [1]),
        ("time.sleep(1)", [1]),
        ("from time import sleep\nsleep(1)", [2]),
        ("PAUSE = 0.01\ntime.sleep(PAUSE)", []),
        ("PAUSE = 5\ntime.sleep(PAUSE)", [2]),
        ("time.sleep(chance.uniform(0, 9))", [1]),
        ("time.sleep(seconds)", [1]),
        ("time.sleep(*pause)", [1]),
        ("def f():\n    while True:\n        time.sleep(3)", [3]),
        ("time.sleep(1)  # Sleeps: it hangs.", []),
        ("# Sleeps: it hangs.\ntime.sleep(1)", []),
        ("# Sleeps: it hangs.\n\ntime.sleep(1)", [3]),
        ("# Sleeps: \ntime.sleep(1)", [2]),
        ("# It hangs.\ntime.sleep(1)", [2]),
        ('text = """\n# Sleeps: it hangs."""\ntime.sleep(1)', [3]),
    ],
)
def test_a_sleep_without_a_reason_is_found(source, lines):
    assert unexplained_sleeps(source) == lines
