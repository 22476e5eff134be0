"""Runs in a network namespace of its own: two laptops that for months meet nobody but the server. Prints one JSON document.

The server is started without flags, as `WallClock.environment` wants it, so it listens at its usual port. What it says is
the time is the laptops' time, too.
"""

import base64
import json
import os
import subprocess
import sys
import time
from datetime import datetime

from gateways import server_flags
from lab import wait_until
from office import Connection, Office, renew
from office_clock import USUAL_PORT, serve_by_clock
from revoking import issuer_of
from solo import PATIENCE_SECONDS, Solos, wait_agreed
from stranger import Member, blocks

DAY = 86_400
LIFETIME = 45
# The clock is learned, and the certificate is looked at, within some seconds of a start.
RENEW_SECONDS = 40


def main(build_directory):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with Office(build_directory) as office, Solos(build_directory) as solos:
        clock = serve_by_clock(office, build_directory, "+30d")
        laptops = anna, bert = [solos(name) for name in ("anna", "bert")]
        shown = [live(laptops, office, [[], []], 30)]
        for laptop in laptops:
            assert laptop.stop() == 0
        clock.set("+130d")
        believed = lambda: abs(office.get("/v1/time")["answered"] / 1_000_000 - time.time() - 130 * DAY) < 60
        wait_until(believed, PATIENCE_SECONDS, "the server's clock says so")
        lost = Member(office.fleet)
        before = Connection(USUAL_PORT, office.member).ask("GET", "/v1/jobs")
        office.member = renew(USUAL_PORT, office.member)
        after = office.ask("GET", "/v1/jobs")[0]
        shown.append(live(laptops, office, [[], ["--peer", anna.address]], 130))
        wait_until(lambda: anna.connected() == ["bert"], PATIENCE_SECONDS, f"they meet: {anna.log()}")
        job = anna.create_job("Smith")
        anna.add(job, name="Sofa")
        wait_agreed(laptops, job)
        held = lambda: office.ask("GET", f"/v1/jobs/{job}")[1].get("digest") == anna.digest(job)
        wait_until(held, PATIENCE_SECONDS, f"the server takes it: {anna.log()}")
        told = {"revocations": [base64.b64encode(issuer_of(office.fleet).revocation(lost.device.hex())).decode()]}
        assert office.ask("POST", "/v1/revocations", told)[0] == 200
        refused = Connection(USUAL_PORT, lost).ask("POST", "/v1/certificates")
    print(json.dumps({"shown": shown, "before": before, "after": after, "revoked": refused}))


def live(laptops, office, flags, days):
    """Starts them, so many days from now, until the server has renewed them; returns the certificates in their files."""
    for laptop, more in zip(laptops, flags, strict=True):
        laptop.start(*server_flags(office.url), *more)
    for laptop in laptops:
        renewed = lambda: abs(valid_until(laptop) - time.time() - (days + LIFETIME) * DAY) < DAY
        wait_until(renewed, RENEW_SECONDS, f"{laptop.name} is renewed: {laptop.log()}")
        assert "this laptop's certificate was renewed" in laptop.log()
    return [len(certificates(laptop)) for laptop in laptops]


def certificates(laptop):
    with open(os.path.join(laptop.state, "fleet.pem"), encoding="utf-8") as file:
        return blocks(file.read())


def valid_until(laptop):
    return datetime.fromisoformat(laptop.get("/v1/fleet")["validUntil"]).timestamp()


if __name__ == "__main__":
    main(sys.argv[1])
