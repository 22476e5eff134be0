"""A member that the fleet lets look only from now on: what it wrote before, with nobody in reach, is taken all the same."""

import pytest

from gateways import server_flags
from lab import wait_until
from office import Office
from revoking import install
from solo import PATIENCE_SECONDS, wait_agreed


def becomes(laptop, role):
    install(laptop, laptop.fleet.sign(laptop.get("/v1/fleet")["request"], role))


@pytest.mark.parametrize("way", ["link", "server"])
def test_what_a_reader_wrote_as_a_member_is_taken(build_directory, solos, way):
    with Office(build_directory) as office:
        office.join(solos.fleet).start()
        flags = {"link": (), "server": server_flags(office.url)}[way]
        anna = solos("anna").start(*flags)
        flags = flags or ("--peer", anna.address)
        rita = solos("rita").start(*flags)
        becomes(rita, "member")
        job = anna.create_job("Elm")
        anna.add(job, name="Sofa")
        wait_agreed([anna, rita], job)
        # Nobody has heard of her journal yet.
        anna.stop()
        office.program.stop(PATIENCE_SECONDS)
        lamp = rita.add(job, name="Lamp")
        becomes(rita, "reader")
        assert rita.ask("POST", f"/v1/jobs/{job}/items", {"fields": {"name": "Rug"}})[0] == 403
        # Also where it starts anew as a reader.
        rita.stop()
        rita.start(*flags)
        office.start()
        anna.start(*(server_flags(office.url) if way == "server" else ()))
        wait_until(lambda: lamp in anna.items(job), PATIENCE_SECONDS, "anna has what the member wrote")
        wait_agreed([anna, rita], job)
        for laptop in (anna, rita):
            audited = laptop.muster("job", "audit", job)
            assert audited.returncode == 0 and "proven" in audited.stdout and "reader" not in audited.stdout, audited
