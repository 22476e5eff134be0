"""What a person sees who watches a job while the story is told, as a file that terminal players read."""

import fcntl
import json
import os
import pty
import signal
import struct
import termios
import threading
import time

COLUMNS, ROWS = 80, 24


class Recording:
    """A command in a terminal of its own, written down in asciicast v2 (docs.asciinema.org/manual/asciicast/v2)."""

    def __init__(self, path, command):
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            os.environ.update(TERM="xterm-256color", COLUMNS=str(COLUMNS), LINES=str(ROWS))
            os.execv(command[0], command)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._thread = threading.Thread(target=self._write, args=(path, time.monotonic()), daemon=True)
        self._thread.start()

    def _write(self, path, start):
        with open(path, "w", encoding="utf-8") as file:
            print(json.dumps({"version": 2, "width": COLUMNS, "height": ROWS}), file=file)
            rest = b""
            while True:
                try:
                    rest += os.read(self._terminal, 65_536)
                except OSError:
                    # Its program has ended.
                    return
                # A character may arrive in two pieces.
                text = rest.decode(errors="ignore")
                rest = rest[len(text.encode()):]
                print(json.dumps([round(time.monotonic() - start, 3), "o", text]), file=file)

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
