"""muster-channel killed under load, over and over: nothing that it answered for is lost, nothing happens twice."""

import http.client
import os
import random
import threading
import time

import asking
import pytest
from asking import mutation, token_of
from lab import shared_fleet, wait_at_rest, wait_until
from office import Journal, Office
from solo import PATIENCE_SECONDS, journals

KILLS = 60
LAPTOPS = 4


@pytest.fixture
def office(build_directory):
    with Office(build_directory) as office:
        yield office.join(shared_fleet(build_directory))


class Laptop(threading.Thread):
    """Delivers requests of one lane, some together, and uploads its journal, one after the other, whether or not the
    server is there.

    What has no answer is sent again, with the same token and the same bytes.
    """

    def __init__(self, office, number):
        super().__init__(daemon=True)
        self.job = f"job-{number}"
        self.outcomes = []
        self.uploaded = 0
        self.answered = 0
        self.unanswered = 0
        self.odd = []
        # How many of those that were sent together have no answer.
        self.unsettled = 0
        self.journal = Journal(self.job, office.author())
        self._office = office
        self._chance = random.Random(number)
        self._is_over = threading.Event()

    def end(self):
        self._is_over.set()
        self.join(PATIENCE_SECONDS)
        assert not self.is_alive()

    def run(self):
        state = None
        while not self._is_over.is_set():
            states = []
            for _ in range(self._chance.randint(1, 5)):
                state = "inProgress" if state == "awaitingSignature" else self._next(state)
                states.append(state)
            self._deliver(states)
            run = self.journal.add(f"Box {self.journal.sequence}", f"Lamp {self.journal.sequence}")
            answer = self._insist("POST", f"/v1/jobs/{self.job}/journals", run)
            if answer:
                held = {entry["replica"]: entry["sequence"] for entry in answer["entries"]}
                assert held[self.journal.replica] == self.journal.sequence
                self.uploaded = self.journal.sequence

    @staticmethod
    def _next(state):
        order = [None, "scheduled", "dispatched", "inProgress", "awaitingSignature"]
        return order[order.index(state) + 1]

    def _deliver(self, states):
        mutations = []
        after = self.outcomes[-1][0] if self.outcomes else None
        for state in states:
            opens = state == "scheduled"
            asked = {"kind": "openJob" if opens else "advanceState", "lane": "state", "after": after}
            payload = {"name": self.job} if opens else {"state": state}
            key = self._office.member.key
            mutations.append(mutation(key, self.job, token_of(key), payload=payload, **asked))
            after = mutations[-1]["token"]
        self.unsettled = len(mutations)
        answer = self._insist("POST", "/v1/mutations", asking.mutations(self._office.member, *mutations))
        if answer:
            decisions = answer["decisions"]
            assert [one["token"] for one in decisions] == [one["token"] for one in mutations]
            self.outcomes += [(one["token"], one["verdict"], state) for one, state in zip(decisions, states)]
            self.unsettled = 0

    def _insist(self, method, path, body):
        """The answer, however often the server goes away before it; None when the test is over first."""
        while not self._is_over.is_set():
            connection = self._office.connect()
            try:
                status, answer = connection.ask(method, path, body)
                self.answered += 1
                if status == 200:
                    return answer
                self.odd.append((status, path, answer))
            except (OSError, http.client.HTTPException, ValueError):
                self.unanswered += 1
                time.sleep(0.002)
            finally:
                connection.close()


def test_killed_under_load(office):
    seed = int(os.environ.get("MUSTER_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"seed {seed} (MUSTER_SEED={seed} repeats the choices)")
    chance = random.Random(seed)
    office.start()
    laptops = [Laptop(office, number) for number in range(LAPTOPS)]
    for laptop in laptops:
        laptop.start()
    in_flight = 0
    for _ in range(KILLS):
        answered = sum(laptop.answered for laptop in laptops)
        wait_until(lambda: sum(laptop.answered for laptop in laptops) > answered, PATIENCE_SECONDS, office.log())
        # Sleeps: it is killed at another moment each time.
        time.sleep(chance.uniform(0, 0.1))
        unanswered = sum(laptop.unanswered for laptop in laptops)
        assert office.program.is_running, f"the server ended by itself: {office.log()}"
        office.program.kill()
        journals(office)
        in_flight += sum(laptop.unanswered for laptop in laptops) > unanswered
        office.launch()
    wait_until(office.answers, PATIENCE_SECONDS, "the server answers again")
    for laptop in laptops:
        laptop.end()
        assert not laptop.odd, laptop.odd[:3]
        check(office, laptop)
    assert office.program.stop(PATIENCE_SECONDS) == 0
    journals(office)
    decided = sum(len(laptop.outcomes) for laptop in laptops)
    print(f"{KILLS} kills, {in_flight} of them with requests under way; {decided} requests decided")
    assert in_flight > KILLS / 2 and decided > KILLS


def check(office, laptop):
    """The channel has each outcome that was answered, once and in the order of its lane, and each effect once."""
    entries = office.channel(laptop.job)
    following = 1
    for entry in entries:
        assert entry["id"] == following, "the ordering ids have no gap"
        following = entry["last"] + 1
    outcomes = [(outcome["token"], outcome["verdict"]) for entry in entries for outcome in entry["outcomes"]]
    assert len({token for token, _ in outcomes}) == len(outcomes), "a token has one outcome"
    assert outcomes[: len(laptop.outcomes)] == [(token, verdict) for token, verdict, _ in laptop.outcomes]
    unanswered = len(outcomes) - len(laptop.outcomes)
    assert unanswered in (0, laptop.unsettled), "only the last list may have died unanswered, and is decided as a whole"
    assert {verdict for _, verdict in outcomes} == {"accepted"}
    effects = [entry["published"]["state"] for entry in entries if "state" in entry["published"]]
    assert effects[: len(laptop.outcomes)] == [state for *_, state in laptop.outcomes], "each effect once, in order"
    assert len(effects) == len(outcomes)
    held = {entry["replica"]: entry["sequence"] for entry in office.get(f"/v1/jobs/{laptop.job}/vector")["entries"]}
    assert held[laptop.journal.replica] >= laptop.uploaded > 0
    job = office.get(f"/v1/jobs/{laptop.job}")
    assert job["items"] == held[laptop.journal.replica] and job["state"] == effects[-1]


def test_stops_gracefully(office):
    """Whoever waits is answered, what has begun is finished."""
    office.start()
    opening = {"lane": "state", "kind": "openJob", "payload": {"name": "Jones"}}
    assert office.mutate("j", 0, **opening)[0] == 200
    head = office.get("/v1/jobs/j/channel")["head"]
    paths = [f"/v1/jobs/j/channel?after={head}&wait=60", f"/v1/jobs?since={office.get('/v1/jobs')['cursor']}&wait=60"]
    polls = [(office.connect(), path) for path in paths * 10]
    for connection, path in polls:
        connection.send_request("GET", path)
    wait_at_rest(office.program, PATIENCE_SECONDS, "all of them wait")
    since = time.monotonic()
    assert office.program.stop(PATIENCE_SECONDS) == 0
    assert time.monotonic() - since < 5
    assert [connection.answer()[0] for connection, _ in polls] == [200] * 20
    assert "stopped" in office.log()
