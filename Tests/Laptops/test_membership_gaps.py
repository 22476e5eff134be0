"""What holds, and what no other test looks at: who is not on a job, only looks, or is in its grace, between real programs."""

import os
import time

from asking import mutation, mutations, token_of
from attacks import Issuing
from authors import CLAIMED
from lab import never_during, wait_until
from membership import QUIET_SECONDS, assign, signed
from office import Connection
from protobuf import text
from revoking import identifier, install, issuer_of
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import VECTOR, Member, Stranger, assignments, frame, removed, vector
from test_attack_membership import VECTOR_REQUEST, all_that_is_said, crew
from test_membership_server import lead


def on(daemon, job):
    return {one["deviceID"] for one in daemon.get(f"/v1/jobs/{job}/assignments")["laptops"] if one["isOn"]}


def test_who_speaks_of_a_job_that_it_is_not_on_is_pushed_nothing_of_it(solos):
    """Carl's first words in the job continue nothing that the stranger would have to hold."""
    lea, bert, job = crew(solos)
    carl = solos("carl").start("--peer", lea.address)
    wait_until(lambda: "carl" in lea.connected(), PATIENCE_SECONDS, "carl is there")
    assign(lea, job, "carl")
    wait_agreed([lea, carl], job)
    stranger = Stranger(lea).greet()
    stranger.say(vector(VECTOR, job, [(os.urandom(16), 1, CLAIMED)]))
    all_that_is_said(stranger, 0.5)
    carl.add(job, name="Vermeer")
    wait_agreed([lea, carl], job)
    heard = all_that_is_said(stranger, 1)
    stranger.close()
    assert b"Vermeer" not in heard and bytes.fromhex(carl.replica()) not in heard


def test_who_is_not_on_a_job_does_not_hear_that_it_has_ended(solos):
    lea, bert, job = crew(solos)
    assert lea.muster("job", "remove", job, "--yes").returncode == 0
    stranger = Stranger(lea).greet()
    stranger.say(frame(text(VECTOR_REQUEST, job)))
    heard = all_that_is_said(stranger, 1)
    stranger.close()
    assert job.encode() in heard and b"Elm Street" not in heard and bytes.fromhex(lea.replica()) not in heard


def test_a_reader_ends_no_job_between_laptops(solos):
    lea, bert, job = crew(solos)
    reader, other = Member(lea.fleet, role="reader"), Member(lea.fleet, role="lead")
    stranger = Stranger(lea, member=reader).greet()
    stranger.say(assignments([signed(lea.fleet, other, job, {reader.device: True})]))
    wait_until(lambda: reader.device.hex() in on(lea, job), PATIENCE_SECONDS, "it is on the job")
    stranger.say(removed(job, "gone", []))
    never_during(lambda: lea.get(f"/v1/jobs/{job}")["isRemoved"], QUIET_SECONDS, "a reader ends a job")
    stranger.close()


def test_in_its_grace_a_false_head_shows_nothing(solos):
    """Of a place that is held here, with another digest."""
    lea = solos("lea").start()
    job = lea.make("/v1/jobs", {"name": "Smith, 12 Elm Street", "id": "smith-12"})["id"]
    lea.add(job, name="Rembrandt")
    ended = Member(Issuing(issuer_of(lea.fleet), since=0, until=1 / 86_400))
    time.sleep(2)  # Sleeps: its certificate, of a second, runs out meanwhile, and nothing tells of that.
    stranger = Stranger(lea, member=ended).greet()
    assert job.encode() not in all_that_is_said(stranger, 1)
    replica = bytes.fromhex(lea.replica())
    held = lea.vector(job)[lea.replica()]
    for sequence in range(1, held + 1):
        stranger.say(vector(VECTOR, job, [(replica, sequence, CLAIMED)]), frame(text(VECTOR_REQUEST, job)))
    heard = all_that_is_said(stranger, 2)
    stranger.close()
    # Lea asks to be shown what is said of her own journal (rule R9), and names it.
    assert b"Elm Street" not in heard and b"Rembrandt" not in heard


def test_words_come_to_who_holds_the_same_of_the_job(solos):
    """Nothing but the words is another on the two sides."""
    lea = solos("lea").start()
    install(lea, lea.fleet.sign(lea.get("/v1/fleet")["request"], "lead"))
    bert = solos("bert").start("--peer", lea.address)
    wait_until(lambda: lea.connected() == ["bert"], PATIENCE_SECONDS, "they meet")
    job = lea.create_job("Smith")
    wait_agreed([lea, bert], job)
    bert.kill()
    assign(lea, job, "bert")
    bert.start("--peer", lea.address)
    heard = lambda: bert.get(f"/v1/jobs/{job}")["membership"] == "on"
    wait_until(heard, PATIENCE_SECONDS, f"bert hears it: {bert.log()}")


def test_of_two_words_of_one_lead_at_one_time_the_stricter_stands(solos):
    """A copied disk has written both."""
    lea, bert, job = crew(solos)
    other, member = Member(lea.fleet, role="lead"), Member(lea.fleet)
    words = {is_on: signed(lea.fleet, other, job, {member.device: is_on}) for is_on in (True, False)}
    stranger = Stranger(lea, member=other).greet()
    for is_on in (True, False, True):
        stranger.say(assignments([words[is_on]]))
    named = lambda: [one for one in lea.get(f"/v1/jobs/{job}/assignments")["laptops"] if one["deviceID"] == member.device.hex()]
    wait_until(lambda: named() and not named()[0]["isOn"], PATIENCE_SECONDS, f"it is off: {named()}")
    never_during(lambda: named()[0]["isOn"], 1, "it is on again")
    stranger.close()


def test_the_answer_to_a_request_has_nothing_of_the_channel_for_who_is_not_on_the_job(solos, office):
    lea = lead(solos, office)
    job = lea.make("/v1/jobs", {"name": "Smith", "laptops": [identifier(lea)]})["id"]
    wait_until(lambda: office.ask("GET", f"/v1/jobs/{job}")[0] == 200, PATIENCE_SECONDS, "the office has the job")
    member = Member(office.fleet)
    connection = Connection(office.port, member)
    one = mutation(member.key, job, token_of(member.key), lane="state", kind="openJob", payload={"name": "x"}, channel=0)
    status, answer = connection.ask("POST", "/v1/mutations", mutations(member, one))
    connection.close()
    assert status == 200 and answer["channels"] == [], answer


def test_a_reader_takes_no_request_back(solos, office):
    lea = lead(solos, office)
    job = lea.create_job("Smith")
    connection = Connection(office.port, Member(office.fleet, role="reader"))
    status, answer = connection.ask("DELETE", f"/v1/jobs/{job}/mutations/" + os.urandom(16).hex())
    connection.close()
    assert status == 422 and answer["code"] == "outsider", answer
