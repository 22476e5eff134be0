"""Many who begin a handshake and do not go on, or say nothing at all: for tests and measures, with Python's standard library
only."""

import errno
import itertools
import random
import selectors
import socket
import ssl
import sys
import threading
import time

JOIN_SECONDS = 20
# Whoever was sent away comes again after so long.
AGAIN_SECONDS = 1


def client_hello():
    """What a link begins with."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["muster/1"])
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context.wrap_bio(incoming, outgoing).do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()
    raise AssertionError("a handshake with nobody has ended")


class Slow:
    """One that connects from an address of its own and says its hello byte by byte, or all of it and then nothing, or
    nothing at all; and comes again when it was sent away."""

    def __init__(self, crowd, number):
        self._crowd, self._number = crowd, number
        self._source = f"127.1.{number // 250}.{number % 250 + 1}"
        self.connection, self.begun, self.due = None, 0, 0

    def act(self, now):
        """Begins, or says the next byte. Returns when it wants to act again."""
        if self.connection is None:
            self._begin()
        elif self._said < len(self._words):
            self._say(1)
        return now + random.uniform(0.5, 1) * AGAIN_SECONDS

    def _begin(self):
        connection = socket.socket()
        connection.setblocking(False)
        connection.bind((self._source, 0))
        if connection.connect_ex(("127.0.0.1", self._crowd.port)) not in (0, errno.EINPROGRESS):
            connection.close()
            return
        self.connection, self._said = connection, 0
        self._words = self._crowd.hello if self._number % 3 else b""
        self.begun += 1
        self._crowd.watch(self)
        if self._number % 3 == 1:
            self._say(len(self._words))

    def _say(self, count):
        try:
            self._said += self.connection.send(self._words[self._said : self._said + count])
        except BlockingIOError:
            pass
        except OSError:
            self.end()

    def hear(self):
        try:
            if self.connection.recv(1 << 14):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self.end()

    def end(self):
        if self.connection:
            self._crowd.forget(self)
            self.connection.close()
            self.connection = None


class Crowd:
    """A context manager: all of them at once, in a thread. With an empty `hello` nobody says a word."""

    def __init__(self, port, size, hello=None):
        self.port, self.hello = port, client_hello() if hello is None else hello
        self._selector = selectors.DefaultSelector()
        self._all = [Slow(self, number) for number in range(size)]
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def begun(self):
        return sum(one.begun for one in self._all)

    @property
    def is_complete(self):
        return all(one.begun for one in self._all)

    def watch(self, one):
        self._selector.register(one.connection, selectors.EVENT_READ, one)

    def forget(self, one):
        self._selector.unregister(one.connection)

    def _run(self):
        # One after the other within a second, not at the same moment.
        began = time.monotonic()
        for count, one in enumerate(self._all):
            one.due = began + count / len(self._all)
        while not self._is_over.is_set():
            for key, _ in self._selector.select(0.01):
                key.data.hear()
            now = time.monotonic()
            for one in self._all:
                if one.due <= now:
                    one.due = one.act(now)

    def __enter__(self):
        # Whoever measures beside this thread is not to wait for it longer than for the programs.
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(self._interval / 10)
        self._thread.start()
        return self

    def __exit__(self, *_):
        sys.setswitchinterval(self._interval)
        self._is_over.set()
        self._thread.join(JOIN_SECONDS)
        for one in self._all:
            one.end()
        self._selector.close()


def standing(port):
    """How many connections from the crowd the kernel has at a port, as it says itself."""
    place, found = f"0100007F:{port:04X}", 0
    with open("/proc/net/tcp", encoding="utf-8") as file:
        for line in itertools.islice(file, 1, None):
            _, local, remote, state = line.split()[:4]
            # 127.1.x.y, established.
            found += local == place and state == "01" and remote[4:8] == "017F"
    return found
