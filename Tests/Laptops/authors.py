"""Who writes journals, and signs them: see Sources/Authorship, and Author in peer.proto."""

import base64
import hashlib
import os
import struct

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from protobuf import text, varint

# The name of a server's journal in each job.
CHANNEL = bytes(16)
# A digest that no journal leads to.
CLAIMED = b"\1" * 32
SIGNATURE_BYTES = 64


def digest(records, start=bytes(32)):
    """The running digest of a journal: each link is the hash of the one before and a change's record."""
    for record in records:
        start = hashlib.sha256(start + record).digest()
    return start


def flipped(data, place):
    """With another bit in one byte."""
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def public(key):
    """The 32 bytes of a key that everybody may know."""
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def device_of(key):
    """The name that follows from a key, as DevicePublicKey.device makes it."""
    return hashlib.sha256(public(key)).digest()


def name(key, nonce):
    """The replica that a laptop's key and a number make."""
    return hashlib.sha256(b"muster replica 1\0" + key + nonce).digest()[:16]


def server_name(key):
    """Under which a server is known, though its journals bear another name: none of them follows from one key."""
    return hashlib.sha256(b"muster server 1\0" + key).digest()[:16]


def signed_content(job, replica, last, head):
    """What an author signs: that its journal has this digest after this transform."""
    job = job.encode()
    return b"muster journal 1\0" + varint(len(job)) + job + replica + struct.pack(">Q", last) + head


def has_signed(key, signature, *content):
    """Whether the author with this public key has; `content` as in `signed_content`. In a channel the key follows."""
    signature = signature or b""
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature[:SIGNATURE_BYTES], signed_content(*content))
        return signature[SIGNATURE_BYTES:] == (key if content[1] == CHANNEL else b"")
    except InvalidSignature:
        return False


class Author:
    """Writes one replica's journals with a key of its own, or with a member's; of no fleet unless it has certificates.

    With a `replica` it says that it is another one than that of its key, which is a lie.
    """

    def __init__(self, key=None, certificates=(), replica=None):
        self.key = key or Ed25519PrivateKey.generate()
        self.certificates = certificates
        self.nonce = os.urandom(16)
        self.replica = replica or name(public(self.key), self.nonce)

    @property
    def device(self):
        return device_of(self.key)

    @property
    def message(self):
        """How peers are told of it."""
        return text(1, public(self.key)) + text(2, self.nonce) + b"".join(text(3, one) for one in self.certificates)

    @property
    def document(self):
        """How a server is."""
        certificates = [base64.b64encode(one).decode() for one in self.certificates]
        return {"key": public(self.key).hex(), "nonce": self.nonce.hex(), "certificates": certificates}

    def sign(self, job, last, head):
        return self.key.sign(signed_content(job, self.replica, last, head))


class Server(Author):
    """Writes channels: all servers bear one name, and each signature says whose key has made it."""

    def __init__(self, key=None, certificates=()):
        super().__init__(key, certificates, CHANNEL)
        self.nonce = b""

    @property
    def document(self):
        """How another server is told of it."""
        return {name: value for name, value in super().document.items() if name != "nonce"}

    def sign(self, job, last, head):
        return super().sign(job, last, head) + public(self.key)
