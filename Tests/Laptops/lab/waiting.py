"""Waiting for a condition instead of sleeping and hoping."""

import time

PAUSE_SECONDS = 0.01
# Far longer than the kernel takes to hand over what was sent to a program.
REST_SECONDS = 0.1


def wait_until(condition, deadline_seconds, what):
    """Calls `condition` until it returns something true, and returns that.

    Raises AssertionError naming `what` when it has not come within the deadline.
    """
    end = time.monotonic() + deadline_seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
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
