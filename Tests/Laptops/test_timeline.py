"""One order everywhere (rule R7): whoever has the same changes prints the same timeline, with wrong clocks and with a
server that only one laptop meets."""

import json
import time

from authors import CHANNEL, digest
from clocks import Crew
from lab import wait_until
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import Member, Stranger, change, delta

JOB_ITEM = bytes(16)


class Office:
    """The server, as far as the timeline goes: it writes its own journal of the job, the channel, and gives it to one
    laptop as a peer would."""

    def __init__(self, laptop, job):
        self._stranger = Stranger(laptop).greet(name="office")
        self._job = job
        self._author = Member(laptop.fleet, role="server").server()
        self._records = []

    def order(self, text, stamp_milliseconds):
        """Writes the next entry; its sequence is the ordering id."""
        record = change(JOB_ITEM, stamp_milliseconds << 16, text)
        self._records.append(record)
        count = len(self._records)
        assert self._stranger.say(delta(self._job, self._author, count, count, digest(self._records), record))
        return count


def log(laptop, job):
    """What `muster job log --json` prints, byte for byte."""
    output = laptop.muster("job", "log", job, "--json")
    assert output.returncode == 0, output.stderr
    return output.stdout


def entries(text):
    return json.loads(text)


def names(text):
    """The entries of a log by what makes each the one that it is."""
    return [(entry["by"], entry["sequence"]) for entry in entries(text)]


def test_three_laptops_of_which_two_never_meet_the_server_print_one_timeline(build_directory):
    with Crew(build_directory, {"anna": "+3h", "bert": "+0", "cleo": "-2d"}) as laptops:
        bert, anna, cleo = (laptops.start("bert"), laptops.start("anna", ["bert"]), laptops.start("cleo", ["bert"]))
        print_one_timeline(anna, bert, cleo)


def print_one_timeline(anna, *others):
    crew = (anna, *others)
    job = anna.create_job()
    item = anna.add(job, name="Piano", barcode="P-1")
    wait_agreed(crew, job)
    office = Office(anna, job)
    seen = []

    def all_print_the_same():
        wait_agreed(crew, job)
        vectors = [member.vector(job) for member in crew]
        assert vectors[0] == vectors[1] == vectors[2], "a common version vector"
        logs = [log(member, job) for member in crew]
        assert logs[0] == logs[1] == logs[2]
        now = names(logs[0])
        assert [name for name in now if name in seen] == seen, "what was printed once keeps its order"
        seen[:] = now
        return entries(logs[0])

    for number in range(1, 4):
        # The office's clock is a year off as well: its ids decide, not its time.
        ordered = office.order(f"order {number}", 1_600_000_000_000 + (3 - number) * 86_400_000)
        wait_until(
            lambda: all(member.vector(job).get(CHANNEL.hex(), 0) >= ordered for member in crew),
            PATIENCE_SECONDS,
            "the order reaches all three through one",
        )
        for member in crew:
            status, _ = member.ask("PATCH", f"/v1/jobs/{job}/items/{item}", {"fields": {"room": f"{member.name} {number}"}})
            assert status == 200
            member.make(f"/v1/jobs/{job}/items/{item}/notes", {"text": f"{member.name} {number}"})
            all_print_the_same()

    timeline = all_print_the_same()
    anchors = [entry["anchor"] for entry in timeline]
    assert anchors == sorted(anchors), "the server's order comes first"
    channel = [entry for entry in timeline if entry["by"] == CHANNEL.hex()]
    assert [entry["sequence"] for entry in channel] == [1, 2, 3]
    assert [entry["at"] for entry in channel] == sorted((entry["at"] for entry in channel), reverse=True), (
        "the office's clock went backwards, and nobody minded"
    )
    for order in channel:
        after = timeline[timeline.index(order) + 1 :]
        assert all(entry["anchor"] >= order["anchor"] for entry in after)
    assert sum(entry["anchor"] == 3 for entry in timeline) >= 7, "three laptops wrote under the third order"


def test_a_timeline_that_was_read_before_the_server_was_met_keeps_its_order(build_directory):
    """Two laptops work apart, one with the server and one without; what either printed stays in that order."""
    with Crew(build_directory, {"anna": "+0", "bert": "+1h"}) as laptops:
        work_apart(laptops)


def work_apart(laptops):
    anna = laptops.start("anna")
    bert = laptops.start("bert", ["anna"])
    job = anna.create_job()
    item = anna.add(job, name="Piano")
    wait_agreed((anna, bert), job)
    bert.stop()
    office = Office(anna, job)
    office.order("order 1", int(time.time() * 1_000))
    wait_until(lambda: anna.vector(job).get(CHANNEL.hex()) == 1, PATIENCE_SECONDS, "anna has the order")
    for number in range(3):
        anna.ask("PATCH", f"/v1/jobs/{job}/items/{item}", {"fields": {"room": f"anna {number}"}})
    anna.stop()
    laptops.start("bert")
    for number in range(3):
        bert.ask("PATCH", f"/v1/jobs/{job}/items/{item}", {"fields": {"room": f"bert {number}"}})
    before = {"bert": names(log(bert, job))}
    laptops.start("anna")
    before["anna"] = names(log(anna, job))
    laptops.connect("anna", "bert")
    wait_agreed((anna, bert), job)
    logs = [log(anna, job), log(bert, job)]
    assert logs[0] == logs[1]
    after = names(logs[0])
    for name, order in before.items():
        assert [entry for entry in after if entry in order] == order, f"what {name} printed keeps its order"
    # Bert knew of no order when he wrote: all of his stands before what anna wrote under it, whatever his clock said.
    anchors = [entry["anchor"] for entry in entries(logs[0])]
    assert anchors == sorted(anchors) and anchors[-1] == 1
