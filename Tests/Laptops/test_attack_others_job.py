"""A member that is not on a job neither ends it nor asks for its state, on a laptop or at the office, whatever it claims. The
crew goes on."""

from asking import mutation, mutations, token_of
from attacks import assert_kept, kept
from authors import digest
from gateways import server_flags, wait_at_office, wait_published
from lab import never_during, wait_until
from membership import QUIET_SECONDS, assign, jobs, unassign
from office import Connection
from revoking import identifier, install
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import Member, Stranger, delta, removed
from test_hostile_statements import CLAIMED, FARTHEST, JOB_ITEM, record, remove_job

SAID_IN_VAIN = "a laptop that is not on a job says that it has ended"
NOT_PERMITTED = 77


def led(daemon):
    install(daemon, daemon.fleet.sign(daemon.get("/v1/fleet")["request"], "lead"))
    return daemon


def crew(solos):
    """Lea, who leads, and bert, with a job that is theirs alone."""
    lea = led(solos("lea").start())
    bert = solos("bert").start("--peer", lea.address)
    wait_until(lambda: lea.connected() == ["bert"], PATIENCE_SECONDS, "they meet")
    job = lea.make("/v1/jobs", {"name": "Smith", "id": "smith-12", "laptops": ["bert"]})["id"]
    for daemon, name in ((lea, "Rembrandt"), (bert, "Vermeer")):
        daemon.add(job, name=name)
        wait_agreed([lea, bert], job)
    return lea, bert, job


def goes_on(lea, bert, job, count):
    """Both show the job with all that it had, and one more."""
    new = bert.add(job, name="goes on")
    wait_until(lambda: new in lea.items(job), PATIENCE_SECONDS, "the crew goes on")
    wait_agreed([lea, bert], job)
    assert len(lea.items(job)) == count + 1
    assert not lea.get(f"/v1/jobs/{job}")["isRemoved"]
    assert lea.get(f"/v1/jobs/{job}/late") == []


def test_a_member_that_is_not_on_a_job_ends_it_by_no_word_of_its_own_and_is_named(solos):
    lea, bert, job = crew(solos)
    # It has guessed how the laptops' journals are called, and claims that they go farther than they do.
    names = sorted(bytes.fromhex(daemon.replica()) for daemon in (lea, bert))
    lies = {
        "nothing was held": [],
        "all that there will ever be": [(name, FARTHEST, CLAIMED) for name in names],
        "a little": [(name, 1, CLAIMED) for name in names],
    }
    for lie, heads in lies.items():
        before, logged = kept(lea), len(lea.log())
        stranger = Stranger(lea).greet()
        stranger.say(removed(job, "Smith", heads))
        told = lambda: SAID_IN_VAIN in lea.log()[logged:]
        wait_until(told, PATIENCE_SECONDS, f"{lie}: lea tells of it: {lea.log()[logged:]}")
        assert stranger.member.device.hex()[:8] in lea.log()[logged:]
        assert_kept(lea, before)
        stranger.close()
    # The same in its own journal, which is taken.
    for lie, heads in lies.items():
        stranger, logged = Stranger(lea).greet(), len(lea.log())
        author = stranger.author()
        said = [record(JOB_ITEM, remove_job(b"Smith", heads))]
        stranger.say(delta(job, author, 1, 1, digest(said), b"".join(said)))
        for daemon in (lea, bert):
            there = lambda: author.replica.hex() in daemon.vector(job)
            wait_until(there, PATIENCE_SECONDS, f"{lie}: {daemon.name} has the journal: {daemon.log()}")
        assert SAID_IN_VAIN in lea.log()[logged:] and author.replica.hex() in lea.log()[logged:]
        stranger.close()
    goes_on(lea, bert, job, 2)
    # The same word of one who is on it.
    done = bert.muster("job", "remove", job, "--yes")
    assert done.returncode == 0, done
    ended = lambda: lea.get(f"/v1/jobs/{job}")["isRemoved"]
    wait_until(ended, PATIENCE_SECONDS, f"bert ends it: {lea.log()[-2_000:]}")


def test_an_end_that_is_older_than_the_first_word_ends_the_job_for_all_and_loses_nothing(solos):
    """Anna had a job of that number, as everybody's. Whoever has it ended and is on lea's says so: what lea wrote is late on both, and a
    person takes it into a new job."""
    lea, bert = led(solos("lea").start()), solos("bert").start()
    job = lea.make("/v1/jobs", {"name": "Smith", "id": "smith-12", "laptops": [identifier(bert)]})["id"]
    lea.add(job, name="Rembrandt")
    anna = solos("anna").start("--peer", bert.address)
    anna.make("/v1/jobs", {"name": "Jones", "id": job})
    anna.add(job, name="sofa")
    wait_agreed([anna, bert], job)
    assert anna.muster("job", "remove", job, "--yes").returncode == 0
    has_ended = lambda daemon: daemon.get(f"/v1/jobs/{job}")["isRemoved"]
    wait_until(lambda: has_ended(bert), PATIENCE_SECONDS, "bert hears of the end")
    anna.stop()
    lea.stop()
    lea.start("--peer", bert.address)
    wait_until(lambda: has_ended(lea), PATIENCE_SECONDS, f"lea hears it of bert: {bert.log()[-2_000:]}")
    late = lambda daemon: str(daemon.get(f"/v1/jobs/{job}/late"))
    for daemon in (lea, bert):
        wait_until(lambda: "Rembrandt" in late(daemon), PATIENCE_SECONDS, f"it is late on {daemon.name}")
    assert lea.muster("job", "late", job, "--accept", "all").returncode == 0
    found = lambda daemon: [name for other in jobs(daemon) for name in daemon.items(other).values()]
    for daemon in (lea, bert):
        wait_until(lambda: "Rembrandt" in str(found(daemon)), PATIENCE_SECONDS, f"{daemon.name} has it again")


def test_a_laptop_that_is_not_on_a_job_is_told_so_when_it_asks_for_its_state_or_ends_it(solos):
    lea, bert, job = crew(solos)
    unassign(lea, job, "bert")
    heard = lambda: bert.get(f"/v1/jobs/{job}")["membership"] == "off"
    wait_until(heard, PATIENCE_SECONDS, "bert hears that he is off")
    before = kept(bert)
    for command in (["job", "advance", job, "dispatched"], ["job", "remove", job, "--yes"], ["job", "sign-off", job, "--name", "J. Smith"]):
        done = bert.muster(*command)
        assert done.returncode == NOT_PERMITTED and "muster job assign" in done.stderr, done
    assert_kept(bert, before)
    assign(lea, job, "bert")
    heard = lambda: bert.get(f"/v1/jobs/{job}")["membership"] == "on"
    wait_until(heard, PATIENCE_SECONDS, "bert is on it again")
    assert bert.muster("job", "advance", job, "dispatched").returncode == 0


def test_the_office_takes_no_request_and_no_end_from_who_is_not_on_the_job(solos, office):
    lea = led(solos("lea").start(*server_flags(office.url)))
    job = lea.make("/v1/jobs", {"name": "Smith", "id": "smith-12", "laptops": [identifier(lea)]})["id"]
    lea.add(job, name="Rembrandt")
    lea.make(f"/v1/jobs/{job}/state", {"state": "dispatched"})
    wait_published([lea], job, "dispatched")
    wait_at_office(office, lea, job, 1)
    member = Member(office.fleet)
    connection = Connection(office.port, member)
    channel = office.channel(job)
    asked = mutation(member.key, job, token_of(member.key), lane="state", kind="advanceState", payload={"state": "cancelled"})
    status, answer = connection.ask("POST", "/v1/mutations", mutations(member, asked))
    (outcome,) = answer["decisions"]
    assert status == 200 and outcome["verdict"] == "rejected" and "is not on this job" in outcome["reason"], answer
    for heads in ([], [{"replica": lea.replica(), "sequence": FARTHEST >> 1, "digest": CLAIMED.hex()}]):
        logged = len(office.log())
        status, answer = connection.ask("PUT", f"/v1/jobs/{job}/removal", {"name": "Smith", "entries": heads})
        assert status == 200 and "removal" not in answer and answer["entries"] == [], answer
        assert SAID_IN_VAIN in office.log()[logged:] and member.device.hex()[:8] in office.log()[logged:]
    connection.close()
    # A laptop of the office sees every job, and asks for its state without being on it.
    clerk = Member(office.fleet, role="office")
    connection = Connection(office.port, clerk)
    asked = mutation(clerk.key, job, token_of(clerk.key), lane="state", kind="advanceState", payload={"state": "dispatched"})
    status, answer = connection.ask("POST", "/v1/mutations", mutations(clerk, asked))
    assert status == 200 and "is not on this job" not in answer["decisions"][0]["reason"], answer
    connection.close()
    # The refusal stands in the channel, and nothing else.
    assert [entry for entry in office.channel(job) if entry["published"]] == [entry for entry in channel if entry["published"]]
    assert office.get(f"/v1/jobs/{job}")["items"] == 1
    wait_published([lea], job, "dispatched")
    lea.make(f"/v1/jobs/{job}/state", {"state": "inProgress"})
    wait_published([lea], job, "inProgress")
    never_during(lambda: lea.get(f"/v1/jobs/{job}")["isRemoved"], QUIET_SECONDS, "the job ends")
    assert jobs(lea) == {job}
