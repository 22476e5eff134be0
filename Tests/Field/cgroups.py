"""A control group for each machine: its systemd makes its own below it, and the freezer stops all of it at once."""

import os
import pathlib

from lab.waiting import wait_until

TOP = pathlib.Path("/sys/fs/cgroup")
PATIENCE_SECONDS = 20


def hierarchies():
    """Where a machine needs a group: of version 2 one, of version 1 systemd's own, the freezer, and version 2 beside them."""
    if (TOP / "cgroup.controllers").exists():
        return [TOP]
    return [TOP / name for name in ("systemd", "freezer", "unified") if (TOP / name).is_dir()]


class Group:
    def __init__(self, name):
        self._directories = [hierarchy / name for hierarchy in hierarchies()]
        if (TOP / "cgroup.controllers").exists():
            self._switch, self._words = self._directories[0] / "cgroup.freeze", ("1", "0")
            self._state = self._directories[0] / "cgroup.events"
        else:
            self._switch, self._words = TOP / "freezer" / name / "freezer.state", ("FROZEN", "THAWED")
            self._state = self._switch

    def make(self):
        for directory in self._directories:
            directory.mkdir(exist_ok=True)

    def enter(self):
        """Puts the calling process into it, and all that it will start."""
        for directory in self._directories:
            (directory / "cgroup.procs").write_text(str(os.getpid()))

    def processes(self):
        """The processes in it and below."""
        lists = [file for directory in self._directories for file in directory.rglob("cgroup.procs")]
        return {line for file in lists for line in file.read_text().split()}

    def freeze(self, is_frozen):
        """Returns when no process of it runs any more, or when all may run again."""
        self._switch.write_text(self._words[0 if is_frozen else 1])
        wait_until(lambda: self.is_frozen() == is_frozen, PATIENCE_SECONDS, "the group is as it should be")

    def is_frozen(self):
        text = self._state.read_text()
        return "FROZEN" in text.split() or "frozen 1" in text

    def remove(self):
        for directory in self._directories:
            inner = sorted(directory.rglob("*/"), reverse=True) if directory.exists() else []
            for group in [*inner, *([directory] if directory.exists() else [])]:
                if group.is_dir():
                    group.rmdir()
