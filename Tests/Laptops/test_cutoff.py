"""What a revoked laptop writes later, and what somebody who has not heard of the revocation brings of it, does not count: it is
listed on every laptop and at the server until a person takes it over or leaves it out."""

import json
import os

from gateways import server_flags
from invitations import anna
from lab import wait_until
from membership import jobs, signed, statement
from office import Connection
from revoking import crew, identifier, install, issuer_of, log_path, pem, revoke, revoked, wait_revoked
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import Member, Stranger, assignments, wait_for_log

NOT_ALLOWED = "Nobody who may do so has signed who is on the job"


def late(daemon, job):
    """What waits for a person, by the name that it gives an item."""
    return sorted(
        next((field["to"] for field in one["change"]["fields"] if field["field"] == "name"), "")
        for one in daemon.get(f"/v1/jobs/{job}/late")
    )


def names(daemon, job):
    return sorted(item["fields"].get("name", "") for item in daemon.items(job).values())


class Theft:
    """Anna has revoked bert while dave was away. Dave, who has not heard of it, takes what bert's thief has written; then he comes
    back to anna and cleo."""

    def __init__(self, crew):
        self.anna, self.bert, self.cleo, self.job = crew.anna, crew.bert, crew.cleo, crew.job
        self.dave = crew.enlist("dave", crew.anna, crew.cleo)
        self.sofa = self.bert.add(self.job, name="sofa", room="hall")
        wait_agreed([*crew.all, self.dave], self.job)
        device = identifier(self.bert)
        self.dave.kill()
        self.bert.kill()
        done = self.anna.muster("fleet", "revoke", "bert", "--yes")
        assert done.returncode == 0 and "muster job late" in done.stdout, done
        wait_revoked(self.cleo, device)
        for daemon in (self.anna, self.cleo):
            assert daemon.stop() == 0
        self.bert.start()
        self.dave.start("--peer", self.bert.address)
        self.lamp = self.bert.add(self.job, name="lamp of the thief")
        self.bert.muster("item", "set", self.job, self.sofa, "room=none")
        wait_agreed([self.bert, self.dave], self.job)
        assert self.lamp in self.dave.items(self.job), "dave takes it for work like any other"

    def come_back(self):
        self.anna.start()
        self.cleo.start("--peer", self.anna.address)
        self.dave.make("/v1/peers", {"address": self.anna.address})
        honest = [self.anna, self.cleo, self.dave]
        wait_until(
            lambda: all(late(daemon, self.job) == ["", "lamp of the thief"] for daemon in honest),
            PATIENCE_SECONDS,
            f"all list it: {[late(daemon, self.job) for daemon in honest]} {self.dave.log()}",
        )
        wait_agreed(honest, self.job)
        return honest


def test_what_a_revoked_laptop_wrote_later_is_listed_by_all_and_counts_when_a_person_says_so(crew):
    theft = Theft(crew)
    job, honest = theft.job, theft.come_back()
    for daemon in honest:
        assert theft.lamp not in daemon.items(job), f"{daemon.name} shows it"
        assert daemon.items(job)[theft.sofa]["fields"]["room"] == "hall"
        assert daemon.get(f"/v1/jobs/{job}")["late"] == 2
        checked = daemon.muster("job", "check", job)
        assert checked.returncode == 0 and "bert" not in checked.stdout, checked
        shown = daemon.muster("job", "log", job).stdout
        assert "lamp of the thief" not in shown and "sofa" in shown, shown
    listed = theft.cleo.muster("job", "late", job).stdout
    assert "lamp of the thief" in listed and "  bert  " in listed, listed
    assert "Late work" in theft.cleo.muster("job", "show", job).stdout
    # Whoever has the job anew gets both.
    erin = crew.enlist("erin", theft.anna)
    assert late(erin, job) == late(theft.anna, job)
    # It outlasts the power.
    for daemon in (theft.dave, erin):
        daemon.kill()
        daemon.start("--peer", theft.anna.address)
    wait_agreed([*honest, erin], job)
    assert theft.lamp not in theft.dave.items(job) and len(late(theft.dave, job)) == 2

    done = theft.cleo.muster("job", "late", job, "--accept", "all", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["newJob"] is None, done
    for daemon in [*honest, erin]:
        wait_until(lambda: late(daemon, job) == [], PATIENCE_SECONDS, f"{daemon.name} has nothing to decide")
    wait_agreed([*honest, erin], job)
    assert theft.lamp in theft.anna.items(job) and theft.anna.items(job)[theft.sofa]["fields"]["room"] == "none"
    told = theft.anna.muster("job", "log", job).stdout
    assert "lamp of the thief" in told and "bert" in told, told


def test_the_word_is_there_before_the_revocation_is(crew):
    """A crash while it is entered leaves something that can be done again, and nothing half."""
    anna, bert, cleo = crew.all
    bert.add(crew.job, name="sofa")
    wait_agreed(crew.all, crew.job)
    # Nothing can be written in its place.
    os.mkdir(log_path(anna))
    status, answer = anna.ask("POST", "/v1/fleet/revocations", {"device": identifier(bert)})
    assert status >= 400 and revoked(anna) == set(), answer
    os.rmdir(log_path(anna))
    device = identifier(bert)
    # Bert has heard it by then, and what he cannot show he does not take.
    refused = lambda: bert.ask("POST", f"/v1/jobs/{crew.job}/items", {"fields": {"name": "later"}})
    wait_until(lambda: refused()[0] == 403, PATIENCE_SECONDS, f"bert takes nothing any more: {refused()}")
    assert "This laptop was revoked" in refused()[1]["detail"] and "DELETE /v1/fleet" in refused()[1]["detail"]
    typed = bert.muster("item", "add", crew.job, "name=later")
    assert typed.returncode != 0 and "muster fleet leave" in typed.stderr, typed
    revoke(anna, device)
    wait_revoked(cleo, device)
    wait_agreed([anna, cleo], crew.job)
    # He comes back with another key, and takes over what he had written and did not count.
    counted = set(anna.items(crew.job))
    assert "sofa" in names(anna, crew.job) and counted == set(cleo.items(crew.job))


def test_at_the_server_it_does_not_count_either(solos, office):
    flags = server_flags(office.url)
    lea, bert, carl = (solos(name).start(*flags) for name in ("lea", "bert", "carl"))
    install(lea, office.fleet.sign(lea.get("/v1/fleet")["request"], "lead"))
    job = lea.create_job("Smith")
    wait_until(lambda: job in jobs(bert) and job in jobs(carl), PATIENCE_SECONDS, "all have the job")
    sofa = bert.add(job, name="sofa")
    wait_agreed([lea, bert, carl], job)
    device = identifier(bert)
    for daemon in (bert, carl):
        daemon.kill()
    # An issuer signs it; lea, who may say who is on jobs, says how far bert's journals count.
    signed_by_issuer = pem(issuer_of(office.fleet).revocation(device))
    status, answer = lea.ask("POST", "/v1/fleet/revocations", {"revocation": signed_by_issuer})
    assert status == 201, answer
    known = lambda: office.get(f"/v1/jobs/{job}/assignments")["assignments"]
    wait_until(known, PATIENCE_SECONDS, f"the server knows how far: {lea.log()}")
    # Neither the thief nor carl has heard of it.
    bert.start()
    carl.start("--peer", bert.address)
    lamp = bert.add(job, name="lamp of the thief")
    wait_until(lambda: lamp in carl.items(job), PATIENCE_SECONDS, "carl takes it for work like any other")
    bert.kill()
    carl.kill()
    carl.start(*flags)
    for daemon in (lea, carl):
        listed = lambda: late(daemon, job) == ["lamp of the thief"]
        wait_until(listed, PATIENCE_SECONDS, f"{daemon.name} lists it: {daemon.log()}")
        assert list(daemon.items(job)) == [sofa]
    wait_agreed([lea, carl], job)
    agreed = lambda: office.get(f"/v1/jobs/{job}")["digest"] == lea.digest(job)
    wait_until(agreed, PATIENCE_SECONDS, "the office shows the same")
    assert office.get(f"/v1/jobs/{job}")["items"] == 1
    assert carl.muster("job", "late", job, "--drop", "all", "--yes").returncode == 0
    wait_until(lambda: late(lea, job) == [], PATIENCE_SECONDS, "lea hears that it is not wanted")


def test_who_may_not_say_who_is_on_a_job_cuts_nobody_off(solos, office):
    lea = solos("lea").start(*server_flags(office.url))
    install(lea, office.fleet.sign(lea.get("/v1/fleet")["request"], "lead"))
    job = lea.create_job("Smith")
    sofa = lea.add(job, name="sofa")
    shown = lambda: office.ask("GET", f"/v1/jobs/{job}")
    wait_until(lambda: shown()[0] == 200 and shown()[1]["items"] == 1, PATIENCE_SECONDS, "the office has it")
    mallory = Member(office.fleet)
    nothing_counts = signed(office.fleet, mallory, job, {bytes.fromhex(identifier(lea)): b"\2\0\0"}, stamp=1)
    connection = Connection(office.port, mallory)
    status, answer = connection.ask("POST", "/v1/assignments", {"assignments": [statement(nothing_counts)]})
    assert status == 422 and NOT_ALLOWED in answer["detail"], answer
    connection.close()
    stranger = Stranger(lea, member=mallory).greet()
    stranger.say(assignments([nothing_counts]))
    wait_for_log(lea, NOT_ALLOWED)
    assert sofa in lea.items(job) and late(lea, job) == []
    assert office.get(f"/v1/jobs/{job}")["items"] == 1
