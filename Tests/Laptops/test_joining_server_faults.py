"""The server's joining, with one end killed in the middle: it is in the fleet or out of it, never half."""

import signal
import time

from invitations import admit, anna, invite
from office import Office
from server_joining import (
    NOT_FOUND,
    TRY_AGAIN,
    is_out,
    joins,
    let_server_in,
    papers,
    server,
    servers_code,
    standing,
)
from solo import PATIENCE_SECONDS


def test_the_server_is_killed_while_it_waits(server, anna, servers_code):
    assert joins(server, servers_code, anna).until_proved().kill() == -signal.SIGKILL
    assert is_out(server) and standing(server)["fleetID"] is None
    admit(anna, servers_code)
    assert is_out(server), "the yes came too late for it"
    assert joins(server, servers_code, anna).end()[0] == 0, "the same code gives the certificates again"
    assert standing(server)["fleetID"] == anna.get("/v1/fleet")["fleetID"]
    assert anna.log().count("the server was let in") == 1


def test_the_server_is_killed_when_the_yes_comes(build_directory, anna):
    """It is in the fleet or out of it, and goes on by the same code."""
    ends = []
    for delay_milliseconds in (None, 0, 2, 5, 10, 20):
        code = invite(anna, "server")
        with Office(build_directory) as server:
            joining = joins(server, code, anna).until_proved()
            # Stopped, it has the certificates in its socket and has not read them.
            joining.process.send_signal(signal.SIGSTOP)
            admit(anna, code)
            if delay_milliseconds is not None:
                joining.process.send_signal(signal.SIGCONT)
                time.sleep(delay_milliseconds / 1000)  # Sleeps: nothing tells from outside how far it has come.
            ended = joining.kill()
            fleet, certificate = standing(server)["fleetID"], papers(server)[1]
            assert (fleet is None) == (certificate == "")
            ends.append((ended, fleet is not None))
            assert joins(server, code, anna).end()[0] == 0
            assert standing(server)["fleetID"] == anna.get("/v1/fleet")["fleetID"]
            assert certificate in ("", papers(server)[1]), "it gets the same one again"
    assert ends[0] == (-signal.SIGKILL, False), ends
    assert all(is_in for ended, is_in in ends if ended == 0), "who says that it is in is in"


def test_the_inviter_is_killed_while_the_server_waits(server, anna, servers_code):
    joining = joins(server, servers_code, anna).until_proved()
    anna.kill()
    status, sentence = joining.end(60 + PATIENCE_SECONDS)
    assert (status, sentence) == (TRY_AGAIN, NOT_FOUND) and is_out(server)
    anna.start()
    let_server_in(server, invite(anna, "server"), anna)
