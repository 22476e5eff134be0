"""Runs in a network namespace of its own: an office whose wall clock is set back by a day. Prints one JSON document.

The server is started without flags, as `WallClock.environment` wants it, so it listens at its usual port.
"""

import base64
import json
import subprocess
import sys
import time

from lab import wait_at_rest, wait_until
from office import Connection, Office
from office_clock import USUAL_PORT, serve_by_clock
from revoking import issuer_of
from solo import PATIENCE_SECONDS
from stranger import Member


def main(build_directory):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with Office(build_directory) as office:
        clock = serve_by_clock(office, build_directory, "+1d")
        ahead = office.get("/v1/time")["answered"] / 1_000_000 - time.time()
        cursor = office.get("/v1/jobs")["cursor"]
        # By the server's own time: a laptop's certificate holds 45 days, and 45 more are grace.
        judged = {}
        for days in (60, 100, -1):
            clock.set(f"{days:+}d")
            believed = lambda: abs(office.get("/v1/time")["answered"] / 1_000_000 - time.time() - days * 86_400) < 60
            wait_until(believed, PATIENCE_SECONDS, "the server's clock says so")
            judged[days] = Connection(USUAL_PORT, Member(office.fleet)).ask("GET", "/v1/jobs")
        clock.set("+1d")
        begin = time.monotonic()
        # Somebody else's, who is not revoked meanwhile.
        poll = Connection(USUAL_PORT, Member(office.fleet))
        poll.send_request("GET", f"/v1/jobs?since={cursor}&wait=3")
        wait_at_rest(office.program, 2, "the poll waits")
        clock.set("+0")
        revocation = issuer_of(office.fleet).revocation(office.member.device.hex())
        told = {"revocations": [base64.b64encode(revocation).decode()]}
        assert office.ask("POST", "/v1/revocations", told)[0] == 200
        status = poll.answer()[0]
        waited = time.monotonic() - begin
        # The server believes a laptop for two seconds.
        refuses = lambda: office.ask("GET", "/v1/jobs")[0] == 401
        wait_until(refuses, max(0, 4 - waited), "a laptop that was revoked is not let in any more")
    print(json.dumps({"judged": judged, "aheadSeconds": ahead, "pollStatus": status, "waitedSeconds": waited}))


if __name__ == "__main__":
    main(sys.argv[1])
