"""Who may ask a daemon through its sockets, and what: by groups, as the kernel sees them."""

import json
import os
import socket
import subprocess
import sys

import pytest
from attacks import assert_kept, kept
from lab import UnixConnection, wait_until
from solo import PATIENCE_SECONDS, Solos, is_freed

# Groups that every Debian has, and that nobody here is in.
WRITERS, READERS = "games", "users"
ASK = """
import http.client, socket, sys
path, method, target, body = sys.argv[1:]
connection = http.client.HTTPConnection("localhost")
connection.sock = socket.socket(socket.AF_UNIX)
connection.sock.connect(path)
connection.request(method, target, body or None, {"Content-Type": "application/json"})
answer = connection.getresponse()
print(answer.status, answer.read().decode())
"""


class House:
    """A daemon with both sockets, in a directory that everybody may enter."""

    def __init__(self, solos):
        os.chmod(solos.directory, 0o755)
        self.daemon = solos("anna")
        self.readers = os.path.join(solos.directory, "readers", "look.sock")
        self.daemon.start(
            "--socket-group", WRITERS, "--reader-socket", self.readers, "--reader-group", READERS)
        self.job = self.daemon.create_job("Elm Street")
        self.daemon.add(self.job, name="Sofa")

    def shown(self):
        """What the daemon says, but the time."""
        answers = [self.daemon.get(path) for path in ("/v1/jobs", f"/v1/jobs/{self.job}/items", "/v1/queue")]
        return [*answers, {**self.daemon.get("/v1/fleet"), "time": None}]

    def ask(self, group, path, method, target, body=""):
        """What a person of this group gets: a status with its answer, or the error of connecting."""
        done = subprocess.run(
            [sys.executable, "-c", ASK, path, method, target, body], capture_output=True, text=True,
            user="nobody", group="nogroup", extra_groups=[group])
        if done.returncode != 0:
            return None, done.stderr.strip().splitlines()[-1]
        status, _, answer = done.stdout.partition(" ")
        return int(status), answer


@pytest.fixture(scope="module")
def house(build_directory):
    with Solos(build_directory) as solos:
        yield House(solos)


def test_who_is_in_no_group_of_its_cannot_connect(house):
    for group, path in ((READERS, house.daemon.socket), (WRITERS, house.readers), ("nogroup", house.readers)):
        assert house.ask(group, path, "GET", "/v1/jobs") == (None, "PermissionError: [Errno 13] Permission denied")


def test_the_group_of_the_socket_may_do_all(house):
    status, answer = house.ask(WRITERS, house.daemon.socket, "POST", "/v1/jobs", '{"name": "Oak Lane", "kind": "inventory"}')
    assert status == 201, answer
    assert house.ask(WRITERS, house.daemon.socket, "DELETE", f"/v1/jobs/{json.loads(answer)['id']}?confirmed=true")[0] == 200
    # Its space is freed when nothing else is to be done: the tests that follow look at every row.
    wait_until(lambda: is_freed(house.daemon), PATIENCE_SECONDS, "nothing is left of it")


def test_readers_see_what_is_there(house):
    status, answer = house.ask(READERS, house.readers, "GET", f"/v1/jobs/{house.job}/items")
    assert status == 200 and "Sofa" in answer
    for target in ("/v1/status", "/v1/peers", "/v1/doctor", "/v1/fleet", "/v1/fleet/devices", f"/v1/jobs/{house.job}/log"):
        assert house.ask(READERS, house.readers, "GET", target)[0] == 200, target


CHANGES = {
    "an item": ("POST", "/v1/jobs/{job}/items", '{"fields": {"name": "Lamp"}}'),
    "a job": ("POST", "/v1/jobs", '{"name": "Oak Lane", "kind": "inventory"}'),
    "the job's end": ("DELETE", "/v1/jobs/{job}?confirmed=true", ""),
    "a state": ("POST", "/v1/jobs/{job}/state", '{"name": "completed"}'),
    "a peer": ("POST", "/v1/peers", '{"address": "127.0.0.1:9"}'),
    "an invitation": ("POST", "/v1/fleet/invitations", '{"role": "office"}'),
    "the code of one": ("GET", "/v1/fleet/invitations/ABCD", ""),
    "a copy of everything": ("GET", "/v1/backup", ""),
    "a restore": ("POST", "/v1/restore", ""),
    "a certificate": ("POST", "/v1/fleet/certificates", '{"request": "", "role": "office"}'),
    "leaving the fleet": ("DELETE", "/v1/fleet", ""),
    "the queue": ("POST", "/v1/queue/pause", "{}"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_readers_change_nothing(house, what):
    method, target, body = CHANGES[what]
    before, seen = kept(house.daemon), house.shown()
    status, answer = house.ask(READERS, house.readers, method, target.replace("{job}", house.job), body)
    assert status == 403 and "for looking only" in json.loads(answer)["detail"], answer
    # Its keys and certificates among it.
    assert_kept(house.daemon, before)
    assert house.shown() == seen


# What a page cannot leave out, or choose, where a port is forwarded to the socket; and what the answer says.
PAGES = {
    "another's page": ({"Origin": "https://attacker.example"}, "A page in a browser"),
    "a page without an origin": ({"Origin": "null"}, "A page in a browser"),
    "a page of this machine": ({"Origin": "http://localhost"}, "A page in a browser"),
    "a name that whoever has the network may answer for": ({"Host": "evil"}, "no other name than localhost"),
    "a name that leads here": ({"Host": "attacker.example"}, "no other name than localhost"),
    "a name that leads here, with a port": ({"Host": "attacker.example:4711"}, "no other name than localhost"),
}


@pytest.mark.parametrize("what", PAGES)
def test_a_page_in_a_browser_sees_and_changes_nothing_through_either_socket(house, what):
    """As root, whom neither socket's group keeps out."""
    headers, sentence = PAGES[what]
    before, seen = kept(house.daemon), house.shown()
    asked = [("GET", "/v1/jobs", ""), *CHANGES.values()]
    for path in (house.daemon.socket, house.readers):
        assert shown_to({}, path, "GET", "/v1/jobs")[0] == 200, "a program is answered"
        for method, target, body in asked:
            status, answer = shown_to(headers, path, method, target.replace("{job}", house.job), body)
            assert status == 403 and sentence in answer["detail"], (path, target, answer)
    assert_kept(house.daemon, before)
    assert house.shown() == seen


def shown_to(headers, path, method, target, body=""):
    connection = UnixConnection(path)
    try:
        connection.request(method, target, body or None, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_the_command_says_why_to_a_reader(house):
    done = subprocess.run(
        house.daemon.command("item", "add", house.job, "name=Lamp")[:-1] + [house.readers], capture_output=True, text=True)
    assert done.returncode == 77 and "for looking only" in done.stderr, done
    shown = subprocess.run(house.daemon.command("job", "list")[:-1] + [house.readers], capture_output=True, text=True)
    assert shown.returncode == 0 and "Elm Street" in shown.stdout


USAGE, TRY_AGAIN, NOT_PERMITTED = 64, 75, 77
REFUSED = {
    "an unknown group": (("--socket-group", "no-such-group"), USAGE, "There is no group 'no-such-group'"),
    "an unknown group of readers": (
        ("--reader-socket", "{free}/look.sock", "--reader-group", "no-such-group"), USAGE, "There is no group 'no-such-group'"),
    "readers without a socket": (("--reader-group", READERS), USAGE, "reader-socket"),
    "one path for both": (("--reader-socket", "{socket}"), USAGE, "cannot be both"),
    "a path that is too long": (("--socket", "/tmp/" + "x" * 120), USAGE, "longer than 106 bytes"),
    "a file in its place": (("--socket", "{state}/fleet.lock"), USAGE, "is not a socket"),
    "a directory that cannot be made": (("--socket", "/proc/none/muster.sock"), USAGE, "Cannot make the directory"),
    "another daemon's": (("--socket", "{other}"), TRY_AGAIN, "Another daemon answers"),
    "another daemon's for readers": (("--reader-socket", "{other}"), TRY_AGAIN, "Another daemon answers"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_start_that_fails_says_why_and_ends_with_its_code(solos, house, what):
    flags, expected, words = REFUSED[what]
    bert = solos("bert")
    with open(os.path.join(bert.state, "fleet.lock"), "w", encoding="utf-8"):
        pass
    places = {"free": solos.directory, "socket": bert.socket, "state": bert.state, "other": house.daemon.socket}
    bert.launch(*[flag.format(**places) for flag in flags])
    wait_until(lambda: not bert.program.is_running, PATIENCE_SECONDS, "it has ended")
    code = bert.program.stop()
    said = [line for line in bert.log().splitlines() if line.startswith("musterd: ")]
    assert code == expected and len(said) == 1 and words in said[0], (code, bert.log())
    assert not answers(bert.socket)
    assert house.daemon.get("/v1/jobs"), "who was there before goes on"


LARGE = b"x" * (8 << 20)


@pytest.mark.parametrize("target, status", [("/v1/jobs", 413), ("/v1/nowhere", 404)])
@pytest.mark.parametrize("head", ["HTTP/1.1\r\nConnection: close", "HTTP/1.0"])
def test_who_writes_all_of_a_last_request_before_reading_gets_its_answer(house, target, status, head):
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(PATIENCE_SECONDS)
        caller.connect(house.daemon.socket)
        lines = f"POST {target} {head}\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(LARGE)}"
        caller.sendall(lines.encode() + b"\r\n\r\n" + LARGE)
        answer = b""
        while piece := caller.recv(65_536):
            answer += piece
    first, *headers = answer.partition(b"\r\n\r\n")[0].decode().lower().split("\r\n")
    assert first.split()[1] == str(status) and "connection: close" in headers, answer


def test_the_answer_before_the_last_says_nothing_of_closing(house):
    ask = "GET /v1/catalogue HTTP/1.1\r\nHost: localhost\r\n"
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(PATIENCE_SECONDS)
        caller.connect(house.daemon.socket)
        caller.sendall(f"{ask}\r\n{ask}Connection: close\r\n\r\n{ask}\r\n".encode())
        answer = b""
        while piece := caller.recv(65_536):
            answer += piece
    first, last = answer.split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert b"onnection: close" not in first.partition(b"\r\n\r\n")[0], first[:400]
    assert b"onnection: close" in last.partition(b"\r\n\r\n")[0], last[:400]


def test_of_two_daemons_that_are_started_together_one_has_the_socket(solos):
    shared = os.path.join(solos.directory, "shared.sock")
    for round in range(4):
        both = [solos(f"{name}-{round}").launch("--socket", shared) for name in ("cleo", "dora")]
        wait_until(lambda: sum(one.program.is_running for one in both) < 2, PATIENCE_SECONDS, "one has ended")
        wait_until(lambda: answers(shared), PATIENCE_SECONDS, "the other one answers")
        codes = sorted(one.stop() for one in both)
        assert codes == [0, TRY_AGAIN], codes


def answers(path):
    with socket.socket(socket.AF_UNIX) as one:
        return one.connect_ex(path) == 0
