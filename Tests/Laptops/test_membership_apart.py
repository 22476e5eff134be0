"""Two leads, apart and without a server, each say who is on a job; then they meet."""

from lab import wait_until
from membership import assign, unassign
from revoking import install
from solo import PATIENCE_SECONDS, wait_agreed


def leads(solos):
    lea = solos("lea").start()
    lou = solos("lou").start("--peer", lea.address)
    for daemon in (lea, lou):
        install(daemon, daemon.fleet.sign(daemon.get("/v1/fleet")["request"], "lead"))
    wait_until(lambda: lou.connected() == ["lea"], PATIENCE_SECONDS, "they meet")
    return lea, lou


def part(daemon):
    daemon.kill()
    daemon.start()
    assert daemon.connected() == []


def on(daemon, job):
    return {one["deviceID"] for one in daemon.get(f"/v1/jobs/{job}/assignments")["laptops"] if one["isOn"]}


def wait_one_roster(job, *daemons):
    """All know the same of who is on the job."""
    alike = lambda: all(on(daemon, job) == on(daemons[0], job) for daemon in daemons)
    shown = lambda: "".join(daemon.muster("job", "show", job).stdout for daemon in daemons)
    try:
        wait_until(alike, PATIENCE_SECONDS, "they agree on who is on the job")
    except AssertionError as error:
        raise AssertionError(f"{error}\n{shown()}") from None


def test_two_who_narrow_a_job_apart_agree_when_they_meet(solos):
    """Each side bars the other, so neither says the words by which the other would know better."""
    lea, lou = leads(solos)
    job = lea.create_job("Smith")
    wait_agreed([lea, lou], job)
    part(lou)
    anna, bert = solos("anna").start("--peer", lea.address), solos("bert").start("--peer", lou.address)
    wait_agreed([lea, anna], job)
    wait_agreed([lou, bert], job)
    assign(lea, job, "anna")
    assign(lou, job, "bert")
    written = {daemon.add(job, name=f"of {daemon.name}") for daemon in (lea, lou, anna, bert)}
    lou.make("/v1/peers", {"address": lea.address})
    wait_until(lambda: "lou" in lea.connected(), PATIENCE_SECONDS, "they meet again")
    wait_one_roster(job, lea, lou, anna, bert)
    wait_agreed([lea, lou, anna, bert], job)
    assert written <= set(lea.items(job))


def test_two_who_take_each_other_off_agree_when_they_meet(solos):
    lea, lou = leads(solos)
    job = lea.make("/v1/jobs", {"name": "Smith", "laptops": ["lou"]})["id"]
    wait_agreed([lea, lou], job)
    lou.add(job, name="of lou")
    wait_agreed([lea, lou], job)
    part(lou)
    unassign(lea, job, "lou")
    unassign(lou, job, "lea")
    lou.make("/v1/peers", {"address": lea.address})
    wait_until(lambda: lou.connected() == ["lea"], PATIENCE_SECONDS, "they meet again")
    wait_one_roster(job, lea, lou)
