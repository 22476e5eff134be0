"""What listens at a daemon's socket and is none: it answers what a test tells it to."""

import contextlib
import os
import select
import socket
import subprocess
import threading

from solo import PATIENCE_SECONDS

PROBLEM = "application/problem+json"


class Call:
    """One connection of somebody who asks."""

    def __init__(self, connection):
        self.socket = connection
        self.head = b""
        # What has come of the request's body.
        self.body = b""

    def read_head(self):
        while b"\r\n\r\n" not in self.head:
            piece = self.socket.recv(65536)
            if not piece:
                raise ConnectionError("the caller has gone")
            self.head += piece
        self.head, _, self.body = self.head.partition(b"\r\n\r\n")
        return self

    def read_body(self):
        """The body of a request whose length stands in its head."""
        while len(self.body) < int(self.header("content-length") or 0):
            self.body += self.socket.recv(65536)
        return self

    @property
    def target(self):
        return self.head.split(b" ")[1].decode()

    def header(self, name):
        for line in self.head.decode().split("\r\n")[1:]:
            key, _, value = line.partition(": ")
            if key.lower() == name:
                return value
        return None

    def answer(self, status, body, media_type="application/json", length=None):
        """`length`: what is said of it, if that is not true."""
        self.socket.sendall(
            f"HTTP/1.1 {status} Said\r\nContent-Type: {media_type}\r\nMuster-Version: 0.1.0\r\n"
            f"Content-Length: {len(body) if length is None else length}\r\n\r\n".encode() + body)

    def is_closed_within(self, seconds):
        self.socket.settimeout(seconds)
        try:
            while self.socket.recv(65536):
                pass
        except TimeoutError:
            return False
        except ConnectionError:
            pass
        return True

    def send_while_taken(self, piece, most, patience_seconds):
        """Sends again and again until nothing was taken for so long, or enough was.

        - Returns: how many bytes were taken.
        """
        count = 0
        self.socket.setblocking(False)
        while count < most and select.select([], [self.socket], [], patience_seconds)[1]:
            count += self.socket.send(piece[count % len(piece):])
        return count


class FalseDaemon:
    """Listens, and lets a function answer each call. `with` ends it."""

    def __init__(self, directory, build_directory, serve):
        self.socket = os.path.join(directory, "false.sock")
        self.calls = []
        self.failures = []
        self._program = os.path.join(build_directory, "muster")
        self._serve = serve
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.socket)
        self._listener.listen(8)

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        # Wakes whoever accepts.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for call in self.calls:
            call.socket.close()

    def caller(self):
        """Somebody who waits to be accepted; none where no more may wait."""
        caller = socket.socket(socket.AF_UNIX)
        caller.setblocking(False)
        try:
            caller.connect(self.socket)
        except BlockingIOError:
            caller.close()
            return None
        return caller

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                call = Call(connection)
                self.calls.append(call)
                threading.Thread(target=self._answer, args=(call,), daemon=True).start()

    def _answer(self, call):
        try:
            self._serve(call)
        except Exception as error:  # of the test's own function: the test looks at them
            self.failures.append(error)

    def command(self, *words):
        return [self._program, *words, "--socket", self.socket]

    def muster(self, *words):
        return subprocess.run(
            self.command(*words), capture_output=True, text=True, timeout=2 * PATIENCE_SECONDS,
            env={**os.environ, "COLUMNS": "80"})
