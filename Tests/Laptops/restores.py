"""Backups that `muster` makes and brings back, and what a daemon holds."""

import json
import os
import shutil


def names(daemon, job):
    return {item["fields"]["name"] for item in daemon.items(job).values()}


def backup(daemon, name="copy.backup"):
    path = os.path.join(os.path.dirname(daemon.socket), name)
    done = daemon.muster("backup", path)
    assert done.returncode == 0, done
    return path


def restore(daemon, path, *flags, code=0):
    done = daemon.muster("restore", path, "--yes", "--json", *flags)
    assert done.returncode == code, done
    return json.loads(done.stdout)


def content(daemon):
    """All that the daemon holds, by job."""
    return {job["id"]: (daemon.digest(job["id"]), daemon.vector(job["id"])) for job in daemon.get("/v1/jobs")}


def parts(directory):
    return [name for name in os.listdir(directory) if name.endswith(".part")]


def lose_everything(daemon):
    """Its disk is a new one, so it has another key, too."""
    shutil.rmtree(daemon.state)
    os.mkdir(daemon.state)
