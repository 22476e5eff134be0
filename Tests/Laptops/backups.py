"""Copies of a daemon's state directory, and two ways to put one back. The daemon is not running then."""

import os
import shutil


def back_up(daemon, directory):
    shutil.copytree(daemon.state, directory)


def put_back_as_new_files(daemon, backup):
    shutil.rmtree(daemon.state)
    shutil.copytree(backup, daemon.state)


def put_back_in_place(daemon, backup):
    """The files' content is written over, as a virtual machine's is: nothing here tells that it was."""
    number = os.stat(daemon.store).st_ino
    for suffix in ("-wal", "-shm"):
        if os.path.exists(daemon.store + suffix):
            os.remove(daemon.store + suffix)
    for suffix in ("", "-wal", "-opened"):
        if os.path.exists(os.path.join(backup, "muster.sqlite") + suffix):
            with open(os.path.join(backup, "muster.sqlite") + suffix, "rb") as source:
                content = source.read()
            with open(daemon.store + suffix, "r+b" if not suffix else "wb") as target:
                target.write(content)
                target.truncate()
    assert os.stat(daemon.store).st_ino == number
