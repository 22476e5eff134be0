"""Runs in a network namespace of its own: an office whose wall clock is set back by a day. Prints one JSON document.

The server is started without flags, as `WallClock.environment` wants it, so it listens at its usual port.
"""

import json
import subprocess
import sys
import time

from clocks import WallClock
from lab import Program, wait_at_rest, wait_until
from office import Office
from solo import PATIENCE_SECONDS

USUAL_PORT = 7480


def main(build_directory):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with Office(build_directory) as office:
        office.port = USUAL_PORT
        clock = WallClock(office.directory, "office", "+1d")
        settings = {"STATE_DIRECTORY": office.directory, **clock.environment}
        office.program = Program("office", [f"{build_directory}/muster-channel"], office.directory, settings)
        wait_until(office.answers, PATIENCE_SECONDS, "the server answers")
        ahead = office.get("/v1/time")["answered"] / 1_000_000 - time.time()
        cursor = office.get("/v1/jobs")["cursor"]
        begin = time.monotonic()
        poll = office.connect()
        poll.send_request("GET", f"/v1/jobs?since={cursor}&wait=3")
        wait_at_rest(office.program, 2, "the poll waits")
        clock.set("+0")
        office.muster_channel("token", "revoke", "laptops")
        status = poll.answer()[0]
        waited = time.monotonic() - begin
        # The server believes a token for two seconds.
        refuses = lambda: office.ask("GET", "/v1/jobs")[0] == 401
        wait_until(refuses, max(0, 4 - waited), "a token that was revoked does not hold any more")
    print(json.dumps({"aheadSeconds": ahead, "pollStatus": status, "waitedSeconds": waited}))


if __name__ == "__main__":
    main(sys.argv[1])
