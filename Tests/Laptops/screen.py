"""A terminal on which a person reads and types, and what a camera reads from the QR code on it."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

from solo import PATIENCE_SECONDS

# Two modules above each other: whether the upper and the lower one are light.
MODULES = {"█": (True, True), "▀": (True, False), "▄": (False, True), " ": (False, False)}
# Version 1 has 21 modules in a row; around them there is light.
LEAST_WIDTH = 21 + 2
PIXELS = 6


class Screen:
    """A context manager: `muster …` of a daemon, at a terminal of its own.

    `window` is how large it is, in columns and rows; without it nobody says. `environment` is that of whoever types, in the
    place of this program's own. `heard(bytes)` is called with whatever comes, when it comes.
    """

    def __init__(self, daemon, *arguments, window=None, environment=None, heard=lambda more: None):
        command = daemon.command(*arguments)
        self._shown, self._printed, self._said = b"", b"", b""
        self._heard = heard
        # What is said on standard error comes by a terminal of its own, of the same size, so that it can be told apart.
        self._errors, errors = pty.openpty()
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.dup2(errors, 2)
            # Whoever started this in the background ignores Ctrl-C, and who ignores it hands that on.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            for terminal in (1, 2) if window else ():
                fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", window[1], window[0], 0, 0))
            os.execve(command[0], command, os.environ if environment is None else environment)
        os.close(errors)
        self._open = [self._terminal, self._errors]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.pid:
            self.end()

    @property
    def shown(self):
        """All that has come so far."""
        return text(self._shown)

    @property
    def printed(self):
        """As much of it as came from standard output, and was typed."""
        return text(self._printed)

    @property
    def said(self):
        """As much of it as came from standard error."""
        return text(self._said)

    def read_until(self, words):
        """Reads on until these words have come."""
        # What is painted again and again says something all the time.
        deadline = time.monotonic() + 2 * PATIENCE_SECONDS
        while words not in self.shown:
            assert time.monotonic() < deadline, f"'{words}' does not come: {self.shown}"
            assert self._read(), f"it ended before '{words}': {self.shown}"
        return self.shown

    def type(self, text):
        os.write(self._terminal, text.encode())

    def wait(self):
        """Reads on to the program's end; returns its exit code."""
        while self._read():
            pass
        return self.end()

    def end(self):
        """Hangs up."""
        os.close(self._terminal)
        os.close(self._errors)
        pid, self.pid = self.pid, None
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def _read(self):
        ready, _, _ = select.select(self._open, [], [], 3 * PATIENCE_SECONDS)
        assert ready, f"nothing more comes: {self.shown}"
        for terminal in ready:
            try:
                more = os.read(terminal, 4096)
            except OSError:
                # The other end is closed.
                more = b""
            if not more:
                self._open.remove(terminal)
            if terminal == self._errors:
                self._said += more
            else:
                self._printed += more
            self._shown += more
            self._heard(more)
        return bool(self._open)


def text(shown):
    return shown.decode(errors="replace").replace("\r\n", "\n")


def picture_in(shown):
    """The lines of a QR code in what a terminal shows; none when there is no code."""
    return [line for line in shown.split("\n") if len(line) >= LEAST_WIDTH and set(line) <= set(MODULES)]


def read(lines, directory):
    """What the code says, from a picture of the lines on a dark terminal."""
    width = max(map(len, lines))
    dark = [False] * (width + 4)
    rows = [dark, dark]
    for line in lines:
        for half in (0, 1):
            modules = [MODULES[character][half] for character in line.ljust(width)]
            rows.append([False, False, *modules, False, False])
    rows += [dark, dark]
    path = os.path.join(directory, "screen.pgm")
    with open(path, "wb") as file:
        file.write(f"P5 {len(rows[0]) * PIXELS} {len(rows) * PIXELS} 255\n".encode())
        for row in rows:
            file.write(b"".join((b"\xff" if light else b"\0") * PIXELS for light in row) * PIXELS)
    command = ["zbarimg", "--quiet", "--raw", "--nodbus", path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"nothing can be read from the code: {done}\n" + "\n".join(lines)
    return done.stdout.strip()
