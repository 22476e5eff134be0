"""Work on a job that was removed meanwhile is listed on every laptop, taken over only when a person names it, and never
lost. Removals of many items, and of a whole job, ask first; what a removed item was can still be read."""

import json
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


def bert_writes_while_anna_removes_the_job(anna, bert, job):
    bert.add(job, name="Chair")
    bert.add(job, name="Table")
    refused = anna.muster("job", "remove", "Elm Street")
    assert refused.returncode == 64 and "2 items" in refused.stderr
    assert anna.ask("DELETE", f"/v1/jobs/{job}")[0] == 409
    assert names(anna, job) == ["Lamp", "Sofa"]
    ok(anna.muster("job", "remove", "Elm Street", "--yes"))
    assert anna.get("/v1/jobs") == []
    meet(anna, bert, job)


def named(change):
    """The name that a change gives an item."""
    return next((field["to"] for field in change["fields"] if field["field"] == "name"), None)


def late(laptop, job):
    """The late changes by the names that they give, with their ids."""
    return {named(change["change"]): change["id"] for change in laptop.get(f"/v1/jobs/{job}/late")}


def rescued(laptop):
    """The jobs "Elm Street (late)" with the names in them."""
    jobs = [entry for entry in laptop.get("/v1/jobs") if entry["name"] == "Elm Street (late)"]
    return [names(laptop, entry["id"]) for entry in jobs]


def refused(laptop, *arguments, code):
    done = laptop.muster("job", "late", *arguments)
    assert done.returncode == code and done.stderr.startswith("muster: "), done
    return done.stderr


def test_a_removed_job_is_gone_everywhere_and_what_its_remover_had_not_seen_is_listed(pair):
    anna, bert, job, _ = pair
    bert_writes_while_anna_removes_the_job(anna, bert, job)
    for laptop in (anna, bert):
        assert laptop.items(job) == {}, laptop.name
        assert [entry["isRemoved"] for entry in laptop.get("/v1/jobs")] == [True], "it is listed for its late work"
        assert laptop.ask("POST", f"/v1/jobs/{job}/items", {"fields": {"name": "Box"}})[0] == 409
        listed = laptop.get(f"/v1/jobs/{job}/late")
        assert [(change["byName"], change["by"]) for change in listed] == [("bert", bert.replica())] * 2, laptop.name
        assert laptop.get(f"/v1/jobs/{job}")["late"] == 2
        shown = ok(laptop.muster("job", "late", "Elm Street"))
        assert shown.count("  bert  ") == 2 and "Chair" in shown and "Table" in shown, shown
        assert json.loads(ok(laptop.muster("job", "late", job, "--json"))) == listed


def test_late_work_names_the_items_that_went_with_the_job(pair):
    """carl, away, edits an item of the job that anna removes; she decides about it without its row."""
    anna, carl, job, sofa = pair
    assert carl.ask("PATCH", f"/v1/jobs/{job}/items/{sofa}", {"fields": {"room": "Attic"}})[0] == 200
    ok(anna.muster("job", "remove", "Elm Street", "--yes"))
    anna.stop()
    anna.start()
    meet(anna, carl, job)
    for laptop in (anna, carl):
        (change,) = laptop.get(f"/v1/jobs/{job}/late")
        assert change["change"]["itemName"] == "Sofa" and change["change"]["item"] == sofa, laptop.name
        shown = ok(laptop.muster("job", "late", "Elm Street"))
        assert "Sofa" in shown and "Attic" in shown, shown


def test_late_changes_are_decided_one_by_one_by_their_names(pair):
    anna, bert, job, _ = pair
    bert_writes_while_anna_removes_the_job(anna, bert, job)
    waiting = late(anna, job)
    short = ok(anna.muster("job", "late", job)).split()[0]
    assert "No late change is called" in refused(anna, job, "--accept", "0000:1", code=65)
    refused(anna, job, "--accept", waiting["Chair"], "nobody:7", code=65)
    refused(anna, job, "--drop", waiting["Chair"].split(":")[0], "--yes", code=65)
    refused(anna, job, "--accept", waiting["Chair"], "--drop", waiting["Table"], code=64)
    refused(anna, job, "--drop", waiting["Table"], code=64)
    for wrong in ("0" * 32 + ":1", "nonsense"):
        for decision in ("accept", "drop"):
            body = {"changes": [waiting["Chair"], wrong]}
            assert anna.ask("POST", f"/v1/jobs/{job}/late/{decision}", body)[0] == 404
    assert late(anna, job) == waiting and rescued(anna) == [], "one wrong name, and nothing is decided"

    assert 'Accepted 1 late change into the job "Elm Street (late)" (' in ok(anna.muster("job", "late", job, "--accept", short))
    assert rescued(anna) == [["Chair"]], "the first line names the first change"
    meet(anna, bert, job)
    for laptop in (anna, bert):
        assert late(laptop, job) == {"Table": waiting["Table"]}
    assert "Dropped 1 late change" in ok(bert.muster("job", "late", job, "--drop", waiting["Table"], "--yes"))
    meet(anna, bert, job)
    for laptop in (anna, bert):
        wait_until(lambda: rescued(laptop) == [["Chair"]], PATIENCE_SECONDS, f"{laptop.name} has the new job")
        assert late(laptop, job) == {} and laptop.items(job) == {}
        assert [entry["name"] for entry in laptop.get("/v1/jobs")] == ["Elm Street (late)"]
    refused(anna, job, "--accept", waiting["Table"], code=65)
    refused(anna, job, "--accept", "all", code=65)


@pytest.mark.parametrize("decision", ["accept", "drop"])
def test_all_late_changes_are_decided_at_once(pair, decision):
    anna, bert, job, _ = pair
    bert_writes_while_anna_removes_the_job(anna, bert, job)
    if decision == "accept":
        assert 'Accepted 2 late changes into the job "Elm Street (late)" (' in ok(anna.muster("job", "late", job, "--accept", "all"))
    else:
        refused(anna, job, "--drop", "all", code=64)
        assert "Dropped 2 late changes" in ok(anna.muster("job", "late", job, "--drop", "all", "--yes"))
    expected = [["Chair", "Table"]] if decision == "accept" else []
    for laptop in (anna, bert):
        wait_until(lambda: late(laptop, job) == {}, PATIENCE_SECONDS, f"{laptop.name} has heard of it")
        wait_until(lambda: rescued(laptop) == expected, PATIENCE_SECONDS, f"{laptop.name} has the new job")
    if decision == "accept":
        (entry,) = anna.get("/v1/jobs")
        log = bert.get(f"/v1/jobs/{entry['id']}/log")
        assert {change["by"] for change in log if named(change) in ("Chair", "Table")} == {bert.replica()}
    # The name is free for a new job, which everybody gets.
    again = bert.create_job("Elm Street")
    wait_until(lambda: again in {entry["id"] for entry in anna.get("/v1/jobs")}, PATIENCE_SECONDS, "anna has the new job")


def test_two_remove_a_job_knowing_different_amounts_and_what_neither_knew_is_decided_change_by_change(build_directory):
    with Solos(build_directory) as solos:
        anna, bert, carl = crew = [solos(name) for name in ("anna", "bert", "carl")]
        anna.start()
        bert.start("--peer", anna.address)
        carl.start("--peer", anna.address)
        job = anna.create_job("Elm Street")
        for member in crew:
            wait_until(lambda: member.vector(job), PATIENCE_SECONDS, f"{member.name} has the job")
            member.add(job, name=f"Sofa of {member.name}")
        wait_until(lambda: all(len(member.items(job)) == 3 for member in crew), PATIENCE_SECONDS, "all have all")
        wait_agreed(crew, job)
        for member in crew:
            member.stop()
        carl.start()
        carl.add(job, name="r2")
        # Bert hears of the first one, and of nothing later.
        bert.start("--peer", carl.address)
        wait_until(lambda: "r2" in names(bert, job), PATIENCE_SECONDS, "bert has r2")
        wait_agreed((bert, carl), job)
        bert.stop()
        for name in ("r3", "r4"):
            carl.add(job, name=name)
        bert.start()
        anna.start()
        for remover in (anna, bert):
            assert ("r2" in names(remover, job)) == (remover is bert) and "r3" not in names(remover, job)
            ok(remover.muster("job", "remove", job, "--yes"))
        for member in (bert, carl):
            member.make("/v1/peers", {"address": anna.address})
        wait_until(lambda: len({str(member.vector(job)) for member in crew}) == 1, PATIENCE_SECONDS, "the same journals")
        waiting = late(anna, job)
        assert sorted(waiting) == ["r3", "r4"], "what one of the removers knew is not late"
        assert all(late(member, job) == waiting for member in crew)
        accepted = bert.make(f"/v1/jobs/{job}/late/accept", {"changes": [waiting["r3"]]})
        assert accepted["changes"] == 1
        for member in crew:
            left = {"r4": waiting["r4"]}
            wait_until(lambda: late(member, job) == left, PATIENCE_SECONDS, f"{member.name} lists the other one still")
            wait_until(lambda: names(member, accepted["newJob"]) == ["r3"], PATIENCE_SECONDS, f"{member.name} has r3")
        assert anna.make(f"/v1/jobs/{job}/late/accept", {"changes": [waiting["r4"]]})["newJob"] == accepted["newJob"]
        for member in crew:
            both = ["r3", "r4"]
            wait_until(lambda: names(member, accepted["newJob"]) == both, PATIENCE_SECONDS, f"{member.name} has both")
            wait_until(lambda: late(member, job) == {}, PATIENCE_SECONDS, f"{member.name} has nothing left to decide")


def test_what_a_removed_item_was_can_be_read_and_restored_on_another_laptop(pair):
    anna, bert, job, sofa = pair
    anna.make(f"/v1/jobs/{job}/items/{sofa}/notes", {"text": "scratch on the left arm"})
    assert anna.ask("DELETE", f"/v1/jobs/{job}/items/{sofa}")[0] == 200
    meet(anna, bert, job)
    assert names(bert, job) == ["Lamp"] and sofa not in ok(bert.muster("item", "list", job))
    shown = ok(bert.muster("item", "show", job, sofa))
    assert "removed" in shown and "Sofa" in shown and "scratch on the left arm" in shown
    log = ok(bert.muster("job", "log", job, "--json"))
    assert "scratch on the left arm" in log and "Sofa" in log
    restored = ok(bert.muster("item", "restore", job, sofa)).strip()
    wait_until(lambda: restored in anna.items(job), PATIENCE_SECONDS, "anna has the new item")
    assert names(anna, job) == ["Lamp", "Sofa"] and sofa not in anna.items(job)
    assert "scratch on the left arm" in ok(anna.muster("item", "show", job, restored))


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
    ok(anna.muster("item", "remove", job, "--where", "room=Hall", "--yes"))
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
        ("job", "late", ""),
        ("job", "late", "JOB", "--accept", ""),
        ("job", "late", "JOB", "--drop", "", "--yes"),
        ("item", "remove", "JOB", ""),
        ("item", "remove", "", "--where", "room=Hall"),
        ("item", "show", "JOB", ""),
    ],
    ids=lambda arguments: " ".join(word or "nothing" for word in arguments),
)
def test_an_empty_name_chooses_nothing(pair, arguments):
    """As a script gives it whose variable is not set. Every id begins with nothing, also that of the only late change."""
    anna, bert, job, _ = pair
    if "late" in arguments:
        bert_writes_while_anna_removes_the_job(anna, bert, job)
    before = anna.vector(job)
    refused = anna.muster(*[job if word == "JOB" else word for word in arguments])
    assert refused.returncode == 64, refused
    assert refused.stderr.startswith(("muster: Name the", "muster: Say wh")), refused.stderr
    assert anna.vector(job) == before
