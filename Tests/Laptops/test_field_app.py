"""A field application against real daemons: the example of the repository, and what its retries rest on."""

import http.client
import json
import os
import sqlite3
import subprocess
import sys
import threading
import uuid

from lab import UnixConnection, wait_until
from solo import PATIENCE_SECONDS, wait_agreed

PROGRAM = os.path.normpath(
    os.path.join(os.path.dirname(__file__), "..", "..", "Examples", "field-app", "field-app.py")
)
SOFA = "2000000000091"
KILLS = 8


class App:
    """The example, with somebody who types and reads."""

    def __init__(self, daemon, job):
        self._process = subprocess.Popen(
            [sys.executable, PROGRAM, job, "--socket", daemon.socket],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.append(line.rstrip("\n"))

    def type(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def wait(self, text, count=1):
        """Until so many lines have the text in them."""
        wait_until(lambda: len(self.all(text)) >= count, PATIENCE_SECONDS, f"the app says {text!r}: {self._lines}")

    def all(self, text):
        return [line for line in self._lines if text in line]

    def end(self):
        self._process.stdin.close()
        assert self._process.wait(PATIENCE_SECONDS) == 0


def send(daemon, method, path, body=None, **headers):
    """The status, the answer and its headers."""
    connection = UnixConnection(daemon.socket)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None, answer.headers
    finally:
        connection.close()


def test_an_application_scans_edits_and_hears_of_others_while_its_daemon_comes_and_goes(solos):
    anna, bert = solos("anna").start(), solos("bert").start()
    job = anna.create_job("Elm Street 4")
    app = App(anna, "Elm Street 4")
    app.wait("Elm Street 4, 0 items")
    app.type(f"{SOFA} name=Sofa room=Hall")
    app.wait("* anna added Sofa: barcode=")
    app.type(f"{SOFA} room=Den")
    app.wait("* anna changed Sofa: room=Den")
    app.type(f"note {SOFA} torn at the back")
    app.wait("* anna noted Sofa: torn at the back")
    app.type(f"{SOFA} room=")
    app.wait("* anna changed Sofa: room=", 2)
    for slip in ("note b1 it's broken", f"{SOFA} foo", "note"):
        app.type(slip)
    app.wait("not understood", 3)
    (item,) = anna.items(job).values()
    assert item["fields"] == {"barcode": SOFA, "name": "Sofa", "room": ""} and item["notes"] == ["torn at the back"]

    # What another laptop does is told, and that it is there.
    anna.make("/v1/peers", {"address": bert.address})
    app.wait("* bert is connected")
    wait_agreed([anna, bert], job)
    status, _ = bert.ask("PATCH", f"/v1/jobs/{job}/items/{item['id']}", {"fields": {"room": "Attic"}})
    assert status == 200
    app.wait("* bert changed Sofa: room=Attic")

    # A scan into a daemon that is not there waits for it, and is one item.
    anna.kill()
    app.type("7 name=Lamp")
    app.wait("Waiting for the daemon at ")
    anna.start()
    app.wait("7: ")
    app.wait("* something may have happened meanwhile")
    barcodes = sorted(item["fields"]["barcode"] for item in anna.items(job).values())
    assert barcodes == [SOFA, "7"]
    app.type("7 quantity=2")
    app.wait("* anna changed Lamp: quantity=2")
    anna.make(f"/v1/jobs/{job}/state", {"state": "dispatched"})
    app.wait("* advance to dispatched: behind")
    # Each thing was told once.
    for text in ("added Sofa", "room=Den", "noted Sofa", "room=Attic", "quantity=2"):
        assert len([line for line in app.all(text) if line.startswith("*")]) == 1, app.all(text)
    app.end()


def test_a_request_whose_answer_a_kill_has_cut_off_is_answered_by_the_journal(solos):
    anna = solos("anna").start()
    job = anna.create_job()
    requests = {
        "item": ("POST", f"/v1/jobs/{job}/items", {"fields": {"name": "Sofa"}}),
        "job": ("POST", "/v1/jobs", {"name": "Oak Street 7"}),
        "state": ("POST", f"/v1/jobs/{job}/state", {"state": "dispatched"}),
    }
    first = {name: send(anna, *request, **{"Idempotency-Key": name})[:2] for name, request in requests.items()}
    assert [status for status, _ in first.values()] == [201, 201, 202]
    anna.kill()
    # What is durable before the answer is kept: the kill came in between.
    database = sqlite3.connect(anna.store)
    assert database.execute("UPDATE answer SET status = NULL, body = NULL, tag = NULL").rowcount == 3
    database.commit()
    database.close()
    anna.start()
    for _ in range(2):
        again = {name: send(anna, *request, **{"Idempotency-Key": name})[:2] for name, request in requests.items()}
        assert again == first
    assert len(anna.items(job)) == 1
    assert len(anna.get("/v1/jobs")) == 2
    assert [entry["token"] for entry in anna.get("/v1/queue")] == first["state"][1]["tokens"]
    status, problem, _ = send(
        anna, "POST", f"/v1/jobs/{job}/items", {"fields": {"name": "Rug"}}, **{"Idempotency-Key": "item"}
    )
    assert (status, problem["code"]) == (422, "keyReused")


def test_who_asks_again_until_it_is_answered_doubles_nothing_however_often_the_daemon_is_killed(solos):
    anna = solos("anna").start()
    job = anna.create_job()
    is_over = threading.Event()
    answered, cut = [], []

    def scan():
        while not is_over.is_set():
            name = str(uuid.uuid4())
            while True:
                try:
                    body = {"fields": {"name": name}}
                    status, answer, _ = send(
                        anna, "POST", f"/v1/jobs/{job}/items", body, **{"Idempotency-Key": name}
                    )
                    if status == 201:
                        answered.append((name, answer["id"]))
                        break
                except (OSError, http.client.HTTPException):
                    cut.append(name)

    scanners = [threading.Thread(target=scan, daemon=True) for _ in range(2)]
    for scanner in scanners:
        scanner.start()
    for _ in range(KILLS):
        before = len(answered)
        wait_until(lambda: len(answered) > before + 20, PATIENCE_SECONDS, "scans go in")
        anna.kill()
        anna.start()
    is_over.set()
    for scanner in scanners:
        scanner.join(PATIENCE_SECONDS)
    assert len(cut) >= KILLS, "kills met requests"
    items = {item["fields"]["name"]: id for id, item in anna.items(job).items()}
    assert len(items) == len(anna.items(job)) == len(answered)
    assert items == dict(answered)


def test_a_quiet_stream_of_events_says_that_it_stands(solos):
    anna = solos("anna").start()
    connection = UnixConnection(anna.socket, 60)
    connection.request("GET", "/v1/events")
    answer = connection.getresponse()
    assert answer.readline() == b": subscribed\n"
    assert answer.readline() == b"\n"
    assert answer.readline() == b": nothing new\n"
    connection.close()
