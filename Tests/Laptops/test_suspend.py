"""A laptop that sleeps, and one that vanishes without a word."""

import os
import re
import signal
import subprocess
import time

import pytest
from lab import Stopwatch, never_during, wait_until
from steps import PATIENCE_SECONDS, Crew, wait_agreed, wait_item, wait_together

SLEPT_SECONDS = 600
# The limits, and what a busy machine may add.
GONE_SECONDS, CONVERGED_SECONDS, SLACK_SECONDS = 5, 3, 3


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """What a daemon loads first, so that it can be put to sleep."""
    library = str(tmp_path_factory.mktemp("suspend") / "suspend.so")
    source = os.path.join(os.path.dirname(__file__), "suspend.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source], check=True)
    return library


class Sleeper:
    """A daemon's machine as it sees it: it stands still, and the clock goes on without it."""

    def __init__(self, library, path):
        self._path = path
        self._seconds = 0
        self.environment = {"LD_PRELOAD": library, "SLEPT_SECONDS_FILE": path}

    def suspend(self, program):
        self.program = program
        program.signal(signal.SIGSTOP)

    def wake(self, seconds):
        self._seconds += seconds
        with open(self._path, "w", encoding="utf-8") as file:
            file.write(str(self._seconds))
        self.program.signal(signal.SIGCONT)


@pytest.fixture
def crew(lab, build_directory):
    return Crew(lab, build_directory)


def told_of_each_other(crew):
    """Two laptops without discovery, which asks for a sign of life whenever it hears of a peer again."""
    anna, bert = crew.member("anna", avahi=False), crew.member("bert", avahi=False)
    anna.start("--no-discovery")
    bert.start("--no-discovery", "--peer", anna.address)
    wait_together([anna, bert])
    return anna, bert


def test_after_a_sleep_a_crew_has_converged_in_a_moment(crew, library, measured):
    anna, bert = crew.member("anna"), crew.member("bert")
    sleeper = Sleeper(library, os.path.join(bert.laptop.directory, "slept"))
    bert.environment = sleeper.environment
    anna.start()
    bert.start()
    wait_together([anna, bert])
    anna.muster("job", "create", "--name", "Home")
    wait_agreed([anna, bert], "Home", PATIENCE_SECONDS)
    sleeper.suspend(bert.daemon)
    bert.laptop.cut()
    anna.muster("item", "add", "Home", "name=written while bert slept")
    # That it waits for bert makes anna look; else she takes 20 s.
    wait_until(lambda: anna.connected() == [], GONE_SECONDS + SLACK_SECONDS, "anna has given bert up")
    bert.laptop.heal()
    start = Stopwatch()
    sleeper.wake(SLEPT_SECONDS)
    wait_item(bert, "Home", "written while bert slept")
    measured("after a sleep: what was written meanwhile is there", start.seconds(), CONVERGED_SECONDS + SLACK_SECONDS)
    wait_together([anna, bert])
    log = bert.log_so_far()
    (milliseconds,) = re.findall(r"milliseconds=(\d+) \[Node\] the laptop has slept", log)
    assert abs(int(milliseconds) - SLEPT_SECONDS * 1000) < 500, log
    assert "the laptop has slept" not in anna.log_so_far()


def test_a_daemon_that_only_stood_still_has_not_slept(solos, library):
    """The clocks decide, and nothing else: whoever stops a process makes no laptop sleep."""
    anna = solos("anna")
    sleeper = Sleeper(library, os.path.join(solos.directory, "slept"))
    anna.start(environment=sleeper.environment)
    sleeper.suspend(anna.program)
    sleeper.wake(0)
    wait_until(anna.answers, PATIENCE_SECONDS, "anna goes on")
    never_during(lambda: "the laptop has slept" in anna.log(), 1, "a sleep that was none")
    sleeper.suspend(anna.program)
    sleeper.wake(60)
    wait_until(lambda: "the laptop has slept" in anna.log(), PATIENCE_SECONDS, "this one was")


def test_after_a_sleep_the_server_is_asked_at_once(solos, office, front, library, measured):
    anna = solos("anna")
    sleeper = Sleeper(library, os.path.join(solos.directory, "slept"))
    anna.start("--server", front.url, "--server-interval", "3600", environment=sleeper.environment)
    wait_until(lambda: "the server answers" in anna.log(), PATIENCE_SECONDS, "the server was asked")
    before = len(front.requests("/v1/jobs"))
    sleeper.suspend(anna.program)
    start = Stopwatch()
    sleeper.wake(60)
    wait_until(lambda: len(front.requests("/v1/jobs")) > before, PATIENCE_SECONDS, "the server is asked again")
    measured("after a sleep: the server is asked", start.seconds(), 1 + SLACK_SECONDS)


def test_a_peer_that_vanished_is_gone_soon_while_something_waits_for_it(crew, measured):
    anna, bert = told_of_each_other(crew)
    anna.muster("job", "create", "--name", "Home")
    wait_agreed([anna, bert], "Home", PATIENCE_SECONDS)
    # Nothing waits: nobody looks sooner than the kernel does.
    bert.laptop.cut()
    start = time.monotonic()
    never_during(lambda: anna.connected() == [], GONE_SECONDS, "an idle peer is given up")
    anna.muster("item", "add", "Home", "name=lamp")
    began = time.monotonic()
    wait_until(lambda: anna.connected() == [], PATIENCE_SECONDS, "bert is gone")
    measured("a peer that vanished while something waits for it is gone", time.monotonic() - began, GONE_SECONDS + SLACK_SECONDS)
    assert "Nothing was heard for too long." in anna.log_so_far()
    assert time.monotonic() - start < 25, "this was no earlier than without anything that waits"


def test_a_peer_whose_machine_answers_is_kept(crew):
    """Its daemon stands still, and the kernel acknowledges: that is a slow peer, and no dead one."""
    anna, bert = told_of_each_other(crew)
    anna.muster("job", "create", "--name", "Home")
    wait_agreed([anna, bert], "Home", PATIENCE_SECONDS)
    bert.daemon.signal(signal.SIGSTOP)
    anna.muster("item", "add", "Home", "name=lamp")
    never_during(lambda: anna.connected() == [], 2 * GONE_SECONDS, "a slow peer is given up")
    bert.daemon.signal(signal.SIGCONT)
    wait_item(bert, "Home", "lamp")
    assert "connection closed" not in anna.log_so_far()
