"""Tombstones are forgotten when everybody holds them, and nothing that was deleted comes back (rule R10)."""

import sqlite3

from lab import never_during, wait_until
from solo import PATIENCE_SECONDS, wait_agreed

# Joining, two rounds of saying what is held, the fold: each waits for two quiet seconds, and nobody hurries it.
FORGETTING_SECONDS = 60


def crew_of_three(solos):
    anna, bert, cleo = solos("anna"), solos("bert"), solos("cleo")
    bert.start()
    anna.start("--peer", bert.address)
    cleo.start("--peer", bert.address)
    return anna, bert, cleo


def removed(member, job):
    return member.get(f"/v1/jobs/{job}")["removed"]


def journal_bytes(member):
    database = sqlite3.connect(f"file:{member.store}?mode=ro", uri=True)
    try:
        return database.execute("SELECT sum(length(bytes)) FROM segment").fetchone()[0]
    finally:
        database.close()


def test_what_all_hold_is_forgotten_on_all_and_a_newcomer_sees_nothing_of_it(solos):
    crew = anna, bert, cleo = crew_of_three(solos)
    job = anna.create_job()
    doomed = [anna.add(job, name=f"Box {number}", condition="x" * 500) for number in range(10)]
    kept = anna.add(job, name="Piano")
    wait_agreed(crew, job)
    full_bytes = max(journal_bytes(member) for member in crew)
    for number, item in enumerate(doomed):
        crew[number % 3].make(f"/v1/jobs/{job}/removals", {"items": [item]})
    wait_agreed(crew, job)
    wait_until(
        lambda: all(removed(member, job) == 0 for member in crew), FORGETTING_SECONDS, "all three forget the tombstones"
    )
    wait_agreed(crew, job)
    for member in crew:
        assert set(member.items(job)) == {kept}
        assert journal_bytes(member) < full_bytes / 4, "the journals under the tombstones are gone, too"

    newcomer = solos("dora").start("--peer", anna.address)
    wait_agreed((*crew, newcomer), job)
    assert set(newcomer.items(job)) == {kept} and removed(newcomer, job) == 0
    assert journal_bytes(newcomer) < full_bytes / 4
    assert newcomer.muster("job", "check", job).returncode == 0


def test_one_who_is_away_stops_the_forgetting_until_it_is_back_or_taken_off_the_roster(solos):
    crew = anna, bert, cleo = crew_of_three(solos)
    job = anna.create_job()
    item = anna.add(job, name="Box")
    kept = anna.add(job, name="Piano")
    wait_agreed(crew, job)
    members = wait_until(
        lambda: len(found := anna.get(f"/v1/jobs/{job}/roster")) == 3 and found, PATIENCE_SECONDS, "all take part"
    )
    wait_agreed(crew, job)
    lost = cleo.replica()
    assert lost in {member["replicaID"] for member in members}
    cleo.stop()
    anna.make(f"/v1/jobs/{job}/removals", {"items": [item]})
    wait_agreed((anna, bert), job)
    never_during(lambda: removed(anna, job) == 0, 12, "forgotten although cleo does not hold it")

    status, answer = anna.ask("DELETE", f"/v1/jobs/{job}/roster/{lost}?confirmed=true")
    assert status == 200, answer
    wait_until(
        lambda: removed(anna, job) == 0 and removed(bert, job) == 0, FORGETTING_SECONDS, "cleo is no longer waited for"
    )
    # Meanwhile cleo, in a truck, has worked on what the others have forgotten.
    cleo.start("--peer", "127.0.0.1:9")
    status, _ = cleo.ask("PATCH", f"/v1/jobs/{job}/items/{item}", {"fields": {"room": "Attic"}})
    assert status == 200, "the work on the forgotten item really happened"
    cleo.stop()
    cleo.start("--peer", bert.address)
    wait_agreed(crew, job)
    for member in crew:
        assert set(member.items(job)) == {kept}, f"nothing that was deleted is back on {member.name}"
        late = member.get(f"/v1/jobs/{job}/late")
        assert item in str(late), f"{member.name} lists cleo's work"
    decisions = [entry["note"] for entry in anna.get(f"/v1/jobs/{job}/log") if entry["action"] == "decided"]
    assert decisions == ["took cleo off the roster"]
