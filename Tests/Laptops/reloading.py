"""Settings that change while a program runs: `systemctl reload`, as a unit has it."""

import os
import signal

from lab import wait_until
from notices import Notices
from solo import PATIENCE_SECONDS


class Manager:
    """What systemd has heard, in its order."""

    def __init__(self, directory):
        self._notices = Notices(directory)
        self.path = self._notices.path
        self.heard = []

    def hears(self, word, after=0):
        """Whether it has heard a word since it had heard so many."""
        for fields in self._notices.read_all():
            self.heard += [f"{name}={value}" for name, value in fields.items()]
        return word in self.heard[after:]


def reload(program, manager):
    """Returns what was told meanwhile once it is ready again."""
    heard = len(manager.heard)
    os.kill(program.pid, signal.SIGHUP)
    wait_until(lambda: manager.hears("RELOADING=1", heard), PATIENCE_SECONDS, "it says that it takes up settings")
    wait_until(lambda: manager.hears("READY=1", heard), PATIENCE_SECONDS, "it says that it is ready")
    return manager.heard[heard:]
