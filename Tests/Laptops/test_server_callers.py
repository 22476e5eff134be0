"""Who may ask the server, and whom laptops take for it."""

import base64
import json
import os
import socket
import sqlite3
import subprocess
import time

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from attacks import Issuing, elsewhere, signer
from gateways import advance, server_check, server_flags, state, wait_published
from lab import UnixConnection, never_during, wait_until
from newcomer import Identity
from office import Connection, Journal
from revoking import pem
from solo import PATIENCE_SECONDS
from stranger import Member
from time_server import TimeServer

# A chain that the server has just judged is believed for so long.
BELIEF_SECONDS = 2
# Of the test's clock and the server's.
MARGIN_SECONDS = 0.1


def wait_shut_out(port, member):
    """Nobody is let in who has begun to ask later than the server believes, however slow the answer."""
    told = time.monotonic()
    while True:
        began = time.monotonic()
        # On a connection of before and on a new one a chain is judged alike.
        if Connection(port, member).ask("GET", "/v1/jobs")[0] == 401:
            return
        assert began - told <= BELIEF_SECONDS + MARGIN_SECONDS, f"let in {began - told:.2f} s after it was told"
        time.sleep(0.05)


def certified(signer, **terms):
    return lambda: Member(Issuing(signer, **terms))


def test_a_header_says_nothing_where_there_is_no_proxy(office):
    """Who is let in is what TLS has proved: the header of a proxy counts on the proxy's socket only."""
    headers = office.member.passed_on
    assert Connection(office.port, Identity()).ask("GET", "/v1/jobs", **headers)[0] == 401
    # There it does.
    through = UnixConnection(office.proxy_socket)
    through.request("GET", "/v1/jobs", None, headers)
    assert through.getresponse().status == 200


def test_the_proxys_socket_is_closed_to_others_and_its_word_is_judged_like_any(office, signer):
    assert os.stat(office.proxy_socket).st_mode & 0o777 == 0o660
    revoked = Member(office.fleet)
    entry = base64.b64encode(signer.revocation(revoked.device.hex())).decode()
    assert office.ask("POST", "/v1/revocations", {"revocations": [entry]})[0] == 200
    passed, other = office.member.passed_on, Member(office.fleet).passed_on
    heads = {
        "nothing": {},
        "no issuer": {"X-Client-Cert": passed["X-Client-Cert"]},
        "nonsense": {**passed, "X-Client-Cert": "nonsense"},
        "a wrong issuer": {**passed, "Muster-Issuer": base64.b64encode(office.member.certificates[0]).decode()},
        "two certificates": {**passed, "X-Client-Cert": passed["X-Client-Cert"] + other["X-Client-Cert"]},
        "one that was revoked": revoked.passed_on,
    }
    for what, headers in heads.items():
        through = UnixConnection(office.proxy_socket)
        through.request("GET", "/v1/jobs", None, headers)
        answer = through.getresponse()
        assert answer.status == 401 and json.loads(answer.read())["code"] == "unauthorised", what


def test_a_revoked_laptop_is_shut_out_while_it_is_connected(office, signer):
    thief = Member(office.fleet)
    connection = Connection(office.port, thief)
    assert connection.ask("GET", "/v1/jobs")[0] == 200
    entry = signer.revocation(thief.device.hex())
    told = {"revocations": [base64.b64encode(entry).decode()]}
    assert office.ask("POST", "/v1/revocations", told)[0] == 200
    wait_shut_out(office.port, thief)
    assert connection.ask("GET", "/v1/jobs")[0] == 401, "also where it is connected"
    status, answer = Connection(office.port, thief).ask("GET", "/v1/jobs")
    assert status == 401 and "revoked" in answer["detail"], answer
    # For good, also after the server was started again.
    office.stop_and_start()
    assert Connection(office.port, thief).ask("GET", "/v1/jobs")[0] == 401
    assert office.get("/v1/revocations")["revocations"] == told["revocations"]


def test_a_revocation_that_nobody_may_sign_is_not_taken(office, signer):
    member, other = Member(office.fleet), Member(office.fleet)
    entry = signer.revocation(other.device.hex())
    forged = entry[:41] + bytes(64) + entry[105:]
    for entries, code in (([forged], "outsider"), ([b"nonsense"], "malformed"), ([entry, forged], "outsider")):
        told = {"revocations": [base64.b64encode(one).decode() for one in entries]}
        status, answer = Connection(office.port, member).ask("POST", "/v1/revocations", told)
        assert (status, answer["code"]) == (422, code), answer
    assert office.get("/v1/revocations")["revocations"] == []
    assert Connection(office.port, other).ask("GET", "/v1/jobs")[0] == 200


def test_laptops_and_server_tell_each_other_of_revocations(solos, office, signer):
    """What one laptop brings, another hears from the server, though they never meet."""
    anna = solos("anna").start(*server_flags(office.url))
    bert = solos("bert").start(*server_flags(office.url))
    job = anna.create_job("Smith")
    wait_published([anna, bert], job, "scheduled")
    lost = Member(office.fleet)
    entry = signer.revocation(lost.device.hex())
    anna.make("/v1/fleet/revocations", {"revocation": pem(entry)})
    known = lambda daemon: [one for one in daemon.get("/v1/fleet/devices") if one["state"] == "revoked"]
    wait_until(lambda: known(bert), PATIENCE_SECONDS, "bert hears of it")
    assert [one["deviceID"] for one in known(bert)] == [lost.device.hex()]
    assert Connection(office.port, lost).ask("GET", "/v1/jobs")[0] == 401


def impostors(signer, elsewhere):
    """Who answers at the server's address, and is not believed; and what the laptop's doctor says."""
    return {
        "self-signed": (Identity, "nobody of this fleet"),
        "another fleet's server": (lambda: Member(elsewhere, role="server"), "nobody of this fleet"),
        "a member": (certified(signer), "a laptop that says it is the server"),
    }


@pytest.mark.parametrize("which", ["self-signed", "another fleet's server", "a member"])
def test_who_only_answers_is_not_the_server(solos, office, signer, elsewhere, which):
    made, sentence = impostors(signer, elsewhere)[which]
    with TimeServer(office.fleet, shows=made()) as impostor:
        anna = solos("anna").start(*server_flags(impostor.url))
        job = anna.create_job("Smith")
        advance(anna, job, "dispatched")
        wait_until(lambda: sentence in server_check(anna)["finding"], PATIENCE_SECONDS, f"it is seen: {anna.log()}")
        assert {attempt["outcome"] for attempt in anna.get("/v1/queue/log")} <= {"unreachable"}
        assert impostor.requests == 0, "nothing was said to it"
        assert state(anna, job)["published"] is None
    # The true one, in its place, is believed.
    anna.stop()
    anna.start(*server_flags(office.url))
    wait_published([anna], job, "dispatched")


def test_a_server_that_is_revoked_is_not_asked_any_more(solos, office, signer):
    anna = solos("anna").start(*server_flags(office.url))
    job = anna.create_job("Smith")
    wait_published([anna], job, "scheduled")
    server = office.muster_channel("fleet", "show", "--json").stdout
    entry = signer.revocation(server.split('"deviceID" : "')[1].split('"')[0])
    anna.make("/v1/fleet/revocations", {"revocation": pem(entry)})
    wait_until(lambda: "was revoked" in server_check(anna)["finding"], PATIENCE_SECONDS, f"anna turns away: {anna.log()}")
    advance(anna, job, "dispatched")
    never_during(lambda: state(anna, job)["published"] != "scheduled", 2, "she asks it")


def test_whoever_does_not_say_who_they_are_is_not_waited_for(office, measured):
    with socket.create_connection(("127.0.0.1", office.port), PATIENCE_SECONDS) as silent:
        begin = time.monotonic()
        assert silent.recv(1) == b""
        measured("until the server closes a silent connection", time.monotonic() - begin, 15)


def test_a_proxys_socket_that_cannot_be_made_is_said_in_a_sentence(build_directory, office):
    where = f"{office.directory}/nowhere/proxy.sock"
    done = subprocess.run(
        [f"{build_directory}/muster-channel", "--listen", "127.0.0.1:0", "--proxy-socket", where, "--database",
         f"{office.directory}/second.sqlite"], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    (sentence,) = [line for line in done.stderr.splitlines() if line.startswith("muster-channel: ")]
    assert done.returncode == 77 and where in sentence and "--proxy-socket" in sentence, done


def test_who_is_not_let_in_reads_the_reason(solos, office, signer):
    anna = solos("anna").start(*server_flags(office.url))
    job = anna.create_job("Smith")
    wait_published([anna], job, "scheduled")
    entry = signer.revocation(anna.get("/v1/fleet")["deviceID"])
    told = {"revocations": [base64.b64encode(entry).decode()]}
    assert office.ask("POST", "/v1/revocations", told)[0] == 200
    # The server says why, or she has heard of it herself.
    wait_until(lambda: "was revoked" in server_check(anna)["finding"], PATIENCE_SECONDS, "the doctor says why")


def test_a_server_that_moves_to_another_fleet_leaves_the_old_ones_revocations(office, signer, elsewhere):
    lost = Member(office.fleet)
    entry = base64.b64encode(signer.revocation(lost.device.hex())).decode()
    assert office.ask("POST", "/v1/revocations", {"revocations": [entry]})[0] == 200
    papers = f"{office.directory}/other.pem"
    with open(papers, "w", encoding="utf-8") as file:
        file.write(elsewhere.sign(office.muster_channel("fleet", "request").stdout, "server"))
    office.muster_channel("fleet", "install", "--another-fleet", papers)
    former, office.member = office.member, Member(elsewhere)

    def moved():
        try:
            return office.ask("GET", "/v1/revocations")[0] == 200
        except OSError:
            return False

    wait_until(moved, PATIENCE_SECONDS, "the server is of the other fleet")
    assert office.get("/v1/revocations")["revocations"] == []
    wait_shut_out(office.port, former)


def test_a_resumed_session_lets_nobody_in(office):
    """Whoever connects is judged anew each time."""
    context = office.member.asking()
    with socket.create_connection(("127.0.0.1", office.port), PATIENCE_SECONDS) as plain:
        with context.wrap_socket(plain) as first:
            first.sendall(b"GET /v1/time HTTP/1.1\r\nHost: office\r\n\r\n")
            assert first.recv(1 << 16).startswith(b"HTTP/1.1 200")
            session = first.session
    with socket.create_connection(("127.0.0.1", office.port), PATIENCE_SECONDS) as plain:
        with context.wrap_socket(plain, session=session) as second:
            second.sendall(b"GET /v1/jobs HTTP/1.1\r\nHost: office\r\n\r\n")
            answer = second.recv(1 << 16)
            assert answer.startswith(b"HTTP/1.1 401" if second.session_reused else b"HTTP/1.1 200"), answer


def test_a_revocation_that_could_not_be_kept_is_kept_when_it_is_told_again(office, signer):
    lost = Member(office.fleet)
    told = {"revocations": [base64.b64encode(signer.revocation(lost.device.hex())).decode()]}
    database = sqlite3.connect(office.store, isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    assert office.ask("POST", "/v1/revocations", told)[0] == 503, "nothing can be written"
    database.execute("ROLLBACK")
    database.close()
    assert office.ask("POST", "/v1/revocations", told) == (200, {"revocations": told["revocations"]})
    office.stop_and_start()
    assert Connection(office.port, lost).ask("GET", "/v1/jobs")[0] == 401


def test_what_a_laptop_had_begun_when_it_was_revoked_comes_to_nothing(office, signer):
    """A body that comes slowly, and a poll that waits."""
    thief = Member(office.fleet)
    run = json.dumps(Journal("smith", thief.author()).add("Box")).encode()
    slow, waiting = Connection(office.port, thief), Connection(office.port, thief)
    slow.putrequest("POST", "/v1/jobs/smith/journals")
    slow.putheader("Content-Type", "application/json")
    slow.putheader("Content-Length", str(len(run)))
    slow.endheaders(run[:10])
    waiting.send_request("GET", f"/v1/jobs?since={office.get('/v1/jobs')['cursor']}&wait=30")
    told = {"revocations": [base64.b64encode(signer.revocation(thief.device.hex())).decode()]}
    assert office.ask("POST", "/v1/revocations", told)[0] == 200
    wait_shut_out(office.port, thief)
    slow.send(run[10:])
    assert slow.answer()[0] == 401
    assert office.ask("GET", "/v1/jobs/smith")[0] == 404, "nothing is left of it"
    assert office.ask("POST", "/v1/jobs/jones/journals", Journal("jones", office.author()).add("Box"))[0] == 200
    status, answer = waiting.answer()
    assert status == 401 and "jones" not in json.dumps(answer), answer


def test_a_program_of_the_office_is_sure_of_the_server_by_its_pin(office, tmp_path):
    pin = json.loads(office.muster_channel("fleet", "show", "--json").stdout)["pin"]
    assert pin in office.muster_channel("fleet", "show").stdout
    key = office.member.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "office.pem").write_text(key.decode() + office.member.chain)
    asking = ["curl", "--silent", "--insecure", "--cert", str(tmp_path / "office.pem"), f"{office.url}/v1/jobs"]
    asked = lambda pin: subprocess.run([*asking, "--pinnedpubkey", pin], capture_output=True, text=True)
    assert json.loads(asked(pin).stdout)["jobs"] == []
    # curl(1): the pinned key does not match.
    assert asked("sha256//" + base64.b64encode(bytes(32)).decode()).returncode == 90
