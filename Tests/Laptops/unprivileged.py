"""Somebody who is not root: a home of their own, the programs where they can reach them, and their environment."""

import os
import pathlib
import shutil
import tempfile

from lab import surroundings

_NOBODY = 65534


class Person:
    """A context manager; `prefix` is put before each command."""

    prefix = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]

    def __init__(self, build_directory):
        # Wherever the checkout and pytest's own directories lie, this one can be entered.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="muster-person-", dir="/tmp"))
        self.home, self.runtime, self.programs = (self.directory / name for name in ("home", "run", "bin"))
        for place in (self.home, self.runtime, self.programs):
            place.mkdir()
        self.directory.chmod(0o755)
        for program in ("muster", "musterd"):
            shutil.copy(os.path.join(build_directory, program), self.programs / program)
        for place in (self.home, self.runtime):
            os.chown(place, _NOBODY, _NOBODY)
        self.own = {"HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.runtime), "XDG_STATE_HOME": ""}

    @property
    def environment(self):
        return {**surroundings(), **self.own}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)
