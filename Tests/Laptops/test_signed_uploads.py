"""Signed journals and the server: it passes on what laptops bring it, and takes no upload that nobody of its fleet has signed."""

import base64

import pytest
from authors import Author, Server, flipped
from gateways import server_check, server_flags, state, wait_published
from lab import wait_until
from office import Journal, Office
from solo import PATIENCE_SECONDS, journals, wait_agreed
from stranger import Member


def test_a_journal_arrives_through_the_server_only(solos, office):
    flags = server_flags(office.url)
    anna, bert = solos("anna").start(*flags), solos("bert").start(*flags)
    job = anna.create_job("Smith")
    for count in range(20):
        anna.add(job, name=f"Box {count}")
    wait_agreed([anna, bert], job)
    assert bert.get(f"/v1/jobs/{job}/export") == anna.get(f"/v1/jobs/{job}/export")
    assert anna.connected() == bert.connected() == []
    for daemon in (anna, bert):
        assert daemon.stop() == 0
    replica = [name for name, _ in journals(anna).items() if any(bytes.fromhex(name[1]))]
    assert replica and all(journals(bert)[name] == journals(anna)[name] for name in replica)


def spoilt(field, value=None):
    """The body of an upload in which the first byte of a part is another one, or that has another value there."""

    def spoil(body):
        run, author = body["segments"][0], body["authors"][0]
        if field == "authors":
            return {**body, "authors": []}
        part = author if field in author else run
        if value is not None:
            part[field] = value
        elif field in ("key", "nonce", "digest"):
            part[field] = flipped(bytes.fromhex(part[field]), 0).hex()
        else:
            part[field] = base64.b64encode(flipped(base64.b64decode(part[field]), -1)).decode()
        return body

    return spoil


UPLOADS = {
    "a signature": spoilt("signature"),
    "no signature": spoilt("signature", ""),
    "a key": spoilt("key"),
    "a nonce": spoilt("nonce"),
    "no author": spoilt("authors"),
    "the name of another": spoilt("replica", "7" * 32),
    "a digest": spoilt("digest"),
    "a change": spoilt("changes"),
}
OF_THE_AUTHOR = {"a key", "a nonce", "no author"}


@pytest.mark.parametrize("what", UPLOADS)
def test_the_server_takes_no_upload_that_is_spoilt(office, what):
    new = lambda: Journal("smith", Member(office.fleet).author())
    journal = new()
    assert office.ask("POST", "/v1/jobs/smith/journals", journal.add("Box"))[0] == 200
    paths = [f"/v1/jobs/smith{rest}" for rest in ("", "/vector", "/items", "/channel")]
    wait_until(lambda: any(entry["accepted"] for entry in office.channel("smith")), PATIENCE_SECONDS, "the server says what it holds")
    before = [office.get(path) for path in paths]
    # Of a journal that is new to the server, and of one that it has, whose author it knows.
    for body in (new().add("Chair"), journal.add("Lamp"))[: 1 if what in OF_THE_AUTHOR else 2]:
        status, answer = office.ask("POST", "/v1/jobs/smith/journals", UPLOADS[what](body))
        # Changes that do not lead to their digest are taken for the end of a branch that parted before.
        refusal = (409, "journalForked") if what == "a change" else (422, "malformed")
        assert (status, answer["code"]) == refusal, answer
        assert [office.get(path) for path in paths] == before
    said = office.log()
    assert " error " not in said, "a laptop's fault is none of the server's"
    assert ("what a device brought is refused" in said) == (what != "a change"), said
    assert office.ask("POST", "/v1/jobs/smith/journals", new().add("Table"))[0] == 200


def test_the_server_takes_nothing_from_outside_its_fleet(office):
    """Neither a laptop's journal that nobody has let in, nor a channel, whoever writes that."""
    member, other = Member(office.fleet), Member(office.fleet)
    assert office.ask("POST", "/v1/jobs/smith/journals", Journal("smith", member.author()).add("Box"))[0] == 200
    paths = [f"/v1/jobs/smith{rest}" for rest in ("", "/vector", "/items", "/channel")]
    wait_until(lambda: any(entry["accepted"] for entry in office.channel("smith")), PATIENCE_SECONDS, "the server says what it holds")
    before = [office.get(path) for path in paths]
    certificates = member.author().certificates
    outside = {
        "no certificates": Author(),
        "another one's certificates": Author(certificates=certificates),
        "a server without certificates": Server(),
        "a member as the server": Server(member.key, certificates),
        "a server as a laptop": Member(office.fleet, role="server").author(),
    }
    for what, author in outside.items():
        status, answer = office.ask("POST", "/v1/jobs/smith/journals", Journal("smith", author).add("Chair"))
        assert (status, answer["code"]) == (422, "outsider"), (what, answer)
        assert "let that laptop join" in answer["detail"] and author.device.hex()[:8] in answer["detail"], answer
        assert [office.get(path) for path in paths] == before, what
    (told,) = [line for line in office.log().splitlines() if "nobody of the fleet has signed it" in line]
    who = office.member.device.hex()[:8]
    assert f"from={who}" in told and "path=/v1/jobs/smith/journals" in told, "it says who brought it"
    assert office.ask("POST", "/v1/jobs/smith/journals", Journal("smith", other.author()).add("Lamp"))[0] == 200


def test_a_server_joins_while_it_serves(build_directory, solos):
    """Before, nobody can be sure of it, and nobody is told anything."""
    with Office(build_directory) as office:
        office.launch()
        wait_until(lambda: "it takes no connections yet" in office.log(), PATIENCE_SECONDS, "the server says so")
        anna = solos("anna").start(*server_flags(office.url))
        job = anna.create_job("Smith")
        known = lambda: "does not prove to be" in server_check(anna)["finding"]
        wait_until(known, PATIENCE_SECONDS, "anna does not believe it")
        assert state(anna, job)["published"] is None
        office.join(anna.fleet)
        wait_published([anna], job, "scheduled")
