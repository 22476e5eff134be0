"""A peer that stamps in the future: what it writes is held, passed on and shown, applied when it is due, and moves no clock."""

import os

from clocks import PRECISION_MILLISECONDS, Crew, milliseconds, true_milliseconds, wait_synchronised
from lab import wait_until
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import Stranger, change, delta, digest
from time_server import TimeServer

TOLERANCE_MILLISECONDS = 300_000


def test_a_change_from_the_future_waits_for_its_time(build_directory):
    with Crew(build_directory, {"anna": "+0", "bert": "+3h"}) as crew, TimeServer() as server:
        anna, bert = crew.start("anna", server_url=server.url), crew.start("bert", peers=["anna"])
        wait_synchronised(crew, ["anna"], "server")
        wait_synchronised(crew, ["bert"], "peer")
        job = anna.create_job()
        soon, later = anna.add(job, name="Sofa"), anna.add(job, name="Lamp")
        wait_until(lambda: later in bert.items(job), PATIENCE_SECONDS, "bert has both items")

        now = true_milliseconds()
        due = now + 4_000
        stamps = {"now": now, "soon": due + TOLERANCE_MILLISECONDS, "later": now + 3_600_000}
        of = {"now": later, "soon": soon, "later": later}
        records = [
            change(bytes.fromhex(of[colour].replace("-", "")), int(stamp) << 16, colour)
            for colour, stamp in stamps.items()
        ]
        replica = os.urandom(16)
        liar = Stranger(anna).greet()
        liar.say(delta(job, replica, 1, 3, digest(records), b"".join(records)))
        held = lambda name: {change["item"]: change for change in crew.clock(name)["held"]}
        wait_until(
            lambda: (bert.vector(job) or {}).get(replica.hex()) == 3, PATIENCE_SECONDS, "anna passes all of it on")
        colour = lambda member, item: member.items(job)[item]["fields"].get("colour")
        for name in ("anna", "bert"):
            assert set(held(name)) == {soon, later}, name
            assert held(name)[later]["by"] == replica.hex()
            assert abs(milliseconds(held(name)[later]["at"]) - stamps["later"]) < 1
            assert abs(milliseconds(held(name)[soon]["dueAt"]) - due) < 2
            assert (colour(crew[name], later), colour(crew[name], soon)) == ("now", None)
            assert "2 changes from the future" in crew[name].muster("clock").stdout
            assert "2 changes from the future" in crew[name].muster("doctor").stdout
        # No clock has moved, and what is written now wins until then.
        asked = true_milliseconds()
        for name in ("anna", "bert"):
            assert abs(milliseconds(crew.clock(name)["time"]) - true_milliseconds()) < PRECISION_MILLISECONDS
        path = f"/v1/jobs/{job}/items/{soon}"
        assert bert.ask("PATCH", path, {"fields": {"colour": "red"}})[0] == 200
        at = milliseconds(bert.get(path)["fieldHistory"]["colour"]["at"])
        assert asked - PRECISION_MILLISECONDS < at < true_milliseconds() + PRECISION_MILLISECONDS
        assert true_milliseconds() < due, "the test was too slow to see what it is about"

        wait_until(lambda: colour(anna, soon) == colour(bert, soon) == "soon", PATIENCE_SECONDS, "its time comes")
        assert true_milliseconds() > due - PRECISION_MILLISECONDS
        assert set(held("anna")) == set(held("bert")) == {later}
        wait_agreed(crew, job)
        liar.close()
