"""Who is not on a job, and never was, guesses its number between laptops: it changes nothing, and hears what it would hear of a job
that there is not."""

import os
import time

from authors import digest
from lab import wait_until
from membership import signed
from protobuf import entries
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import FORKED, PROBE, REQUEST, VECTOR, Member, Stranger, assignments, change, delta, vector
from test_attack_membership import crew

NOWHERE = "smith-13"
TELLING = {FORKED, PROBE, REQUEST}


def told(stranger, seconds=1):
    """The frames that tell something of what is held, as they come for so long."""
    found, until = [], time.monotonic() + seconds
    stranger.socket.settimeout(seconds)
    try:
        for kind, payload in stranger.frames():
            if kind in TELLING:
                found.append((kind, payload))
            if time.monotonic() > until:
                break
    except TimeoutError:
        pass
    return found


def test_a_run_tells_it_nothing(solos):
    """A piece of another content where bert's journal ends: lea looks for a fork with whoever has brought it."""
    lea, bert, job = crew(solos)
    for number in range(8):
        bert.add(job, name=f"of bert {number}")
    wait_agreed([lea, bert], job)

    class Bert:
        replica = bytes.fromhex(bert.replica())
        message = b""

    held = lea.vector(job)[Bert.replica.hex()]
    heard = {}
    for where in (job, NOWHERE):
        stranger = Stranger(lea).greet()
        run = [change(os.urandom(16), 1 << 40, "x")]
        stranger.say(vector(VECTOR, where, [(Bert.replica, held, b"\7" * 32)]))
        told(stranger)
        stranger.say(delta(where, Bert, 1, held, digest(run), b"".join(run), signature=bytes(64)))
        heard[where] = [kind for kind, _ in told(stranger)]
        stranger.close()
    assert heard[job] == heard[NOWHERE]


def test_who_was_taken_off_does_not_hear_how_much_others_write(solos):
    lea, bert, job = crew(solos)
    lead, member = Member(lea.fleet, role="lead"), Member(lea.fleet)
    stranger = Stranger(lea, member=member).greet()

    def say(is_on, stamp):
        stranger.say(assignments([signed(lea.fleet, lead, job, {member.device: is_on}, stamp=stamp)]))
        laptops = lambda: lea.get(f"/v1/jobs/{job}/assignments")["laptops"]
        known = lambda: any(one["deviceID"] == member.device.hex() and one["isOn"] == is_on for one in laptops())
        wait_until(known, PATIENCE_SECONDS, f"lea has heard it: {lea.log()}")

    say(True, 1 << 60)
    author, run = stranger.author(), [change(os.urandom(16), 1 << 60, "x")]
    stranger.say(delta(job, author, 1, 1, digest(run), b"".join(run)))
    wait_until(lambda: author.replica.hex() in lea.vector(job), PATIENCE_SECONDS, "its own journal is taken")
    say(False, 1 << 61)
    for number in range(7):
        bert.add(job, name=f"secret {number}")
    wait_agreed([lea, bert], job)
    told(stranger)
    replica = bytes.fromhex(bert.replica())
    stranger.say(vector(VECTOR, job, [(replica, 1 << 30, b"\7" * 32)]))
    from_where = [dict(entries(dict(entries(payload))[REQUEST])).get(3) for _, payload in told(stranger)]
    assert lea.vector(job)[replica.hex()] + 1 not in from_where, "that tells how many of bert's changes stand here"
    stranger.close()


def test_who_is_connected_when_a_job_is_made_hears_nothing_of_it(solos):
    """The words that narrow the job come before anything else of it, also to who might have heard of it until then."""
    lea, bert, _ = crew(solos)
    carl = solos("carl").start("--peer", lea.address)
    wait_until(lambda: lea.connected() == ["bert", "carl"], PATIENCE_SECONDS, "carl is there")
    job = lea.make("/v1/jobs", {"name": "Jones", "id": "jones-7", "laptops": ["bert"]})["id"]
    wait_agreed([lea, bert], job)
    lea.add(job, name="lamp")
    wait_agreed([lea, bert], job)
    status, _ = carl.ask("GET", f"/v1/jobs/{job}/assignments")
    assert status == 404
    assert job not in carl.log(), [line for line in carl.log().splitlines() if job in line]
