"""What the scenes of servers with another wall clock share; each runs in a network namespace of its own."""

from clocks import WallClock
from lab import Program, shared_fleet, wait_until
from solo import PATIENCE_SECONDS

USUAL_PORT = 7480


def serve_by_clock(office, build_directory, shift):
    """Starts the office by a wall clock that is so far off, and returns that clock.

    Without flags, as `WallClock.environment` wants it, so the server listens at its usual port.
    """
    office.join(shared_fleet(build_directory))
    office.port = USUAL_PORT
    clock = WallClock(office.directory, "office", shift)
    settings = {"STATE_DIRECTORY": office.directory, **clock.environment}
    office.program = Program("office", [f"{build_directory}/muster-channel"], office.directory, settings)
    wait_until(office.answers, PATIENCE_SECONDS, "the server answers")
    return clock
