"""A newcomer that is no musterd: speaks enrolment byte by byte, soundly or not. See enrolment.proto for the fields."""

import functools
import hashlib
import hmac
import itertools
import os
import socket
import ssl
import struct
import tempfile
import threading
from datetime import datetime, timezone

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import NameOID
from protobuf import entries
from stranger import frame, number, text, tls

ENROLMENT = "muster-enrolment/1"
ASK, TERMS, NEWCOMER_PROOF, INVITER_PROOF, CERTIFICATES, REFUSAL = range(1, 7)
# Reasons of a refusal.
ELSEWHERE, BUSY, WRONG_CODE, EXPIRED, TRIES_USED_UP, USED, WITHDRAWN, NOT_RENEWABLE, OTHER_KIND = range(1, 10)
BY_NEWCOMER, BY_INVITER = 1, 2
PROOF_BYTES = 32
PATIENCE_SECONDS = 20
# Crockford's base 32.
CHARACTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def ask(invitation, name="stranger"):
    return frame(text(ASK, text(1, invitation) + text(2, name)))


def terms(root, role="member", name="stranger"):
    return frame(text(TERMS, text(1, root) + text(2, role) + text(3, name)))


def newcomer_proof(proof):
    return frame(text(NEWCOMER_PROOF, proof))


def inviter_proof(proof):
    return frame(text(INVITER_PROOF, proof))


def refusal(reason, tries_left=0):
    return frame(text(REFUSAL, number(1, reason) + number(2, tries_left)))


@functools.cache
def join_key(code):
    """What a code, as it is printed, becomes before anything is proved with it."""
    characters = code.replace("-", "")
    salt = f"muster invitation 1 {characters[:4]}".encode()
    return hashlib.scrypt(characters[4:15].encode(), salt=salt, n=1 << 15, r=8, p=1, maxmem=1 << 26, dklen=32)


def proof_of(code, side, inviter, newcomer, root, role):
    """That a side knows the code; the keys are public ones."""
    content = bytes([side]) + inviter + newcomer + root + role.encode()
    return hmac.digest(join_key(code), content, "sha256")


def raw(public):
    return public.public_bytes(Encoding.Raw, PublicFormat.Raw)


def key_in(certificate):
    """The public key in a certificate, which is in DER."""
    return raw(x509.load_der_x509_certificate(certificate).public_key())


def mistaken(code):
    """The same invitation with another secret, which fits its check: what a person types who has heard a wrong code."""
    characters = code.replace("-", "")
    secret = CHARACTERS[CHARACTERS.index(characters[5]) - 1]
    characters = characters[:5] + secret + characters[6:15]
    check = 0
    for character in reversed(characters):
        check = (check ^ CHARACTERS.index(character)) << 1
        check ^= 0b100101 if check & 32 else 0
    characters += CHARACTERS[check]
    return "-".join(characters[start : start + 4] for start in range(0, 16, 4))


class Identity:
    """A key and a certificate that it has signed itself, as a laptop of this kind shows them."""

    def __init__(self, kind="newcomer", role="reader", key=None):
        key = key or Ed25519PrivateKey.generate()
        self.key = raw(key.public_key())
        self.device = hashlib.sha256(self.key).hexdigest()
        names = [
            (NameOID.ORGANIZATION_NAME, f"Muster {kind} {self.device[:8]}"),
            (NameOID.ORGANIZATIONAL_UNIT_NAME, role),
            (NameOID.COMMON_NAME, self.device),
        ]
        subject = x509.Name([x509.NameAttribute(*name) for name in names])
        builder = x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        builder = builder.not_valid_before(datetime(1970, 1, 2, tzinfo=timezone.utc))
        builder = builder.not_valid_after(datetime(9999, 12, 31, tzinfo=timezone.utc))
        self._pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        self._pem += builder.sign(key, None).public_bytes(Encoding.PEM)

    def shown_by(self, context, application=ENROLMENT):
        """Lets the ends of this context show it, and speak this protocol."""
        context.set_alpn_protocols([application])
        with tempfile.NamedTemporaryFile() as file:
            file.write(self._pem)
            file.flush()
            context.load_cert_chain(file.name)
        return context


    def asking(self):
        """As `Member.asking`."""
        return self.shown_by(tls(), "http/1.1")

    def serving(self, asks=False):
        """As `Member.serving`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        return self.shown_by(context, "http/1.1")


class Conversation:
    """Enrolment's frames over TLS."""

    def __init__(self, connection):
        self.tls = connection
        self.kinds = []
        self._waiting = b""

    @property
    def peer_key(self):
        return key_in(self.tls.getpeercert(binary_form=True))

    def say(self, *frames):
        """Returns whether all of it could be sent."""
        try:
            self.tls.sendall(b"".join(frames))
            return True
        except (ssl.SSLError, ConnectionError):
            return False

    def payload(self):
        """Of the next frame; None when the other end has closed the connection."""
        while len(self._waiting) < 4 or len(self._waiting) < 4 + struct.unpack(">I", self._waiting[:4])[0]:
            try:
                more = self.tls.recv(1 << 16)
            except (ssl.SSLError, ConnectionError):
                return None
            if not more:
                return None
            self._waiting += more
        length = 4 + struct.unpack(">I", self._waiting[:4])[0]
        payload, self._waiting = self._waiting[4:length], self._waiting[length:]
        self.kinds.append(payload[0] >> 3)
        return payload

    def next(self):
        """The next message as its kind and what is in it; (None, None) when the other end has closed the connection."""
        payload = self.payload()
        if payload is None:
            return None, None
        ((kind, body),) = entries(payload)
        if kind in (ASK, TERMS, CERTIFICATES):
            return kind, [value for _, value in entries(body)]
        if kind == REFUSAL:
            fields = dict(entries(body))
            return kind, (fields[1], fields.get(2, 0))
        return kind, body

    def is_closed_within(self, seconds):
        """Reads on until the other end closes the connection."""
        self.tls.settimeout(seconds)
        try:
            while self.payload() is not None:
                pass
            return True
        except TimeoutError:
            return False

    def hang_up(self):
        """Says nothing more, not even goodbye, and still listens."""
        with socket.socket(fileno=os.dup(self.tls.fileno())) as end:
            end.shutdown(socket.SHUT_WR)

    def close(self):
        self.tls.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Newcomer(Identity):
    """A laptop that wants to join; or a server, by its own word."""

    def __init__(self, role="reader", key=None):
        super().__init__(role=role, key=key)
        self._context = self.shown_by(tls())

    def connect(self, daemon, source="127.0.0.1"):
        """A conversation with a daemon in which nothing is said yet. That it was refused shows only when it is read."""
        connection = socket.socket()
        connection.settimeout(PATIENCE_SECONDS)
        try:
            connection.bind((source, 0))
            connection.connect(("127.0.0.1", daemon.port))
            return Conversation(self._context.wrap_socket(connection))
        except BaseException:
            connection.close()
            raise

    def ask(self, daemon, code):
        """A conversation in which the invitation was named and terms were given, and these terms."""
        conversation = self.connect(daemon)
        conversation.say(ask(code[:4]))
        kind, given = conversation.next()
        assert kind == TERMS, (kind, given)
        return conversation, given

    def proof(self, code, conversation, given, side=BY_NEWCOMER):
        root, role, _ = given
        return proof_of(code, side, conversation.peer_key, self.key, key_in(root), role.decode())

    def prove(self, daemon, code, is_wrong=False):
        """Shows that it knows the code, or a proof of something else. Returns the conversation and its answer."""
        conversation, given = self.ask(daemon, code)
        proof = os.urandom(PROOF_BYTES) if is_wrong else self.proof(code, conversation, given)
        conversation.say(newcomer_proof(proof))
        kind, answer = conversation.next()
        if kind == INVITER_PROOF:
            assert answer == self.proof(code, conversation, given, BY_INVITER), "the inviter knows the code"
        return conversation, (kind, answer)


class Flood:
    """Guesses names of invitations from an address of its own, on many connections at once, until `count` are answered.

    `refused` are the answers that say no; `other` is what came otherwise.
    """

    def __init__(self, daemon, spared, count, threads=16, source="127.0.0.2"):
        self.refused, self.other = [], []
        self._daemon, self._source, self._count = daemon, source, count
        names = map("".join, itertools.product(CHARACTERS, repeat=4))
        self._names = iter([name for name in itertools.islice(names, 2 * count) if name != spared])
        self._newcomer = Newcomer()
        self._threads = [threading.Thread(target=self._guess, daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    @property
    def is_over(self):
        return not any(thread.is_alive() for thread in self._threads)

    def _guess(self):
        while len(self.refused) < self._count and len(self.other) < self._count:
            try:
                with self._newcomer.connect(self._daemon, self._source) as conversation:
                    conversation.say(ask(next(self._names)))
                    kind, answer = conversation.next()
            except OSError as error:
                kind, answer = None, error
            (self.refused if kind == REFUSAL else self.other).append(answer)
