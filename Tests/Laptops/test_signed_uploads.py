"""Signed journals and the server: it passes on what laptops bring it, and takes no upload that nobody of its fleet has signed."""

import base64

import pytest
from authors import Author, Server, flipped
from gateways import server_flags, state, wait_published
from lab import never_during, wait_until
from office import Journal, Office
from solo import PATIENCE_SECONDS, journals, wait_agreed
from stranger import Member


def test_a_journal_arrives_through_the_server_only(solos, office):
    flags = server_flags(solos, office, f"http://127.0.0.1:{office.port}")
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
    (told,) = [line for line in office.log().splitlines() if "nobody of the fleet has written it" in line]
    assert "from=laptops" in told and "path=/v1/jobs/smith/journals" in told, "it says whose token it was"
    assert office.ask("POST", "/v1/jobs/smith/journals", Journal("smith", other.author()).add("Lamp"))[0] == 200


def test_a_server_joins_while_it_serves(build_directory, solos):
    """And an answer that it gave before is given again by its new name: laptops believe it from then on."""
    with Office(build_directory) as office:
        office.start()
        anna = solos("anna").start(*server_flags(solos, office, f"http://127.0.0.1:{office.port}"))
        job = anna.create_job("Smith")
        wait_until(lambda: office.ask("GET", f"/v1/jobs/{job}")[0] == 200, PATIENCE_SECONDS, "the office has the job")
        (check,) = wait_until(lambda: not_believed(anna), PATIENCE_SECONDS, "anna does not believe it")
        assert "is not of this fleet" in check["finding"] and "muster-channel fleet" in check["remedy"], check
        assert state(anna, job)["published"] is None
        office.join(anna.fleet)
        wait_published([anna], job, "scheduled")
        assert not not_believed(anna), "nothing is left to do"


def test_whoever_told_the_server_wrong_certificates_first_keeps_nobody_out(build_directory, solos):
    """A server without a fleet takes what everybody brings, also somebody's true run with another's certificates."""
    with Office(build_directory) as office:
        office.start()
        fleet = solos("anna").fleet
        bert, dora = Member(fleet), Member(fleet)
        author = bert.author()
        journal, true = Journal("smith", author), author.certificates
        author.certificates = dora.author().certificates
        assert office.ask("POST", "/v1/jobs/smith/journals", journal.add("Box"))[0] == 200
        office.join(fleet)
        office.stop_and_start()
        assert office.ask("POST", "/v1/jobs/smith/journals", journal.add("Chair"))[1]["code"] == "outsider"
        author.certificates = true
        assert office.ask("POST", "/v1/jobs/smith/journals", journal.add("Lamp"))[1]["code"] == "journalGap"
        given = office.get(f"/v1/jobs/smith/journals/{author.replica.hex()}?after=0")
        assert given["authors"] == [author.document], "others get what the fleet vouches for"


def test_a_server_without_a_fleet_is_not_silenced_by_words_of_another_key(town_hall):
    """It was set back only if its own key shows that."""
    assert town_hall.ask("POST", "/v1/jobs/smith/journals", Journal("smith").add("Box"))[0] == 200
    wait_until(lambda: town_hall.channel("smith"), PATIENCE_SECONDS, "it has said what it holds")
    forged = Journal("smith", Server()).add("one", "two", "three", "four", "five", "six", "seven")
    status, answer = town_hall.ask("POST", "/v1/jobs/smith/journals", forged)
    assert (status, answer["code"]) == (409, "channelUpload"), answer
    assert "set back" not in town_hall.log()
    status, answer = town_hall.mutate("smith", "7" * 32, lane="state", kind="openJob", payload={"name": "Smith"})
    assert status == 200 and answer["verdict"] == "accepted", answer


def test_a_server_without_a_fleet_takes_no_words_back_that_another_key_has_signed(build_directory):
    """It would answer for them with its own signature from then on."""
    with Office(build_directory) as office:
        office.start("--recover")
        status, answer = office.ask("POST", "/v1/jobs/smith/journals", Journal("smith", Server()).add("Box"))
        assert (status, answer["code"]) == (422, "outsider") and "fleet" in answer["detail"], answer
        assert office.ask("GET", "/v1/jobs/smith")[0] == 404


def not_believed(daemon):
    return [one for one in daemon.get("/v1/doctor")["checks"] if one["name"] == "journals" and one["outcome"] == "warning"]


@pytest.fixture
def town_hall(build_directory):
    """A server of no fleet: it takes what everybody brings."""
    with Office(build_directory) as office:
        yield office.start()


def test_what_the_server_gave_before_a_laptop_joined_costs_no_connection(solos, town_hall):
    """Bert was in no fleet and took everything. Anna does not take it, and stays connected with him."""
    jobs, outsider = [f"job-{number}" for number in range(20)], Author()
    for job in jobs:
        assert town_hall.ask("POST", f"/v1/jobs/{job}/journals", Journal(job, outsider).add("Box"))[0] == 200
    bert = solos("bert").launch(*server_flags(solos, town_hall, f"http://127.0.0.1:{town_hall.port}"))
    wait_until(bert.answers, PATIENCE_SECONDS, "bert answers")
    for job in jobs:
        wait_until(lambda: len(bert.items(job)) == 1, PATIENCE_SECONDS, "bert has it")
    bert.enrol()
    anna = solos("anna").start("--peer", bert.address)
    passed_over = lambda: anna.log().count("nobody of the fleet has written it") >= 1
    wait_until(passed_over, PATIENCE_SECONDS, "anna passes it over")
    closed = lambda: [line for line in anna.log().splitlines() if "connection closed" in line]
    never_during(closed, 3, "it costs the connection")
    for job in jobs:
        sofa = bert.add(job, name="Sofa")
        wait_until(lambda: sofa in anna.items(job), PATIENCE_SECONDS, "anna has what bert writes")
        assert set(anna.items(job)) == {sofa} and outsider.replica.hex() not in anna.vector(job)
    assert anna.connected() == ["bert"] and not closed()
