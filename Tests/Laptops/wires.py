"""Whoever holds the cable between two laptops: sees the records of TLS, passes them on, and whatever else they like."""

import socket
import threading

from solo import PATIENCE_SECONDS

HEAD_BYTES = 5
DIALLED, ANSWERED = "dialled", "answered"


class Wire:
    """A context manager: a port of the loopback that leads to a laptop.

    `change(way, number, record)` gives the bytes that arrive instead of a record, which is the so manieth of its
    connection that goes this way; None cuts the connection in the middle of it. `changed` counts what was not passed on
    as it was. `heard` are all records as they came: a list of (way, record) for each connection.
    """

    def __init__(self, daemon):
        self.heard, self.changed = [], 0
        self.change = None
        self._daemon = daemon
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._open = []
        self._threads = [threading.Thread(target=self._listen, daemon=True)]

    def __enter__(self):
        self._threads[0].start()
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
        self._listener.close()
        assert not any(thread.is_alive() for thread in self._threads)

    def cut(self):
        for end in self._open:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                # It has ended already.
                pass

    def _listen(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._daemon.port), PATIENCE_SECONDS)
            except OSError:
                # The laptop does not run just now.
                near.close()
                continue
            far.settimeout(None)
            heard = []
            self.heard.append(heard)
            self._open += [near, far]
            for way, source, target in ((DIALLED, near, far), (ANSWERED, far, near)):
                thread = threading.Thread(target=self._pass, args=(way, source, target, heard), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _pass(self, way, source, target, heard):
        number = 0
        try:
            while record := read_record(source):
                heard.append((way, record))
                passed = self.change(way, number, record) if self.change else record
                number += 1
                self.changed += passed != record
                target.sendall(record[: len(record) // 2] if passed is None else passed)
                if passed is None:
                    break
        except OSError:
            # One of the two has gone.
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def read_record(source):
    """The next one, with its head; empty when the connection has ended."""
    head = _read(source, HEAD_BYTES)
    body = _read(source, int.from_bytes(head[3:], "big")) if head else b""
    return head + body if body else b""


def _read(source, count):
    read = b""
    while len(read) < count:
        more = source.recv(count - len(read))
        if not more:
            return b""
        read += more
    return read
