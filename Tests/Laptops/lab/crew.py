"""musterd on a laptop of a lab, and the muster command that talks to it."""

import json
import os
import subprocess

from .answers import Answers
from .fleet import is_enrolled, shared_fleet, wait_ready


class CrewMember(Answers):
    """One musterd: its laptop, its store, its socket. Started and ended as often as one likes, on the same store.

    `build_directory` holds the programs musterd and muster. A second one on a laptop needs a `name` and a `port` of its
    own; otherwise it is called like the laptop. Its screen has so many `columns`.
    """

    def __init__(self, laptop, build_directory, name=None, port=7473, columns=110):
        self.laptop = laptop
        self.name = name or laptop.name
        self.port = port
        self.columns = columns
        self.daemon = None
        # What its musterd gets on top of the lab's own environment.
        self.environment = None
        self.state = os.path.join(laptop.directory, f"{self.name}-state")
        self.socket = os.path.join(laptop.directory, f"{self.name}.sock")
        self._build_directory = build_directory
        self._musterd = os.path.join(build_directory, "musterd")
        self._muster = os.path.join(build_directory, "muster")
        os.makedirs(self.state, exist_ok=True)

    @property
    def address(self):
        address = self.laptop.address
        return f"[{address}]:{self.port}" if ":" in address else f"{address}:{self.port}"

    def launch(self, *flags):
        """Starts musterd on the lab's network with these further flags, and returns itself when it answers. It is
        in the fleet that it was in before, if any."""
        self._launch(flags)
        wait_ready(self.socket, self.daemon)
        return self

    def start(self, *flags):
        """The same, but returns at once; the first time when it is in the fleet of all."""
        self._launch(flags)
        if not is_enrolled(self.state):
            wait_ready(self.socket, self.daemon)
            shared_fleet(self._build_directory).enrol(self.socket)
        return self

    def _launch(self, flags):
        command = [self._musterd, "--state-dir", self.state, "--socket", self.socket]
        if "--listen" not in flags and "--config" not in flags:
            command += ["--listen", f"0.0.0.0:{self.port}" if self.laptop.lab.ipv4 else f"[::]:{self.port}"]
        self.daemon = self.laptop.start([*command, *flags], name=self.name, environment=self.environment)

    def command(self, *arguments):
        """The command line `muster …` for this daemon."""
        return [self._muster, *arguments, "--socket", self.socket]

    def try_muster(self, *arguments):
        """Runs `muster …` to its end, whatever comes of it."""
        # Its tables get the width of a window, although nobody looks.
        environment = {**os.environ, "COLUMNS": str(self.columns)}
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, env=environment)

    def muster(self, *arguments):
        """Runs `muster …`, and returns what it printed; raises with what it said when it failed."""
        done = self.try_muster(*arguments)
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip()
            raise RuntimeError(f"muster {' '.join(arguments)} on {self.name} ended with {done.returncode}: {said}")
        return done.stdout

    def begin(self, *arguments):
        """Starts `muster …` and does not wait for it."""
        return subprocess.Popen(self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def json(self, *arguments):
        return json.loads(self.muster(*arguments, "--json"))

    def json_whatever(self, *arguments):
        """The same of a command whose exit code is a finding, and no failure."""
        return json.loads(self.try_muster(*arguments, "--json").stdout)

    def is_ready(self):
        return self.try_muster("status", "--json").returncode == 0

    def log_so_far(self):
        """What the daemon has said since it was started."""
        return self.daemon.errors()


def finish(processes):
    """Waits for commands that were begun; raises with what the first failing one said. Returns what they printed."""
    printed = []
    for process in processes:
        output, errors = process.communicate(timeout=60)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(process.args)} ended with {process.returncode}: {errors or output}")
        printed.append(output)
    return printed
