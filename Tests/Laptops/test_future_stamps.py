"""A peer that stamps in the future: what it writes shows at once and is listed, moves no clock, and yields to the next edit
that has seen it; what it beat without having seen it stays in the conflict list."""

from authors import digest
from clocks import PRECISION_MILLISECONDS, Crew, milliseconds, true_milliseconds, wait_synchronised
from lab import wait_until
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import Stranger, change, delta
from time_server import TimeServer

MOMENT_SECONDS = 1
HOUR_MILLISECONDS = 3_600_000


def test_a_change_from_the_future_shows_at_once_and_yields(build_directory):
    with Crew(build_directory, {"anna": "+0", "bert": "+3h"}) as crew, TimeServer(crew.fleet) as server:
        anna, bert = crew.start("anna", server_url=server.url), crew.start("bert", peers=["anna"])
        wait_synchronised(crew, ["anna"], "server")
        wait_synchronised(crew, ["bert"], "peer")
        both = (anna, bert)
        job = anna.create_job()
        sofa, lamp = anna.add(job, name="Sofa"), anna.add(job, name="Lamp", colour="white")
        wait_until(lambda: lamp in bert.items(job), PATIENCE_SECONDS, "bert has both items")

        # One of them nobody else has said anything of, of the other somebody has.
        stamp = int(true_milliseconds()) + 24 * HOUR_MILLISECONDS
        records = [
            change(bytes.fromhex(item.replace("-", "")), stamp + count << 16, "black")
            for count, item in enumerate((sofa, lamp))
        ]
        liar = Stranger(anna).greet()
        author = liar.author()
        liar.say(delta(job, author, 1, 2, digest(records), b"".join(records)))
        colour = lambda member, item: member.items(job)[item]["fields"].get("colour")
        for member in both:
            wait_until(
                lambda: (colour(member, sofa), colour(member, lamp)) == ("black", "black"), MOMENT_SECONDS,
                f"{member.name} shows it")
        wait_agreed(both, job)
        # No clock has moved, and everybody can see what is wrong with it.
        for member in both:
            clock = member.get("/v1/clock")
            assert abs(milliseconds(clock["time"]) - true_milliseconds()) < PRECISION_MILLISECONDS
            conflicts = member.get(f"/v1/jobs/{job}/conflicts")
            ahead = {(edit["item"], edit["field"]): edit["written"] for edit in conflicts["future"]}
            assert set(ahead) == {(sofa, "colour"), (lamp, "colour")}
            assert ahead[sofa, "colour"]["by"] == author.replica.hex()
            assert abs(milliseconds(ahead[sofa, "colour"]["at"]) - stamp) < 1
            (rivals,) = conflicts["edits"]
            assert (rivals["item"], rivals["winner"]["value"]) == (lamp, "black")
            assert [loser["value"] for loser in rivals["losers"]] == ["white"]
            (work,) = clock["future"]
            assert (work["job"], work["by"], work["changes"]) == (job, author.replica.hex(), 2)
            said = member.muster("doctor").stdout
            assert "2 changes by" in said and "stamped up to 1 day ahead" in said, said
            assert "2 fields stamped later than now" in member.muster("job", "conflicts", job).stdout
            assert "2 changes" in member.muster("clock").stdout

        # Whoever has seen it writes over it, and that stands everywhere.
        assert bert.ask("PATCH", f"/v1/jobs/{job}/items/{lamp}", {"fields": {"colour": "red"}})[0] == 200
        for member in both:
            wait_until(lambda: colour(member, lamp) == "red", MOMENT_SECONDS, f"{member.name} shows what bert wrote")
            assert member.get(f"/v1/jobs/{job}/conflicts")["edits"] == []
            (work,) = member.get("/v1/clock")["future"]
            assert (work["by"], work["changes"]) == (author.replica.hex(), 2), "bert only wrote on top of it"
        # What is written elsewhere has the right time.
        asked = true_milliseconds()
        chair = bert.add(job, name="Chair")
        at = milliseconds(bert.items(job)[chair]["updatedAt"])
        assert asked - PRECISION_MILLISECONDS < at < true_milliseconds() + PRECISION_MILLISECONDS

        # Removed and brought back it has the values that everybody saw, and the time of today.
        assert anna.ask("DELETE", f"/v1/jobs/{job}/items/{sofa}")[0] in (200, 204)
        wait_until(lambda: sofa not in bert.items(job), MOMENT_SECONDS, "it is gone for bert")
        assert bert.muster("item", "restore", job, sofa).returncode == 0
        restored = lambda member: [item for item in member.items(job).values() if item["fields"].get("name") == "Sofa"]
        for member in both:
            wait_until(lambda: restored(member), MOMENT_SECONDS, f"{member.name} has it back")
            (item,) = restored(member)
            assert item["id"] != sofa and item["fields"]["colour"] == "black"
            assert milliseconds(item["updatedAt"]) < true_milliseconds() + PRECISION_MILLISECONDS
            ahead = {edit["item"] for edit in member.get(f"/v1/jobs/{job}/conflicts")["future"]}
            assert ahead == {lamp}, "what is removed is not listed"
        wait_agreed(both, job)
        liar.close()
