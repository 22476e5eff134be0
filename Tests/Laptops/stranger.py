"""A peer that is no musterd: speaks the peers' protocol byte by byte, soundly or not. See peer.proto for the fields."""

import base64
import errno
import socket
import ssl
import struct
import tempfile
import threading
import urllib.parse

from authors import Author, Server, device_of
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from lab import wait_until
from protobuf import fixed, number, text, varint

APPLICATION = "muster/1"
VERSION = 11

HELLO, PING, _, SUMMARIES, VECTOR, HAVE, REQUEST, CREDIT, DELTA, PRUNE = range(1, 11)
PROBE, PROBE_ANSWER, GOODBYE, FORKED, REPORT_REQUEST, REPORT = range(11, 17)
PONG, READY, REVOCATIONS, ASSIGNMENTS = 17, 18, 24, 25


def frame(payload):
    return struct.pack(">I", len(payload)) + payload


def hello(device, versions=(VERSION, VERSION), name="stranger", revocations=0, instance=1):
    """`revocations` is the fingerprint of those that it knows; of two of one device the lower `instance` gives way."""
    body = number(1, versions[0]) + number(2, versions[1]) + text(3, device) + fixed(4, instance) + text(5, name)
    return frame(text(HELLO, body + (fixed(7, revocations) if revocations else b"")))


def ping(count):
    return frame(fixed(PING, count))


def pong(count, received=0, answered=0, stratum=16, uncertainty=1 << 50):
    """Without a word about the time by default: no clock follows one of 1970."""
    zigzag = lambda value: value << 1 if value >= 0 else (-value << 1) - 1
    body = fixed(1, count) + number(2, zigzag(received)) + number(3, zigzag(answered))
    return frame(text(PONG, body + number(4, stratum) + number(5, uncertainty)))


def columns(name, entries, digests):
    """`entries` are (replica, sequence, digest), `digests` is the field of these."""
    body = text(1, name) + text(2, b"".join(entry[0] for entry in entries))
    body += text(3, b"".join(varint(entry[1]) for entry in entries))
    return body + text(digests, b"".join(entry[2] for entry in entries))


def vector(kind, job, entries):
    return frame(text(kind, columns(job, entries, 6)))


def removed(job, name, entries):
    """The vector of a job that is said to have ended when so much was held of it."""
    return frame(text(VECTOR, columns(job, [], 6) + text(5, columns(name, entries, 5))))


def have(job, entries):
    return vector(HAVE, job, entries)


def request(job, replica, start=1, credit=2 << 20):
    return frame(text(REQUEST, text(1, job) + text(2, replica) + number(3, start) + number(4, credit)))


def credit(job, replica, count):
    return frame(text(CREDIT, text(1, job) + text(2, replica) + number(3, count)))


def delta(job, author, first, last, head, changes, signature=None, tells=True):
    """A run that ends with the digest `head`. Its author has signed that, unless another signature is given."""
    body = text(1, job) + text(2, author.replica) + number(3, first) + number(4, last) + text(6, changes) + number(7, 1)
    body += text(9, head) + text(10, author.sign(job, last, head) if signature is None else signature)
    return frame(text(DELTA, body + (text(11, author.message) if tells and author.message else b"")))


def forked(job, replica):
    return frame(text(FORKED, text(1, job) + text(2, replica)))


def report_request(job, count):
    return frame(text(REPORT_REQUEST, text(1, job) + fixed(2, count)))


def revocations(entries):
    return frame(text(REVOCATIONS, b"".join(text(1, entry) for entry in entries)))


def assignments(statements):
    """`statements` as (content, signature, certificates)."""
    parts = [
        text(1, text(1, content) + text(2, signature) + b"".join(text(3, one) for one in certificates))
        for content, signature, certificates in statements
    ]
    return frame(text(ASSIGNMENTS, b"".join(parts)))


def change(item, stamp, name):
    """One change that sets the field `name`, as ChangeCodec encodes it with a name of its own."""
    operation = bytes([2 << 6]) + varint(len("colour")) + b"colour" + varint(len(name)) + name.encode()
    body = item + struct.pack(">Q", stamp) + varint(0) + b"\0" + varint(1) + operation
    return varint(len(body)) + body


def tls():
    """What a link speaks. Whom this end trusts is no question: it is the daemon that has to decide."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([APPLICATION])
    return context


class Member:
    """A key with certificates of a fleet."""

    def __init__(self, fleet, key=None, role="member"):
        self.key = key or Ed25519PrivateKey.generate()
        self.device = device_of(self.key)
        request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(self.key, None)
        self.request = request.public_bytes(Encoding.PEM).decode()
        # The last one, the root's, is with every laptop, and not sent.
        self.chain, begin, rest = fleet.sign(self.request, role).rpartition("-----BEGIN")
        self.root = begin + rest
        self.context = self.shown_by(tls())

    def shown_by(self, context):
        """Lets the ends of this context prove that they are this one."""
        with tempfile.NamedTemporaryFile() as file:
            file.write(self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
            file.write(self.chain.encode())
            file.flush()
            context.load_cert_chain(file.name)
        return context

    def asking(self):
        """What shows this one to a server over HTTP. That it is the server is not asked."""
        context = self.shown_by(tls())
        context.set_alpn_protocols(["http/1.1"])
        return context

    @property
    def passed_on(self):
        """The headers of a request that a proxy passes on from it."""
        own, *behind = self.certificates
        escaped = urllib.parse.quote(ssl.DER_cert_to_PEM_cert(own), safe="")
        return {"X-Client-Cert": escaped, "Muster-Issuer": ",".join(base64.b64encode(one).decode() for one in behind)}

    def serving(self, asks=True):
        """What shows this one to whoever connects, and asks for a certificate of the same fleet."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.set_alpn_protocols(["http/1.1"])
        if asks:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(cadata=self.root)
        return self.shown_by(context)

    def author(self, replica=None):
        """Writes under a new name, or says that it is the one that is given."""
        return Author(self.key, self.certificates, replica)

    def server(self):
        """Writes channels."""
        return Server(self.key, self.certificates)

    @property
    def certificates(self):
        """All that it shows, in DER: its own and its issuer's, if it has no renewal."""
        return [one.public_bytes(Encoding.DER) for one in blocks(self.chain)]


def blocks(text):
    """The certificates in a text, in their order."""
    end = "-----END CERTIFICATE-----"
    return [x509.load_pem_x509_certificate((block + end).encode()) for block in text.split(end)[:-1]]


class Link:
    """TLS over a connected socket. Unlike the one of `ssl`, one thread may read while another writes."""

    def __init__(self, connection, context, session=None):
        self._socket = connection
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, session=session)
        self._lock = threading.Lock()
        while True:
            try:
                self._tls.do_handshake()
                self._socket.sendall(self._outgoing.read())
                return
            except ssl.SSLWantReadError:
                self._socket.sendall(self._outgoing.read())
                self._receive()

    @property
    def session(self):
        """By which another connection may go on where this one was, if the daemon has offered that."""
        return self._tls.session

    def send(self, data):
        with self._lock:
            self._tls.write(data)
            encrypted = self._outgoing.read()
        self._socket.sendall(encrypted)

    def receive(self, count):
        """Empty when the TCP connection is closed; a goodbye of TLS is not enough. Raises OSError as a socket does."""
        while True:
            with self._lock:
                try:
                    return self._tls.read(count)
                except ssl.SSLWantReadError:
                    pass
                except ssl.SSLError:
                    break
            self._receive()
        while self._socket.recv(1 << 16):
            pass
        return b""

    def _receive(self):
        encrypted = self._socket.recv(1 << 16)
        with self._lock:
            if encrypted:
                self._incoming.write(encrypted)
            else:
                self._incoming.write_eof()


class Stranger:
    """A connection to a daemon's port, by somebody who has been let into its fleet, as a laptop of its own: the given
    member, or a new one."""

    def __init__(self, daemon, receive_bytes=None, member=None, connection=None):
        self.member = member or Member(daemon.fleet)
        self.socket = connection or connect(daemon, receive_bytes)
        self.waiting = b""
        self._link = Link(self.socket, self.member.context)

    def author(self, replica=None):
        """As `Member.author`."""
        return self.member.author(replica)

    def hello(self, **fields):
        return hello(**{"device": self.member.device, **fields})

    def greet(self, clock=None, **fields):
        """Says hello, answers the first ping with what `clock` says of the time, and is ready: a peer like any other."""
        self._link.send(self.hello(**fields))
        for kind, payload in self.frames():
            if kind == PING:
                (count,) = struct.unpack("<Q", payload[1:9])
                self.say(pong(count, **(clock or {})), frame(number(READY, 1)))
                break
        return self

    def say(self, *frames):
        """Sends as much as the daemon takes; returns whether that was all."""
        try:
            self._link.send(b"".join(frames))
            return True
        except OSError:
            return False

    def read(self):
        """What comes next, up to 64 KiB; empty when the connection is closed, by the daemon or here by another thread."""
        try:
            return self._link.receive(1 << 16)
        except ConnectionError:
            return b""
        except OSError as error:
            if error.errno == errno.EBADF:
                return b""
            raise

    def frames(self):
        """The payloads of the frames that come, as (kind, bytes), until the daemon closes the connection."""
        while True:
            while len(self.waiting) < 4 or len(self.waiting) < 4 + struct.unpack(">I", self.waiting[:4])[0]:
                more = self.read()
                if not more:
                    return
                self.waiting += more
            length = struct.unpack(">I", self.waiting[:4])[0]
            payload, self.waiting = self.waiting[4 : 4 + length], self.waiting[4 + length :]
            yield payload[0] >> 3 | (payload[1] << 4 if payload[0] & 128 else 0), payload

    def is_closed_within(self, seconds):
        """Reads on until the daemon closes the connection."""
        self.socket.settimeout(seconds)
        try:
            while self.read():
                pass
            return True
        except TimeoutError:
            return False

    def close(self):
        self.socket.close()


def connect(daemon, receive_bytes=None):
    """A connection to a daemon's port, on which nothing is said yet."""
    connection = socket.socket()
    if receive_bytes:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", daemon.port))
    return connection


def wait_for_log(daemon, words, deadline_seconds=10):
    wait_until(lambda: words in daemon.log(), deadline_seconds, f"{daemon.name} logs '{words}'")
