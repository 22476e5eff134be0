"""musterd killed under load, over and over: nothing acknowledged is lost, nothing is half there."""

import http.client
import os
import random
import threading
import time

from lab import UnixConnection, wait_until
from solo import PATIENCE_SECONDS, journals, wait_agreed

KILLS = 200
CLIENTS = 4
THOROUGH_EVERY = 20


class Client(threading.Thread):
    """Edits items of its own through the local API, one request after the other, whether or not the daemon is there.

    It knows what must be there: what was acknowledged. What was asked without an answer may be there or not.
    """

    def __init__(self, daemon, job, seed):
        super().__init__(daemon=True)
        self.items = {}
        self.acknowledged = 0
        self.unanswered = 0
        self.refused = []
        self._daemon = daemon
        self._path = f"/v1/jobs/{job}"
        self._random = random.Random(seed)
        self._seed = seed
        self._count = 0
        self._is_over = threading.Event()
        # Held while a request is under way or its outcome is noted.
        self.quiet = threading.Lock()

    def end(self):
        self._is_over.set()
        self.join(PATIENCE_SECONDS)
        assert not self.is_alive()

    def run(self):
        while not self._is_over.is_set():
            connection = UnixConnection(self._daemon.socket)
            try:
                connection.connect()
                while not self._is_over.is_set():
                    with self.quiet:
                        self._edit(connection)
            except OSError:
                # The daemon is not there, or is so no more.
                time.sleep(0.002)
            finally:
                connection.close()

    def _edit(self, connection):
        self._count += 1
        value = f"{self._seed}-{self._count}"
        living = [id for id, item in self.items.items() if item["isThere"] and not item["mayBeGone"]]
        kind = self._random.choices(["add", "set", "note", "remove", "batch"], [4, 5, 2, 1, 1])[0]
        if kind == "batch":
            batch = [{"fields": {"name": f"{value}-{number}", "room": "Attic"}} for number in range(20)]
            answer = self._ask(connection, "POST", "/import", {"items": batch})
            for result, request in zip(answer["results"] if answer else [], batch):
                self._added(result["id"], request["fields"])
        elif kind == "add" or not living:
            fields = {"name": value, "room": "Hall"}
            answer = self._ask(connection, "POST", "/items", {"fields": fields})
            if answer:
                self._added(answer["id"], fields)
        else:
            self._edit_item(connection, kind, self._random.choice(living), value)

    def _edit_item(self, connection, kind, id, value):
        item = self.items[id]
        if kind == "set":
            item["mayBe"].setdefault("name", set()).add(value)
            if self._ask(connection, "PATCH", f"/items/{id}", {"fields": {"name": value}}):
                item["fields"]["name"] = value
                item["mayBe"]["name"] = set()
        elif kind == "note":
            if self._ask(connection, "POST", f"/items/{id}/notes", {"text": value}):
                item["notes"].add(value)
        else:
            item["mayBeGone"] = True
            if self._ask(connection, "DELETE", f"/items/{id}"):
                item["isThere"] = False

    def _added(self, id, fields):
        self.items[id] = {"fields": dict(fields), "mayBe": {}, "notes": set(), "isThere": True, "mayBeGone": False}

    def _ask(self, connection, method, path, body=None):
        """The answer when the daemon has acknowledged the edit."""
        try:
            status, answer = connection.ask(method, self._path + path, body)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.unanswered += 1
            raise OSError from error
        if status not in (200, 201):
            self.refused.append((status, method, path, answer))
            return None
        self.acknowledged += 1
        return answer

    def check(self, held):
        """Everything acknowledged is among the items that a daemon holds."""
        for id, item in self.items.items():
            if not item["isThere"]:
                assert id not in held, f"{id} was removed and is there again"
            elif id not in held:
                assert item["mayBeGone"], f"{id} was acknowledged and is lost"
            else:
                for field, value in item["fields"].items():
                    allowed = {value} | item["mayBe"].get(field, set())
                    assert held[id]["fields"].get(field) in allowed, f"{id}: {field} is lost: {held[id]}, not {allowed}"
                assert item["notes"] <= set(held[id]["notes"]), f"a remark of {id} is lost"


class Neighbour(threading.Thread):
    """Adds items on the daemon that is not killed, so that changes go both ways."""

    def __init__(self, daemon, job):
        super().__init__(daemon=True)
        self.added = []
        self._daemon = daemon
        self._job = job
        self._is_over = threading.Event()

    def run(self):
        while not self._is_over.wait(0.02):
            self.added.append(self._daemon.add(self._job, name=f"of {self._daemon.name} {len(self.added)}"))

    def end(self):
        self._is_over.set()
        self.join(PATIENCE_SECONDS)


def test_killed_two_hundred_times_under_load(solos):
    seed = int(os.environ.get("MUSTER_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"seed {seed} (MUSTER_SEED={seed} repeats the choices)")
    chance = random.Random(seed)
    bert = solos("bert").start()
    anna = solos("anna").start("--peer", bert.address)
    job = anna.create_job()
    wait_agreed([anna, bert], job)
    replicas = sorted([anna.replica(), bert.replica()])
    neighbour = Neighbour(bert, job)
    clients = [Client(anna, job, seed + number) for number in range(CLIENTS)]
    for thread in (neighbour, *clients):
        thread.start()

    kills_in_flight = early_kills = 0
    for kill in range(1, KILLS + 1):
        if chance.random() < 0.2:
            early_kills += 1
            # Sleeps: it is killed while it starts, too.
            time.sleep(chance.uniform(0, 0.06))
        else:
            before = sum(client.acknowledged for client in clients)
            loaded = lambda: sum(client.acknowledged for client in clients) > before
            wait_until(loaded, PATIENCE_SECONDS, f"anna works again after kill {kill - 1}: {anna.log()}")
            # Sleeps: it is killed at another moment each time.
            time.sleep(chance.uniform(0, 0.15))
        unanswered = sum(client.unanswered for client in clients)
        assert anna.program.is_running, f"anna ended by itself: {anna.log()}"
        anna.kill()
        held = journals(anna)
        for client in clients:
            client.quiet.acquire()
        kills_in_flight += sum(client.unanswered for client in clients) > unanswered
        if kill % THOROUGH_EVERY == 0:
            anna.start("--peer", bert.address)
            for client in clients:
                client.check(anna.items(job))
        else:
            anna.launch("--peer", bert.address)
        for client in clients:
            client.quiet.release()
        assert {replica for _, replica in held} <= set(replicas), "a crash makes no new replica"

    for thread in (*clients, neighbour):
        thread.end()
    wait_until(lambda: anna.connected() == ["bert"], PATIENCE_SECONDS, "anna is connected to bert again")
    wait_until(lambda: anna.vector(job) == bert.vector(job), PATIENCE_SECONDS, "both hold the same journals")
    wait_agreed([anna, bert], job)
    check = anna.get(f"/v1/jobs/{job}/check")
    assert check["isSame"] and len(check["devices"]) == 1, check
    for daemon in (anna, bert):
        held = daemon.items(job)
        for client in clients:
            client.check(held)
        assert set(neighbour.added) <= set(held)
    assert sorted(anna.vector(job)) == replicas, "a crash is no reason to become a new replica"
    assert anna.get(f"/v1/jobs/{job}/export") == bert.get(f"/v1/jobs/{job}/export")

    assert anna.stop() == 0 and bert.stop() == 0
    assert journals(anna) == journals(bert), "no journal is forked"
    acknowledged = sum(client.acknowledged for client in clients)
    unanswered = sum(client.unanswered for client in clients)
    print(f"{KILLS} kills, {kills_in_flight} of them with requests under way, {early_kills} early; {acknowledged}")
    print(f"requests acknowledged, {unanswered} died unanswered; bert added {len(neighbour.added)} items")
    assert kills_in_flight > KILLS / 2 and unanswered > KILLS / 2, "the kills hit requests that were under way"
    assert early_kills > 0 and acknowledged > KILLS
    refused = [refusal for client in clients for refusal in client.refused]
    assert all(status == 409 for status, *_ in refused), refused[:3]
