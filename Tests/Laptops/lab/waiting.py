"""Waiting for a condition instead of sleeping and hoping."""

import time

PAUSE_SECONDS = 0.01


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
