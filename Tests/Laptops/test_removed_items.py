"""What a person hears who removes items and brings them back, typed as it was printed."""

import json
import re
import shlex

import pytest
from lab import wait_until
from screen import Screen
from solo import PATIENCE_SECONDS, Solos, wait_agreed

REFUSED, WRONG = 64, 65
JOB = "Smith's house, 12 \"Elm\" $t"


@pytest.fixture
def anna(build_directory):
    with Solos(build_directory) as solos:
        yield solos("anna").start()


def ok(done):
    assert done.returncode == 0, done
    return done.stdout


def ids(daemon, job):
    return set(daemon.items(job))


def add(daemon, job, barcode, name):
    return daemon.add(job, barcode=barcode, name=name, room="Garage")


def command(output):
    """What was printed to be typed, as a shell reads it; without the program's name."""
    (line,) = [line for line in output.splitlines() if line.startswith("muster ")]
    return shlex.split(line)[1:]


def test_a_removal_says_what_went_and_its_command_brings_it_back(anna):
    job = anna.create_job(JOB)
    sofa = add(anna, job, "2000000000091", "Sofa")
    removed = ok(anna.muster("item", "remove", JOB, "2000000000091"))
    assert "Sofa" in removed and "2000000000091" in removed and ids(anna, job) == set()
    restore = command(removed)
    assert restore == ["item", "restore", JOB, "2000000000091"]
    back = ok(anna.muster(*restore)).strip()
    assert ids(anna, job) == {back} and back != sofa
    # The same line again, from the history of the shell.
    vector = anna.vector(job)
    for name in ("2000000000091", sofa, sofa[:18]):
        again = anna.muster("item", "restore", JOB, name)
        assert ok(again).strip() == back and "was back already" in again.stderr, again
    told = json.loads(ok(anna.muster("item", "restore", JOB, sofa, "--json")))
    assert told == {"restored": [{"id": back, "replaces": sofa, "isNew": False}]}
    assert anna.vector(job) == vector, "nothing was written"
    never = anna.add(job, name="Lamp")
    refused = anna.muster("item", "restore", JOB, never)
    assert refused.returncode == WRONG and "is not removed" in refused.stderr


def test_several_are_asked_for_and_come_back_together(anna):
    job = anna.create_job(JOB)
    add(anna, job, "1", "Sofa")
    twins = [add(anna, job, "2", "Vase"), add(anna, job, "2", "Jug")]
    anna.add(job, name="Lamp", room="Hall")
    everything = ids(anna, job)
    # Without a terminal it wants --yes.
    remove = ("item", "remove", JOB, "--where", "room=Garage")
    refused = anna.muster(*remove)
    assert refused.returncode == REFUSED and "--yes" in refused.stderr and refused.stdout == ""
    for words in ("3 of the 4 items", "Sofa (1)", "Vase (2)", "Jug (2)"):
        assert words in refused.stderr, refused
    assert ids(anna, job) == everything
    # At a terminal a person is asked, and may say no.
    for answer, code in (("n\n", 1), ("y\n", 0)):
        with Screen(anna, *remove) as screen:
            asked = screen.read_until("Remove them? [y/N] ")
            assert "3 of the 4 items" in " ".join(asked.split()) and "Jug (2)" in asked
            screen.type(answer)
            assert screen.wait() == code
            assert len(ids(anna, job)) == (4 if code else 1)
            shown = screen.shown
    # Nobody else has the barcode 1; of the twins each is named by its id.
    (line,) = [line for line in shown.splitlines() if line.startswith("muster item restore ")]
    restore = shlex.split(line)[1:]
    assert restore[:3] == ["item", "restore", JOB] and sorted(restore[3:]) == sorted(["1", *twins])
    # The barcode alone is of two.
    refused = anna.muster("item", "restore", JOB, "2")
    assert refused.returncode == WRONG, refused
    offered = re.findall(r"(\w+) \(\w+, removed", refused.stderr)
    ends = [twin.replace("-", "").endswith(short) for twin in twins for short in offered]
    assert len(offered) == 2 and sum(ends) == 2, refused
    assert "Vase" in refused.stderr and "Jug" in refused.stderr and len(refused.stderr.splitlines()) == 1
    ok(anna.muster(*restore))
    names = sorted(item["fields"]["name"] for item in anna.items(job).values())
    assert names == ["Jug", "Lamp", "Sofa", "Vase"]
    assert anna.get(f"/v1/jobs/{job}")["removed"] == 3


def test_scripts_get_one_form_however_many_there_are(anna):
    job = anna.create_job("Elm")
    items = [add(anna, job, str(number), f"Box {number}") for number in range(4)]
    one = json.loads(ok(anna.muster("item", "remove", "Elm", items[0], "--json")))
    more = json.loads(ok(anna.muster("item", "remove", "Elm", *items[1:3], "--yes", "--json")))
    none = json.loads(ok(anna.muster("item", "remove", "Elm", "--where", "room=Attic", "--json")))
    assert one == {
        "removed": items[:1],
        "items": [{"id": items[0], "name": "Box 0", "barcode": "0", "reference": "0"}],
    }
    assert more["removed"] == sorted(items[1:3]) and len(more["items"]) == 2 and none == {"removed": [], "items": []}
    # One that nobody knows stops it, and what came before is back, and told.
    done = anna.muster("item", "restore", "Elm", items[0], "nobody", "--json")
    assert done.returncode == WRONG and len(json.loads(done.stdout)["restored"]) == 1
    assert len(ids(anna, job)) == 2


def test_one_that_two_laptops_bring_back_apart_is_one(build_directory):
    with Solos(build_directory) as solos:
        anna, bert = solos("anna").start(), solos("bert")
        bert.start("--peer", anna.address)
        job = anna.create_job("Elm")
        add(anna, job, "7", "Sofa")
        ok(anna.muster("item", "remove", "Elm", "7"))
        wait_until(lambda: bert.vector(job) == anna.vector(job), PATIENCE_SECONDS, "bert has heard of it")
        assert bert.stop() == 0
        bert.start()
        backs = {ok(daemon.muster("item", "restore", "Elm", "7")).strip() for daemon in (anna, bert)}
        bert.make("/v1/peers", {"address": anna.address})
        wait_agreed((anna, bert), job)
        assert len(backs) == 1 and ids(anna, job) == ids(bert, job) == backs
        for daemon in (anna, bert):
            again = daemon.muster("item", "restore", "Elm", "7")
            assert {ok(again).strip()} == backs and "was back already" in again.stderr, again
