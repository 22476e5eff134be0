"""Wall clocks that are wrong, each daemon's own."""

import atexit
import functools
import glob
import os
import shutil
import subprocess
import tempfile
import time
from datetime import datetime

from lab import wait_until
from solo import PATIENCE_SECONDS, Solos

# By how much a stamp of a synchronised laptop may differ from when the edit was asked for.
PRECISION_MILLISECONDS = 100


@functools.cache
def preload():
    """What a program loads first to see another time of day, with its timers left alone."""
    libraries = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    assert libraries, "libfaketime is missing: apt install faketime"
    directory = tempfile.mkdtemp(prefix="muster-timers-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    source = os.path.join(os.path.dirname(__file__), "real_timers.c")
    timers = os.path.join(directory, "real_timers.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", timers, source], check=True)
    return f"{timers} {libraries[0]}"


def true_milliseconds():
    """The machine's own clock, which no test touches."""
    return time.time() * 1000


def milliseconds(timestamp):
    """Of an RFC 3339 time."""
    return datetime.fromisoformat(timestamp).timestamp() * 1000


class WallClock:
    """What one daemon takes for the time of day. Timers and the clock of elapsed time are left alone."""

    def __init__(self, directory, name, setting):
        self._path = os.path.join(directory, f"{name}.clock")
        self.set(setting)

    def set(self, setting):
        """As faketime(1) says: "+3h", "-2d", "+0 x1.0002" for one that gains 200 parts per million."""
        with open(self._path + "~", "w", encoding="utf-8") as file:
            file.write(setting + "\n")
        os.replace(self._path + "~", self._path)

    @property
    def environment(self):
        """A program with this environment must have no flags: the library changes the environment before the program
        begins, and Swift finds the arguments of a program by where its environment is."""
        return {
            "LD_PRELOAD": preload(),
            "FAKETIME_TIMESTAMP_FILE": self._path,
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


class Crew:
    """Laptops by their names, each with a wall clock of its own that is wrong in another way."""

    def __init__(self, build_directory, settings):
        self._solos = Solos(build_directory)
        directory = self._solos.directory
        self.clocks = {name: WallClock(directory, name, setting) for name, setting in settings.items()}
        self.members = {name: self._solos(name) for name in settings}

    @property
    def fleet(self):
        return self._solos.fleet

    def __enter__(self):
        self._solos.__enter__()
        return self

    def __exit__(self, *failure):
        if failure[0]:
            for member in self:
                print(f"--- {member.name}\n{member.log() if member.program else ''}")
        self._solos.__exit__(*failure)

    def __iter__(self):
        return iter(self.members.values())

    def __getitem__(self, name):
        return self.members[name]

    def start(self, name, peers=(), server_url=None):
        """(Re)starts a laptop that dials the peers and asks the server for the time."""
        member = self.members[name]
        if member.program and member.program.is_running:
            member.stop()
        environment = dict(self.clocks[name].environment)
        if peers:
            environment["MUSTER_PEERS"] = ",".join(self.members[peer].address for peer in peers)
        if server_url:
            environment["MUSTER_SERVER"] = server_url
        return member.start(environment=environment)

    def connect(self, name, other):
        self[name].make("/v1/peers", {"address": self[other].address})

    def clock(self, name):
        return self[name].get("/v1/clock")

    def wall_error_seconds(self, name):
        """How far the daemon's wall clock is off the true time, as it says itself."""
        return (milliseconds(self[name].get("/v1/status")["startedAt"]) - true_milliseconds()) / 1000


def wait_synchronised(crew, names, source):
    for name in names:
        wait_until(
            lambda: (crew.clock(name)["source"], crew.clock(name)["isSynchronised"]) == (source, True),
            PATIENCE_SECONDS, f"{name} has the time from {source}")
