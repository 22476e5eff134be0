"""Words about who is on a job where the disk is full, time ends, or there are too many."""

import os

from lab import wait_until
from membership import assign, signed
from revoking import identifier, install
from solo import PATIENCE_SECONDS, Solos, wait_agreed
from stranger import Member, Stranger, assignments
from test_attack_membership import crew
from test_membership_apart import on, wait_one_roster
from test_full_disk import SmallDisk

# The last stamp that an assignment may have.
FARTHEST = (1 << 62) - 1
MOST_LAPTOPS = 4_096
LAPTOPS_A_STATEMENT = 127


def test_a_full_disk_accuses_nobody(build_directory):
    """Anna cannot keep bert's word. He has done nothing wrong, and revoking him is for good."""
    with Solos(build_directory) as solos:
        anna, bert = solos("anna"), solos("bert").start()
        disk = SmallDisk(solos.directory, anna.state)
        try:
            install(bert, bert.fleet.sign(bert.get("/v1/fleet")["request"], "lead"))
            anna.start("--peer", bert.address, prefix=disk.prefix)
            wait_until(lambda: anna.connected() == ["bert"], PATIENCE_SECONDS, "they meet")
            job = bert.create_job()
            wait_agreed([anna, bert], job)
            disk.fill()
            for count in range(100):
                anna.ask("POST", f"/v1/jobs/{job}/items", {"fields": {"name": f"full {count} " + "x" * 4_000}})
            assign(bert, job, "anna")
            wait_until(lambda: "who is on a job could not be kept" in anna.log(), PATIENCE_SECONDS, "there is no space")
            disk.free()
            heard = lambda: anna.get(f"/v1/jobs/{job}")["membership"] == "on"
            wait_until(heard, PATIENCE_SECONDS, f"anna hears it: {anna.log()}")
            check = next(one for one in anna.get("/v1/doctor")["checks"] if one["id"] == "signatures")
            assert check["outcome"] == "ok", check
        finally:
            anna.kill()
            disk.end()


def test_a_word_about_one_laptop_at_the_end_of_time_leaves_the_others_to_be_assigned(solos):
    lea, bert, job = crew(solos)
    carl = solos("carl").start("--peer", lea.address)
    wait_until(lambda: "carl" in lea.connected(), PATIENCE_SECONDS, "carl is there")
    lead, other = Member(lea.fleet, role="lead"), os.urandom(32)
    stranger = Stranger(lea, member=lead).greet()
    stranger.say(assignments([signed(lea.fleet, lead, job, {other: True}, stamp=FARTHEST)]))
    wait_until(lambda: other.hex() in on(lea, job), PATIENCE_SECONDS, f"the word is taken: {lea.log()}")
    stranger.close()
    done = lea.muster("job", "assign", job, "carl")
    assert done.returncode == 0, f"nothing was said of carl, who is needed: {done.stderr}"
    assert identifier(carl) in on(lea, job)


def test_more_words_than_a_job_may_have_are_the_same_on_all_laptops(solos):
    """A lead (or who has stolen its laptop) names other laptops on two sides that then meet: which of them count must not hang on
    the order in which they came, and an honest lead must still be able to put somebody on the job."""
    lea, bert, job = crew(solos)
    bert.kill()
    bert.start()
    lead = Member(lea.fleet, role="lead")
    for daemon in (lea, bert):
        stranger = Stranger(daemon, member=lead).greet()
        for _ in range(MOST_LAPTOPS // LAPTOPS_A_STATEMENT + 1):
            words = {os.urandom(32): True for _ in range(LAPTOPS_A_STATEMENT)}
            stranger.say(assignments([signed(lea.fleet, lead, job, words, stamp=1 << 40)]))
        full = lambda: len(daemon.get(f"/v1/jobs/{job}/assignments")["laptops"]) >= MOST_LAPTOPS
        wait_until(full, 3 * PATIENCE_SECONDS, f"{daemon.name} has all there is room for")
        stranger.close()
    bert.make("/v1/peers", {"address": lea.address})
    wait_until(lambda: lea.connected() == ["bert"], PATIENCE_SECONDS, "they meet again")
    wait_one_roster(job, lea, bert)
