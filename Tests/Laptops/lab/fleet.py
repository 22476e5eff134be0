"""The fleet that laptops belong to: who is in none talks to nobody."""

import atexit
import functools
import os
import shutil
import tempfile

from .api import PATIENCE_SECONDS, ask
from .programs import Program, run
from .waiting import wait_until


class Fleet:
    """A fleet of its own, and the musterd that lets laptops into it. That one needs no network, it is asked through its
    socket."""

    def __init__(self, build_directory):
        self._directory = tempfile.mkdtemp(prefix="muster-fleet-")
        self._socket = os.path.join(self._directory, "issuer.sock")
        # Of the laptop that lets others in: its key and certificates lie there.
        self.state, passphrase = (os.path.join(self._directory, name) for name in ("state", "passphrase"))
        os.mkdir(self.state)
        with open(passphrase, "w", encoding="utf-8") as file:
            file.write("a drawer of its own\n")
        command = [os.path.join(build_directory, "musterd"), "--state-dir", self.state, "--socket", self._socket]
        self._issuer = Program(
            "issuer", [*command, "--listen", "127.0.0.1:0", "--no-discovery"], self._directory)
        root = os.path.join(self._directory, "root.pem")
        init = [os.path.join(build_directory, "muster"), "fleet", "init", "--root", root]
        try:
            wait_ready(self._socket, self._issuer)
            run([*init, "--passphrase-file", passphrase, "--socket", self._socket])
        except BaseException:
            self.end()
            raise

    def enrol(self, socket_path, role="member"):
        """Lets in the laptop whose daemon answers at this socket."""
        request = _done(socket_path, "GET", "/v1/fleet")["request"]
        _done(socket_path, "PUT", "/v1/fleet", {"certificates": self.sign(request, role)})

    def sign(self, request, role="member"):
        """Makes certificates from a request (PKCS #10 in PEM): those that a laptop installs, in PEM."""
        wanted = {"request": request, "role": role}
        return _done(self._socket, "POST", "/v1/fleet/certificates", wanted)["certificates"]

    def end(self):
        self._issuer.kill()
        shutil.rmtree(self._directory, ignore_errors=True)


@functools.cache
def shared_fleet(build_directory):
    """The fleet of everything that this process starts: made when it is first needed, ended with the process."""
    fleet = Fleet(build_directory)
    atexit.register(fleet.end)
    return fleet


def is_enrolled(state):
    """Whether the laptop with this state directory is in a fleet."""
    return os.path.exists(os.path.join(state, "fleet.pem"))


def wait_ready(socket_path, program):
    """Waits until a daemon, this program, answers at its socket."""

    def answers():
        if not program.is_running:
            raise RuntimeError(f"{program.name} has ended: {program.errors()}")
        try:
            return ask(socket_path, "GET", "/v1/status")[0] == 200
        except OSError:
            return False

    wait_until(answers, PATIENCE_SECONDS, f"{program.name} answers")


def _done(socket_path, method, path, body=None):
    status, answer = ask(socket_path, method, path, body)
    if status not in (200, 201):
        raise RuntimeError(f"{method} {path} gave {status}: {answer}")
    return answer
