"""What the tests of joining do over and over: found a fleet, open an invitation, let a laptop join by it."""

import os
import re
import shutil
import subprocess

import pytest
from lab import is_enrolled, wait_until
from solo import PATIENCE_SECONDS, Solos

CODE = re.compile(r"^  ([0-9A-Z]{4}(?:-[0-9A-Z]{4}){3})$", re.MULTILINE)
# Deriving the key of a code takes a good second unoptimised, on a machine that does something else too.
FOUND_SECONDS = 15
# What both screens say of the end of an invitation.
USED = "The code has been used already; if that was another laptop than it was meant for, revoke that one."
WITHDRAWN = "The inviter has taken the invitation back; ask for a new one."
USED_UP = "Three wrong codes came for this invitation; ask for a new one."
# After the first wrong code and after the second one.
LEFT = [f"The code is wrong; {tries} left: compare it, and join again." for tries in ("2 tries are", "one try is")]


@pytest.fixture
def anna(solos, founded):
    """A laptop that may let others in."""
    return founder(solos, founded)


@pytest.fixture
def code(anna):
    """Of an invitation of anna."""
    return invite(anna)


@pytest.fixture
def bert(solos, anna):
    """A laptop without a fleet that knows anna's address."""
    return newcomer(solos, "bert", anna.address)


def found(build_directory, directory):
    """Lets a laptop begin a fleet, which takes some seconds, and ends it. Returns a copy of its state directory."""
    with Solos(build_directory) as solos:
        laptop = newcomer(solos, "founder")
        passphrase = os.path.join(directory, "passphrase")
        with open(passphrase, "w", encoding="utf-8") as file:
            file.write("a drawer of its own\n")
        root = os.path.join(directory, "root.pem")
        done = laptop.muster("fleet", "init", "--root", root, "--passphrase-file", passphrase)
        assert done.returncode == 0, done
        assert laptop.stop() == 0
        return shutil.copytree(laptop.state, os.path.join(directory, "founder"))


def founder(solos, founded, name="anna"):
    """Starts a copy of the laptop that has begun the fleet."""
    daemon = solos(name)
    shutil.copytree(founded, daemon.state, dirs_exist_ok=True)
    return daemon.start()


def newcomer(solos, name, *addresses):
    """Starts a laptop without a fleet, which knows these addresses."""
    daemon = solos(name).launch(*[word for address in addresses for word in ("--peer", address)])
    wait_until(daemon.answers, PATIENCE_SECONDS, f"{name} answers")
    assert not is_enrolled(daemon.state)
    return daemon


def invite(inviter, role="member"):
    """Opens an invitation; returns its code."""
    return inviter.make("/v1/fleet/invitations", {"role": role})["code"]


def path(code):
    return f"/v1/fleet/invitations/{code[:4]}"


def invitation(inviter, code):
    return inviter.get(path(code))


def join(daemon, code):
    """Begins to join."""
    status, answer = daemon.ask("POST", "/v1/fleet/join", {"code": code})
    assert (status, answer["state"]) == (202, "searching"), answer


def joining(daemon):
    return daemon.get("/v1/fleet/join")


def wait_joining(daemon, state, deadline_seconds=FOUND_SECONDS):
    """Waits until joining has come so far; returns how it stands."""
    reached = lambda: joining(daemon)["state"] == state
    try:
        wait_until(reached, deadline_seconds, f"{daemon.name} is {state}")
    except AssertionError as error:
        raise AssertionError(f"{error}; it is {joining(daemon)}\n{daemon.log()}") from None
    return joining(daemon)


def admit(inviter, code):
    """Says yes to whoever waits."""
    waiting = lambda: invitation(inviter, code)["newcomer"]
    device = wait_until(waiting, FOUND_SECONDS, f"somebody waits to be let in by {inviter.name}")["deviceID"]
    status, answer = inviter.ask("PUT", path(code), {"deviceID": device})
    assert (status, answer["state"]) == (200, "admitted"), answer


def let_in(inviter, daemon, code):
    """The whole of it, soundly."""
    join(daemon, code)
    wait_joining(daemon, "waiting")
    admit(inviter, code)
    wait_joining(daemon, "joined", PATIENCE_SECONDS)


def certificates(daemon):
    """What the laptop has of a fleet, byte for byte: by the names of the files."""
    files = {}
    for name in ("fleet.pem", "issuer.pem"):
        if os.path.exists(os.path.join(daemon.state, name)):
            with open(os.path.join(daemon.state, name), "rb") as file:
                files[name] = file.read()
    return files


def begin(daemon, *arguments):
    """Starts `muster …` and does not wait for it."""
    return subprocess.Popen(daemon.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read_code(process):
    """Reads on to where `muster fleet invite` waits. Returns the code, and all that was read."""
    printed = ""
    while "Waiting for it" not in printed:
        line = process.stdout.readline()
        assert line, f"it has ended: {process.communicate()}"
        printed += line
    return CODE.search(printed)[1], printed
