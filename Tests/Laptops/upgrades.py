"""Stores of older and of newer programs."""

import os
import sqlite3

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
