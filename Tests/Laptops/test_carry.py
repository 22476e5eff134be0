"""Work on a USB stick: two laptops that never meet, what a stick must not tell, and what becomes of a damaged one."""

import json
import os
import shutil
import subprocess

import pytest
from lab import Fleet, Program, ask, wait_until
from membership import jobs
from revoking import identifier, install
from solo import PATIENCE_SECONDS, Solos

BAD_DATA, NOT_PERMITTED, TRY_AGAIN = 65, 77, 75


@pytest.fixture
def solos(build_directory):
    with Solos(build_directory) as solos:
        yield solos


@pytest.fixture
def stick(tmp_path):
    path = tmp_path / "stick"
    path.mkdir()
    return str(path)


def carry(solo, *arguments, code=0):
    outcome = solo.muster("carry", *arguments)
    assert outcome.returncode == code, (arguments, outcome)
    return outcome


def out(solo, *arguments):
    """The files that were written, by the id of the laptop that each is for."""
    return {one["deviceID"]: one["path"] for one in json.loads(carry(solo, "out", *arguments, "--json").stdout)}


def into(solo, path, code=0):
    """The reports, in the order of the files."""
    outcome = solo.muster("carry", "in", path, "--json")
    assert outcome.returncode == code, outcome
    return [one["report"] for one in json.loads(outcome.stdout)]


def is_one_sentence(said):
    """Told once, by muster, and no trace of a program."""
    lines = said.strip().split("\n")
    return [line.startswith("muster: ") for line in lines] == [True] and lines[0].endswith(".")


def export(solo, job):
    outcome = solo.muster("job", "export", job)
    assert outcome.returncode == 0, outcome
    return outcome.stdout


def introduced(writer, reader, stick):
    """The reader has left its card, and the writer a file for it: its path."""
    out(reader, stick)
    return out(writer, stick)[identifier(reader)]


def test_a_stick_takes_the_work_over_both_ways(solos, stick):
    anna, carl = solos("anna").start(), solos("carl").start()
    job = anna.create_job("Smith")
    for number in range(40):
        anna.add(job, name=f"box {number}")
    other = carl.create_job("Jones")
    carl.add(other, name="lamp")
    # Nobody knows anybody: the first one leaves its card only.
    assert "card" in carry(anna, "out", stick).stdout
    assert len(out(carl, stick)) == 1
    assert "Jones" in carry(anna, "in", stick).stdout
    assert export(anna, other) == export(carl, other)
    anna.add(other, name="rug")
    assert len(out(anna, stick)) == 1
    (report,) = into(carl, stick)
    assert report["isWhole"] and report["name"] == "anna" and report["changes"] > 40
    assert {one["name"]: one["laptops"] for one in report["jobs"]} == {"Smith": ["anna"], "Jones": ["anna"]}
    for one in (job, other):
        assert export(anna, one) == export(carl, one)
    # A second time changes nothing, and says so.
    (again,) = into(carl, stick)
    assert again["changes"] == 0 and again["jobs"] == [] and again["isWhole"]
    assert "not here already" in carry(carl, "in", stick).stdout
    assert anna.get("/v1/peers") == carl.get("/v1/peers") == []
    assert not [name for name in os.listdir(stick) if name.endswith(".part")]


def test_a_job_ends_by_a_stick_and_late_work_waits(solos, stick):
    anna, carl = solos("anna").start(), solos("carl").start()
    job = anna.create_job("Smith")
    anna.add(job, name="rug")
    into(carl, introduced(anna, carl, stick))
    carl.add(job, name="late lamp")
    assert anna.ask("DELETE", f"/v1/jobs/{job}?confirmed=true")[0] == 200
    (report,) = into(carl, out(anna, stick)[identifier(carl)])
    assert [one["hasEnded"] for one in report["jobs"]] == [True], report
    assert carl.get(f"/v1/jobs/{job}")["isRemoved"]
    assert len(carl.get(f"/v1/jobs/{job}/late")) > 0
    into(anna, out(carl, stick)[identifier(anna)])
    assert len(anna.get(f"/v1/jobs/{job}/late")) == len(carl.get(f"/v1/jobs/{job}/late"))


def test_what_is_passed_on_goes_on_to_peers(solos, stick):
    anna, carl = solos("anna").start(), solos("carl").start()
    dora = solos("dora").start("--peer", carl.address)
    wait_until(lambda: carl.connected() == ["dora"], PATIENCE_SECONDS, "carl and dora meet")
    job = anna.create_job("Smith")
    anna.add(job, name="rug")
    into(carl, introduced(anna, carl, stick))
    wait_until(lambda: len(dora.items(job)) == 1, PATIENCE_SECONDS, "dora has it from carl")
    assert export(dora, job) == export(anna, job)


def test_nothing_of_a_job_is_carried_to_who_is_not_on_it(solos, stick):
    lea, bert, carl = solos("lea").start(), solos("bert").start(), solos("carl").start()
    install(lea, lea.fleet.sign(lea.get("/v1/fleet")["request"], "lead"))
    out(bert, stick)
    out(carl, stick)
    everybodys = lea.create_job("Jones")
    job = lea.make("/v1/jobs", {"name": "Smith", "laptops": [identifier(bert)]})["id"]
    lea.add(job, name="rug")
    files = out(lea, stick)
    (report,) = into(carl, files[identifier(carl)])
    assert jobs(carl) == {everybodys} == {one["job"] for one in report["jobs"]}
    into(bert, files[identifier(bert)])
    assert jobs(bert) == {everybodys, job} and export(bert, job) == export(lea, job)
    # And carl cannot read what bert was given.
    refusal = carry(carl, "in", files[identifier(bert)], code=BAD_DATA).stderr
    assert identifier(bert)[:8] in refusal and is_one_sentence(refusal), refusal


def test_a_revoked_laptop_neither_brings_nor_gets_anything(solos, stick):
    bert, carl = solos("bert").start(), solos("carl").start()
    job = bert.create_job("Smith")
    bert.add(job, name="rug")
    file = introduced(bert, carl, stick)
    # The issuer revokes bert, and carl hears of it by a stick.
    issuer = bert.fleet._socket
    assert ask(issuer, "POST", "/v1/fleet/revocations", {"device": identifier(bert)})[0] == 201
    command = [os.path.join(os.path.dirname(bert.command()[0]), "muster"), "carry", "out", stick, "--socket", issuer]
    done = subprocess.run([*command, "--for", identifier(carl), "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done
    (report,) = into(carl, json.loads(done.stdout)[0]["path"])
    assert report["words"] > 0
    refusal = carry(carl, "in", file, code=BAD_DATA).stderr
    assert "revoked" in refusal and is_one_sentence(refusal), refusal
    assert jobs(carl) == set()
    carl.create_job("Jones")
    refusal = carry(carl, "out", stick, "--for", identifier(bert), code=NOT_PERMITTED).stderr
    assert "revoked" in refusal, refusal
    assert identifier(bert) not in out(carl, stick)


def test_another_fleets_laptop_gets_nothing(solos, stick, build_directory):
    anna, stranger = solos("anna").start(), solos("stranger").launch()
    wait_until(stranger.answers, PATIENCE_SECONDS, "it answers")
    other = Fleet(build_directory)
    try:
        other.enrol(stranger.socket)
    finally:
        other.end()
    out(anna, stick)
    assert out(stranger, stick) == {}
    assert out(anna, stick) == {}, "a card of another fleet counts for nothing"
    refusal = carry(anna, "out", stick, "--for", identifier(stranger), code=BAD_DATA).stderr
    assert "not known here" in refusal


@pytest.fixture
def large(solos, stick):
    """Anna with some thousand items, and her file for carl."""
    anna, carl = solos("anna").start(), solos("carl").start()
    job = anna.create_job("Smith")
    for _ in range(4):
        fields = [{"fields": {"name": "box", "serial": os.urandom(24).hex()}} for _ in range(1500)]
        anna.make(f"/v1/jobs/{job}/import", {"items": fields})
    return anna, carl, job, introduced(anna, carl, stick)


def test_a_daemon_that_is_killed_while_it_takes_in_has_whole_runs_and_goes_on(large, tmp_path):
    anna, carl, job, file = large
    with open(file, "rb") as opened:
        content = opened.read()
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    reading = Program("in", carl.command("carry", "in", pipe), str(tmp_path))
    with open(pipe, "wb", buffering=0) as writing:
        writing.write(content[: len(content) * 3 // 4])
        wait_until(lambda: len(carl.items(job)) > 0, PATIENCE_SECONDS, "some of it is here")
        carl.kill()
        wait_until(lambda: not reading.is_running, PATIENCE_SECONDS, "the command has ended")
    carl.start()
    assert 0 < len(carl.items(job)) < 6000, "it was killed in the midst"
    (report,) = into(carl, file)
    assert report["isWhole"] and report["changes"] > 0
    assert export(carl, job) == export(anna, job)


def test_a_damaged_file_gives_whole_runs_and_one_sentence(large, tmp_path):
    anna, carl, job, file = large
    with open(file, "rb") as opened:
        content = opened.read()
    damaged = str(tmp_path / "damaged.muster")
    here = 0
    places = [5, 60, 90, len(content) // 3, len(content) * 2 // 3, len(content) - 1]
    for place, is_cut in [(place, is_cut) for place in places for is_cut in (True, False)]:
        broken = content[:place] if is_cut else content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]
        with open(damaged, "wb") as writing:
            writing.write(broken)
        outcome = carry(carl, "in", damaged, code=BAD_DATA)
        assert is_one_sentence(outcome.stderr), (place, is_cut, outcome)
        count = len(carl.items(job)) if job in jobs(carl) else 0
        assert count >= here, "what was taken stays"
        here = count
    assert 0 < here, "what stands before a damage is taken"
    into(carl, file)
    assert export(carl, job) == export(anna, job)


def test_a_full_stick_keeps_nothing_of_a_file(large, tmp_path):
    anna, carl, _, _ = large
    place = str(tmp_path / "small")
    os.mkdir(place)
    script = f"mount -t tmpfs -o size=64k tmpfs {place} && echo ready && exec sleep infinity"
    holder = Program("stick", ["unshare", "-m", "--propagation", "private", "sh", "-c", script], str(tmp_path))
    try:
        wait_until(lambda: "ready" in holder.output(), 5, "the stick is mounted")
        inside = ["nsenter", "-t", str(holder.pid), "-m", "--"]
        command = [*inside, *anna.command("carry", "out", place, "--for", identifier(carl))]
        card = f"/proc/{holder.pid}/root{place}/carl.muster-card"
        with open(card, "w", encoding="utf-8") as writing:
            writing.write(carl.get("/v1/carry/card")["certificates"])
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == TRY_AGAIN, done
        assert "No space left" in done.stderr and is_one_sentence(done.stderr), done.stderr
        assert os.listdir(os.path.dirname(card)) == ["carl.muster-card"]
    finally:
        holder.kill()


def test_a_laptop_that_was_set_back_has_its_work_back_from_a_stick(solos, stick, tmp_path):
    anna, carl = solos("anna").start(), solos("carl").start()
    job = anna.create_job("Smith")
    anna.add(job, name="rug")
    # What it has when it is set back: its card was shown before, and carl's is on the stick.
    out(carl, stick)
    anna.stop()
    former = str(tmp_path / "former")
    shutil.copytree(anna.state, former)
    anna.start()
    before = anna.replica()
    for number in range(5):
        anna.add(job, name=f"box {number}")
    into(carl, out(anna, stick)[identifier(carl)])
    anna.kill()
    # Not deleted: a file that takes its place could get its number, and nobody would see that it is another one.
    os.rename(anna.state, str(tmp_path / "lost"))
    shutil.copytree(former, anna.state)
    anna.start()
    assert len(anna.items(job)) == 1
    anna.add(job, name="written since")
    (report,) = into(anna, out(carl, stick)[identifier(anna)])
    assert report["isWhole"] and not [sentence for one in report["jobs"] for sentence in one["refused"]], report
    assert len(anna.items(job)) == 7 and anna.replica() != before
    into(carl, out(anna, stick)[identifier(carl)])
    assert export(carl, job) == export(anna, job)


def test_only_the_jobs_that_are_named_are_carried(solos, stick):
    anna, carl = solos("anna").start(), solos("carl").start()
    job, other = anna.create_job("Smith"), anna.create_job("Jones")
    out(carl, stick)
    into(carl, out(anna, stick, "--job", "Smith")[identifier(carl)])
    assert jobs(carl) == {job} and other not in jobs(carl)
