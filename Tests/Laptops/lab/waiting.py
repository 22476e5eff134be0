"""Waiting for a condition instead of sleeping and hoping."""

import time

PAUSE_SECONDS = 0.01
# Far longer than the kernel takes to hand over what was sent to a program.
REST_SECONDS = 0.1
# So much of the time that passes a stopwatch counts at least: what runs meanwhile doubles a limit at most.
LEAST_SHARE = 0.5


def queued_seconds():
    """How long, since the machine started, a program that was ready had to wait for a processor; 0 if the kernel does not say.

    Pressure stall information, "some" (Documentation/accounting/psi.rst in Linux).
    """
    try:
        with open("/proc/pressure/cpu", encoding="ascii") as file:
            return int(file.readline().rsplit("total=", 1)[1]) / 1_000_000
    except OSError:
        return 0.0


class Stopwatch:
    """Counts the seconds in which whoever was ready had a processor.

    The others mostly tell how much runs beside a test: a limit on those would fail where the same programs are as quick as ever. On a
    machine that does nothing else it is a clock like any other. Where the programs under test are what keeps the processors busy, and
    that is what is measured, take a clock.
    """

    def __init__(self, now=time.monotonic, queued=None):
        self.now, self.queued = now, queued or queued_seconds
        self.began, self.queued_before = self.now(), self.queued()

    def seconds(self):
        passed = self.now() - self.began
        return max(passed - (self.queued() - self.queued_before), passed * LEAST_SHARE)


def wait_until(condition, deadline_seconds, what):
    """Calls `condition` until it returns something true, and returns that.

    Raises AssertionError naming `what` when it has not come within the deadline, by a stopwatch.
    """
    watch = Stopwatch()
    while True:
        result = condition()
        if result:
            return result
        if watch.seconds() > deadline_seconds:
            raise AssertionError(f"not within {deadline_seconds} s: {what}")
        time.sleep(PAUSE_SECONDS)


def never_during(condition, seconds, what):
    """Asserts that `condition` stays false for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        result = condition()
        assert not result, f"happened, but must not: {what}: {result}"
        time.sleep(PAUSE_SECONDS)


def wait_at_rest(program, deadline_seconds, what):
    """Waits until a program has done all that it was given: for REST_SECONDS none of its threads was awake.

    Also true of one that waits for an answer or for a timer.
    """
    began = before = None

    def rests():
        nonlocal began, before
        now, asleep = time.monotonic(), program.asleep()
        if asleep is None or asleep != before:
            began, before = now, asleep
        return asleep is not None and now - began >= REST_SECONDS

    wait_until(rests, deadline_seconds, what)
