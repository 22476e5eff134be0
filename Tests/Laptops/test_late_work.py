"""A laptop that was taken off the roster returns: its unseen work is listed, applied only when a person says so, and never
lost. Removals of many items, and of a whole job, ask first."""

import os
import pty

import pytest
from lab import wait_until
from solo import PATIENCE_SECONDS, Solos, wait_agreed


@pytest.fixture
def pair(build_directory):
    """anna and bert share a job of one item; bert is away."""
    with Solos(build_directory) as solos:
        anna, bert = solos("anna"), solos("bert")
        anna.start()
        bert.start("--peer", anna.address)
        job = anna.create_job("Elm Street")
        item = anna.add(job, name="Sofa")
        wait_until(lambda: item in bert.items(job), PATIENCE_SECONDS, "bert has the item")
        bert.add(job, name="Lamp")
        wait_until(lambda: len(anna.items(job)) == 2, PATIENCE_SECONDS, "anna has bert's")
        wait_agreed((anna, bert), job)
        bert.stop()
        bert.start()
        yield anna, bert, job, item


def ok(done):
    assert done.returncode == 0, done.stderr
    return done.stdout


def meet(anna, bert, job):
    bert.make("/v1/peers", {"address": anna.address})
    wait_until(lambda: anna.vector(job) == bert.vector(job), PATIENCE_SECONDS, "both hold the same journals")
    wait_agreed((anna, bert), job)


def names(laptop, job):
    return sorted(item["fields"]["name"] for item in laptop.items(job).values())


def expel_bert_while_it_writes(anna, bert, job):
    assert [member["name"] for member in anna.get(f"/v1/jobs/{job}/roster") if not member["isExpelled"]].count("bert") == 1
    refused = anna.muster("job", "roster", job, "--remove", "bert")
    assert refused.returncode == 64 and "--yes" in refused.stderr
    assert "off the roster" in ok(anna.muster("job", "roster", job, "--remove", "bert", "--yes"))
    assert "taken off" in ok(anna.muster("job", "roster", job))
    bert.add(job, name="Chair")
    bert.add(job, name="Table")
    meet(anna, bert, job)


@pytest.mark.parametrize("decision", ["accept", "drop"])
def test_work_of_a_laptop_that_was_taken_off_waits_for_a_person(pair, decision):
    anna, bert, job, _ = pair
    expel_bert_while_it_writes(anna, bert, job)
    for laptop in (anna, bert):
        assert names(laptop, job) == ["Lamp", "Sofa"], laptop.name
        late = laptop.get(f"/v1/jobs/{job}/late")
        assert [change["name"] for change in late] == ["bert", "bert"], laptop.name
        assert "2 late changes of bert" in ok(laptop.muster("job", "late", job))
        assert laptop.get(f"/v1/jobs/{job}")["late"] == 2
    if decision == "accept":
        assert "Accepted 2" in ok(anna.muster("job", "late", job, "--accept", "bert"))
    else:
        assert anna.muster("job", "late", job, "--drop", "--all").returncode == 64
        assert "Dropped 2" in ok(anna.muster("job", "late", job, "--drop", "--all", "--yes"))
    wait_until(lambda: anna.vector(job) == bert.vector(job), PATIENCE_SECONDS, "bert has heard of it")
    expected = ["Chair", "Lamp", "Sofa", "Table"] if decision == "accept" else ["Lamp", "Sofa"]
    for laptop in (anna, bert):
        assert names(laptop, job) == expected, laptop.name
        assert laptop.get(f"/v1/jobs/{job}/late") == []
    # Who has learned of it takes part again.
    bert.add(job, name="Mirror")
    wait_until(lambda: "Mirror" in names(anna, job), PATIENCE_SECONDS, "what bert writes now counts")
    wait_agreed((anna, bert), job)


def test_a_removed_job_is_gone_on_every_laptop_and_what_came_late_is_not_lost(pair):
    anna, bert, job, _ = pair
    bert.add(job, name="Chair")
    refused = anna.muster("job", "remove", "Elm Street")
    assert refused.returncode == 64 and "2 items" in refused.stderr
    assert anna.ask("DELETE", f"/v1/jobs/{job}")[0] == 409
    ok(anna.muster("job", "remove", "Elm Street", "--yes"))
    assert anna.get("/v1/jobs") == []
    bert.make("/v1/peers", {"address": anna.address})
    wait_until(lambda: anna.vector(job) == bert.vector(job), PATIENCE_SECONDS, "both hold the same journals")
    for laptop in (anna, bert):
        assert laptop.items(job) == {}
        assert [entry["isRemoved"] for entry in laptop.get("/v1/jobs")] == [True], "it is listed for its late work"
        assert laptop.ask("POST", f"/v1/jobs/{job}/items", {"fields": {"name": "Box"}})[0] == 409
    rescued = anna.muster("job", "late", job, "--accept", "--all")
    assert "in the new job" in ok(rescued)
    (entry,) = anna.get("/v1/jobs")
    assert entry["name"] == "Elm Street (late)" and names(anna, entry["id"]) == ["Chair"]
    wait_until(lambda: names(bert, entry["id"]) == ["Chair"], PATIENCE_SECONDS, "bert has the new job")


def test_a_mass_removal_asks_and_is_all_or_nothing(pair):
    anna, _, job, sofa = pair
    for number in range(23):
        anna.add(job, name=f"Box {number}", room="Garage" if number < 21 else "Hall")
    # 21 of 25 at once: over half of the job.
    refused = anna.muster("item", "remove", job, "--where", "room=Garage")
    assert refused.returncode == 64
    assert "21 of the 25 items" in refused.stderr and "--yes" in refused.stderr
    status, problem = anna.ask("POST", f"/v1/jobs/{job}/removals", {"matching": {"room": "Garage"}})
    assert (status, problem["code"]) == (409, "confirmationNeeded")
    assert len(anna.items(job)) == 25
    assert anna.muster("item", "remove", job, sofa, "nobody").returncode == 65
    assert len(anna.items(job)) == 25, "one unknown item leaves all where they are"
    ok(anna.muster("item", "remove", job, "--where", "room=Hall"))
    assert len(anna.items(job)) == 23
    assert "Removed 21 items" in ok(anna.muster("item", "remove", job, "--where", "room=Garage", "--yes"))
    assert names(anna, job) == ["Lamp", "Sofa"]


def at_a_terminal(laptop, answer, *arguments):
    """Runs `muster …` with a terminal for a person to answer on; returns the exit code and what stood on it."""
    command = laptop.command(*arguments)
    process, terminal = pty.fork()
    if process == 0:
        os.execv(command[0], command)
    shown = b""
    has_answered = False
    while True:
        try:
            shown += os.read(terminal, 4096)
        except OSError:
            break
        if not has_answered and shown.rstrip().endswith((b"[y/N]", b"to go on:")):
            os.write(terminal, answer.encode() + b"\n")
            has_answered = True
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), shown.decode()


def test_at_a_terminal_a_person_is_asked(pair):
    anna, _, job, _ = pair
    for number in range(20):
        anna.add(job, name=f"Box {number}", room="Garage")
    remove = ("item", "remove", job, "--where", "room=Garage")
    code, shown = at_a_terminal(anna, "n", *remove)
    assert code == 1 and "20 of the 22 items" in " ".join(shown.split()) and "nothing was changed" in shown
    assert len(anna.items(job)) == 22
    assert at_a_terminal(anna, "y", *remove)[0] == 0
    assert len(anna.items(job)) == 2
    assert at_a_terminal(anna, "yes", "job", "remove", job)[0] == 1, "the whole job wants its name"
    assert at_a_terminal(anna, "Elm Street", "job", "remove", job)[0] == 0
    assert anna.get("/v1/jobs") == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("job", "remove", "", "--yes"),
        ("job", "roster", ""),
        ("job", "roster", "JOB", "--remove", "", "--yes"),
        ("job", "late", "JOB", "--accept", ""),
        ("job", "late", "JOB", "--drop", "", "--yes"),
        ("item", "remove", "JOB", ""),
        ("item", "remove", "", "--where", "room=Hall"),
        ("item", "show", "JOB", ""),
    ],
    ids=lambda arguments: " ".join(word or "nothing" for word in arguments),
)
def test_an_empty_name_chooses_nothing(pair, arguments):
    """As a script gives it whose variable is not set. Every id begins with nothing, that of the only late laptop, too."""
    anna, bert, job, _ = pair
    if "late" in arguments:
        expel_bert_while_it_writes(anna, bert, job)
    before = anna.vector(job)
    refused = anna.muster(*[job if word == "JOB" else word for word in arguments])
    assert refused.returncode == 64, refused
    assert refused.stderr.startswith(("Error: Name the", "Error: Say wh")), refused.stderr
    assert anna.vector(job) == before
