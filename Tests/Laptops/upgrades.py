"""Stores of older and of newer programs, and what systemd is told meanwhile."""

import os
import select
import socket
import sqlite3

from lab import wait_until

# What the last migrations added, the newest first.
ADDED = {
    "program 1": ["program"],
    "former items 1": ["formerJob", "formerItem"],
    "answers 1": ["answer"],
    "cutoffs 1": ["cutoff"],
    "assignments 1": ["assignment"],
}


def layout(path):
    """The migrations that have run in a closed store, the oldest first."""
    database = sqlite3.connect(path)
    try:
        return [name for (name,) in database.execute("SELECT identifier FROM grdb_migrations ORDER BY rowid")]
    finally:
        database.close()


def dump(path):
    """All that a closed store holds."""
    database = sqlite3.connect(path)
    try:
        return list(database.iterdump())
    finally:
        database.close()


def make_older(daemon):
    """Takes back what the last migrations added to the store of a daemon that does not run: so a program left it that had not
    heard of them. Returns how many."""
    names = layout(daemon.store)
    assert names[-len(ADDED):][::-1] == list(ADDED), f"tell above what the newest migration has added: {names}"
    take_back(daemon.store, *ADDED)
    return len(ADDED)


def take_back(path, *names):
    """Takes back what these migrations added to a closed store."""
    database = sqlite3.connect(path)
    with database:
        for name in names:
            for table in ADDED[name]:
                database.execute(f"DROP TABLE {table}")
            assert database.execute("DELETE FROM grdb_migrations WHERE identifier = ?", (name,)).rowcount == 1
    database.close()


def make_newer(daemon, version):
    """The store as a program of that version would leave it that had a migration more: with the copy of before. The daemon
    does not run."""
    upgrade(daemon, version)
    database = sqlite3.connect(daemon.store)
    with database:
        database.execute("INSERT INTO grdb_migrations VALUES ('of next year 1')")
        database.execute("CREATE TABLE ofNextYear (id INTEGER PRIMARY KEY)")
    database.close()


def upgrade(daemon, version):
    """Makes the copy that a program of that version makes, and lets the store say so. The daemon does not run."""
    database = sqlite3.connect(daemon.store)
    database.execute("VACUUM INTO ?", (f"{daemon.store}-before-{version}",))
    with database:
        database.execute("UPDATE program SET former = version, version = ?", (version,))
    database.close()


def snapshots(daemon):
    return sorted(name for name in os.listdir(daemon.state) if "-before-" in name)


class Notices:
    """systemd's end of NOTIFY_SOCKET (sd_notify(3)).

    A sender waits while the queue is full. `fill` fills it: after that, each datagram that is read lets one more be sent, and
    whoever sends stands still in the midst of what it tells of.
    """

    _FILLER = b"X_FILLER=1"

    def __init__(self, directory):
        self.path = os.path.join(directory, "notify")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(self.path)
        self.environment = {"NOTIFY_SOCKET": self.path}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()
        os.remove(self.path)

    def fill(self):
        isFull = False
        while not isFull:
            # What one socket has sent and nobody has read is bounded, too.
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.setblocking(False)
                isFull = True
                try:
                    while True:
                        sender.sendto(self._FILLER, self.path)
                        isFull = False
                except BlockingIOError:
                    pass

    def read_all(self):
        """What is there: the fields of each datagram; of fillers nothing."""
        read = []
        try:
            while True:
                read += self._read()
        except BlockingIOError:
            return read

    def wait_for(self, count, deadline_seconds):
        """The same of so many, fillers among them, as they come."""
        read = []
        for _ in range(count):
            wait_until(self._has_some, deadline_seconds, "something is told")
            read += self._read()
        return read

    def _has_some(self):
        return bool(select.select([self._socket], [], [], 0)[0])

    def _read(self):
        datagram = self._socket.recv(4096)
        if datagram == self._FILLER:
            return []
        return [dict(line.split("=", 1) for line in datagram.decode().split("\n"))]
