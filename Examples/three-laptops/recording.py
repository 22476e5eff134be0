"""What a person sees who watches a job while the story is told, as a file that terminal players read."""

import fcntl
import os
import pty
import signal
import struct
import termios
import threading

from lab import Asciicast

COLUMNS, ROWS = 80, 24


class Recording:
    """A command in a terminal of its own, written down."""

    def __init__(self, path, command):
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            os.environ.update(TERM="xterm-256color", COLUMNS=str(COLUMNS), LINES=str(ROWS))
            os.execv(command[0], command)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._thread = threading.Thread(target=self._write, args=(path,), daemon=True)
        self._thread.start()

    def _write(self, path):
        with Asciicast(path, COLUMNS, ROWS) as cast:
            while True:
                try:
                    cast.show(os.read(self._terminal, 65_536))
                except OSError:
                    # Its program has ended.
                    return

    def stop(self):
        os.kill(self._process, signal.SIGINT)
        os.waitpid(self._process, 0)
        self._thread.join()
        os.close(self._terminal)


class Nothing:
    """Nobody has asked for a recording."""

    def stop(self):
        pass


def of(member, *arguments):
    """Records `muster …` of a laptop, if MUSTER_RECORDING names a file for it."""
    path = os.environ.get("MUSTER_RECORDING")
    return Recording(path, member.command(*arguments)) if path else Nothing()
