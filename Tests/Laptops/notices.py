"""What systemd hears of a daemon."""

import os
import select
import socket

from lab import wait_until


class Notices:
    """systemd's end of NOTIFY_SOCKET (sd_notify(3)).

    A sender waits while the queue is full. `fill` fills it: after that, each datagram that is read lets one more be sent, and
    whoever sends stands still in the midst of what it tells of.
    """

    _FILLER = b"X_FILLER=1"

    def __init__(self, directory):
        self.path = os.path.join(directory, "notify")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(self.path)
        self.environment = {"NOTIFY_SOCKET": self.path}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()
        os.remove(self.path)

    def fill(self):
        isFull = False
        while not isFull:
            # What one socket has sent and nobody has read is bounded, too.
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.setblocking(False)
                isFull = True
                try:
                    while True:
                        sender.sendto(self._FILLER, self.path)
                        isFull = False
                except BlockingIOError:
                    pass

    def read_all(self):
        """What is there: the fields of each datagram; of fillers nothing."""
        read = []
        try:
            while True:
                read += self._read()
        except BlockingIOError:
            return read

    def wait_for(self, count, deadline_seconds):
        """The same of so many, fillers among them, as they come."""
        read = []
        for _ in range(count):
            wait_until(self._has_some, deadline_seconds, "something is told")
            read += self._read()
        return read

    def _has_some(self):
        return bool(select.select([self._socket], [], [], 0)[0])

    def _read(self):
        datagram = self._socket.recv(4096)
        if datagram == self._FILLER:
            return []
        return [dict(line.split("=", 1) for line in datagram.decode().split("\n"))]
