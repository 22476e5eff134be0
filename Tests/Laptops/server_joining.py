"""What the tests of the server's joining share: `muster-channel fleet join`, and how the server stands."""

import json
import os
import sqlite3
import subprocess

import pytest
from invitations import FOUND_SECONDS, admit, invite
from office import Office
from solo import PATIENCE_SECONDS

FOR_A_LAPTOP = "The code is for a laptop, and this is a server; ask for one of 'muster fleet invite --role server'."
FOR_A_SERVER = "The code is for the company's server, and this is a laptop; ask for one of 'muster fleet invite'."
NOT_FOUND = (
    "No laptop with this invitation was found; bring both into one network, and look whether the invitation is still open."
)
BAD_DATA, UNAVAILABLE, TRY_AGAIN = 65, 69, 75


@pytest.fixture
def server(build_directory):
    """A server that has never run."""
    with Office(build_directory) as office:
        yield office


@pytest.fixture
def servers_code(anna):
    """Of an invitation of anna for a server."""
    return invite(anna, "server")


class Joining:
    """`muster-channel fleet join`, which waits for somebody."""

    def __init__(self, server, code, *flags, inside=lambda command: command, **environment):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            inside(server.command("fleet", "join", code, *flags)), stdout=pipe, stderr=pipe, text=True,
            env={**os.environ, **environment})
        self.said = ""

    def read_until(self, words):
        """Reads on until it has said so."""
        while words not in self.said:
            line = self.process.stderr.readline()
            assert line, f"it has ended: {self.said}"
            self.said += line
        return self

    def until_proved(self):
        """Both ends have proved that they know the code."""
        return self.read_until("waiting until its person has said yes")

    def kill(self):
        self.process.kill()
        self.process.communicate()
        return self.process.returncode

    def end(self, patience_seconds=FOUND_SECONDS + PATIENCE_SECONDS):
        """Its exit code, and its last words."""
        _, errors = self.process.communicate(timeout=patience_seconds)
        self.said += errors
        return self.process.returncode, self.said.splitlines()[-1].removeprefix("muster-channel: ")


def joins(server, code, inviter, *flags):
    return Joining(server, code, "--inviter", inviter.address, *flags)


def let_server_in(server, code, inviter, *flags):
    joining = joins(server, code, inviter, *flags).until_proved()
    admit(inviter, code)
    status, last = joining.end()
    assert status == 0, last


def standing(server):
    return json.loads(server.muster_channel("fleet", "show", "--json").stdout)


def papers(server):
    """What lies in its database: the key, and what the fleet says of it."""
    database = sqlite3.connect(server.store)
    try:
        return database.execute("SELECT key, certificates FROM server").fetchone()
    finally:
        database.close()


def is_out(server):
    return papers(server)[1] == ""
