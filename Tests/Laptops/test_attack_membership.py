"""A member gets nothing of a job that it is not on, by no question and no forged word, and the crew goes on."""

import time

from attacks import assert_kept, kept
from lab import wait_until
from membership import jobs, signed
from protobuf import number, text
from revoking import install
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import (
    HELLO,
    REPORT_REQUEST,
    SUMMARIES,
    VECTOR,
    Member,
    Stranger,
    assignments,
    frame,
    have,
    ping,
    request,
    vector,
    wait_for_log,
)

BUCKETS_REQUEST, SUMMARIES_REQUEST, VECTOR_REQUEST, FINGERPRINT, PROBE = 20, 22, 23, 19, 11
NOT_ALLOWED = "Nobody who may do so has signed who is on the job"
UNREADABLE = "what is said of who is on a job cannot be read"


def crew(solos):
    """Lea, who leads, and bert: connected, with a job that is theirs alone."""
    lea = solos("lea").start()
    install(lea, lea.fleet.sign(lea.get("/v1/fleet")["request"], "lead"))
    bert = solos("bert").start("--peer", lea.address)
    wait_until(lambda: lea.connected() == ["bert"], PATIENCE_SECONDS, "they meet")
    job = lea.make("/v1/jobs", {"name": "Smith, 12 Elm Street", "id": "smith-12", "laptops": ["bert"]})["id"]
    lea.add(job, name="Rembrandt")
    wait_agreed([lea, bert], job)
    return lea, bert, job


def all_that_is_said(stranger, seconds):
    """Everything that comes for so long, as bytes."""
    heard, until = b"", time.monotonic() + seconds
    stranger.socket.settimeout(0.5)
    while time.monotonic() < until:
        try:
            heard += stranger.read()
        except TimeoutError:
            stranger.say(ping(7))
    return heard


def test_a_member_that_is_not_on_the_job_gets_nothing_of_it_whatever_it_asks(solos):
    lea, bert, job = crew(solos)
    before, vector_before, logged = kept(lea), lea.vector(job), len(lea.log())
    replica = bytes.fromhex(lea.replica())
    quiet = Stranger(lea).greet()
    lea.add("smith-12", name="Vermeer")
    heard = all_that_is_said(quiet, 2)
    assert heard and job.encode() not in heard, "unasked"
    asked = Stranger(lea).greet()
    asked.say(
        frame(b"\x99\x01" + (1).to_bytes(8, "little")),
        frame(number(BUCKETS_REQUEST, 1)),
        *[frame(number(SUMMARIES_REQUEST, bucket)) for bucket in range(256)],
        frame(text(VECTOR_REQUEST, job)),
        request(job, replica),
        frame(text(PROBE, text(1, job) + text(2, replica) + number(3, 1))),
        frame(text(REPORT_REQUEST, text(1, job) + b"\x11" + (9).to_bytes(8, "little"))),
        have(job, [(replica, 1, bytes(32))]),
        vector(VECTOR, job, [(replica, 1, bytes(32))]),
    )
    lea.add("smith-12", name="Hals")
    heard = all_that_is_said(asked, 2)
    assert heard and job.encode() in heard, "the answers name the job that was asked for"
    for secret in (b"Elm Street", b"Rembrandt", b"Vermeer", b"Hals", replica):
        # Lea asks in her turn for what the stranger says that it holds; that names the journal, as the stranger did.
        assert heard.count(secret) <= (3 if secret == replica else 0), secret
    quiet.close()
    asked.close()
    wait_agreed([lea, bert], job)
    # What lea has written herself, and no word of anybody else.
    assert sorted(item["fields"]["name"] for item in lea.items(job).values()) == ["Hals", "Rembrandt", "Vermeer"]
    assert lea.vector(job).keys() == vector_before.keys()
    assert_kept(lea, before, but=["job", "journal", "segment", "item"])
    assert [row["id"] for row in lea.get("/v1/jobs")] == [job]
    # Who may ask, and gets nothing, is worth no line: only that they came and went.
    said = wait_until(lambda: both_have_gone(lea.log()[logged:]), PATIENCE_SECONDS, "the log tells that both went")
    assert all("peer connected" in line or "connection closed" in line for line in said), said


def both_have_gone(log):
    """The lines, once two connections have closed."""
    return log.splitlines() if log.count("connection closed") == 2 else None


def test_a_forged_word_puts_nobody_on_a_job_and_names_who_passed_it_on(solos):
    lea, bert, job = crew(solos)
    lead = Member(lea.fleet, role="lead")
    for name, forge in {
        "its own": lambda member: signed(lea.fleet, member, job, {member.device: True}),
        "in a lead's name": lambda member: signed(lea.fleet, member, job, {member.device: True}, signer=lead),
        "with a lead's certificates": lambda member: signed(
            lea.fleet, lead, job, {member.device: True}, key=member.key
        ),
    }.items():
        before, logged = kept(lea), len(lea.log())
        stranger = Stranger(lea).greet()
        stranger.say(assignments([forge(stranger.member)]))
        assert stranger.is_closed_within(5), (name, lea.log()[logged:])
        assert NOT_ALLOWED in lea.log()[logged:], name
        findings = next(check for check in lea.get("/v1/doctor")["checks"] if check["id"] == "signatures")["finding"]
        assert f"stranger ({stranger.member.device.hex()[:8]})" in findings, findings
        assert_kept(lea, before)
    # The same of one who may.
    stranger = Stranger(lea).greet()
    stranger.say(assignments([signed(lea.fleet, lead, job, {stranger.member.device: True})]))
    heard = lambda: [one for one in lea.get(f"/v1/jobs/{job}/assignments")["laptops"] if one["isOn"]]
    wait_until(lambda: len(heard()) == 3, PATIENCE_SECONDS, f"the stranger is on the job: {lea.log()[-2000:]}")
    assert b"smith-12" in all_that_is_said(stranger, 1)
    stranger.close()
    own = bert.add(job, name="goes on")
    wait_until(lambda: own in lea.items(job), PATIENCE_SECONDS, "the crew goes on")


def test_a_malformed_word_ends_its_connection_and_nothing_else(solos):
    lea, bert, job = crew(solos)
    lead = Member(lea.fleet, role="lead")
    content, signature, certificates = signed(lea.fleet, lead, job, {lead.device: True})
    before = kept(lea)
    for broken, reason in (
        ([(b"", signature, certificates)], UNREADABLE),
        ([(content[:-1], signature, certificates)], UNREADABLE),
        ([(content, signature[:-1], certificates)], UNREADABLE),
        ([(content, signature, certificates * 2)], UNREADABLE),
        ([(content, signature, certificates)] * 33, "a message lists too many assignments (33)"),
    ):
        logged = len(lea.log())
        stranger = Stranger(lea).greet()
        stranger.say(assignments(broken))
        assert stranger.is_closed_within(5), lea.log()
        closed = lambda: [line for line in lea.log()[logged:].splitlines() if "connection closed" in line]
        (line,) = wait_until(closed, PATIENCE_SECONDS, "the log says why")
        assert reason in line, line
    assert_kept(lea, before)
    assert bert.connected() == ["lea"] and jobs(bert) == {job}
