"""What the tests of revocation do over and over: a crew of the founded fleet, the root, and who signs in Python."""

import base64
import hashlib
import os
import struct
import threading
import time
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import pytest
from authors import device_of
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
from cryptography.x509.oid import NameOID
from invitations import certificates, newcomer
from lab import wait_until
from newcomer import key_in
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import Member, Stranger, blocks

# Every laptop that hears of it closes its connections within this time.
CUT_OFF_SECONDS = 2
# As musterd ends with settings that it cannot use.
CONFIGURATION = 64
REFUSED = "It was revoked"
NOT_ALLOWED = "Nobody who may do so has signed the revocation"
UNREADABLE = "It is no revocation"


class Crew:
    """Anna, who may let others in, bert, whom she has let in, and cleo: all connected, and agreed on a job."""

    def __init__(self, solos, anna):
        self._solos = solos
        self.anna = anna
        self.bert = enlist(solos, anna, "bert", anna.address)
        self.cleo = enlist(solos, anna, "cleo", anna.address, self.bert.address)
        self.job = anna.create_job()
        wait_agreed(self.all, self.job)
        self.wait_together()

    @property
    def all(self):
        return [self.anna, self.bert, self.cleo]

    def wait_together(self):
        for daemon in self.all:
            others = sorted(other.name for other in self.all if other is not daemon)
            wait_until(lambda: daemon.connected() == others, PATIENCE_SECONDS, f"{daemon.name} has all: {daemon.log()}")

    def wait_without_bert(self):
        for daemon, rest in ((self.anna, ["cleo"]), (self.cleo, ["anna"])):
            cut_off = lambda: daemon.connected() == rest
            wait_until(cut_off, CUT_OFF_SECONDS, f"{daemon.name} has only {rest}: {daemon.log()}")

    def enlist(self, name, *peers):
        """One more, who agrees on the job."""
        daemon = enlist(self._solos, self.anna, name, *[peer.address for peer in peers])
        wait_agreed([self.anna, daemon], self.job)
        return daemon


@pytest.fixture
def crew(solos, anna):
    return Crew(solos, anna)


@pytest.fixture
def root(founded):
    return Root(founded)


def enlist(solos, issuer, name, *addresses):
    """A new laptop that knows these addresses, with a certificate of this issuer."""
    daemon = newcomer(solos, name, *addresses)
    certify(issuer, daemon)
    return daemon


def certify(issuer, daemon, role="member"):
    request = daemon.get("/v1/fleet")["request"]
    install(daemon, sign(issuer, request, role)["certificates"])


def install(daemon, chain):
    status, answer = daemon.ask("PUT", "/v1/fleet", {"certificates": chain})
    assert status == 200, answer


def sign(issuer, request, role="member"):
    return issuer.make("/v1/fleet/certificates", {"request": request, "role": role})


def fleet_of(issuer):
    """What lets Python members in."""
    return SimpleNamespace(sign=lambda request, role: sign(issuer, request, role)["certificates"])


def identifier(daemon):
    return daemon.get("/v1/fleet")["deviceID"]


def revoke(issuer, device):
    """`device` is a name, or an id."""
    return issuer.make("/v1/fleet/revocations", {"device": device})


def revoked(daemon):
    """The ids of all that a laptop knows to be shut out."""
    return {device["deviceID"] for device in daemon.get("/v1/fleet/devices") if device["state"] == "revoked"}


def wait_revoked(daemon, *devices):
    known = lambda: revoked(daemon) >= set(devices)
    wait_until(known, PATIENCE_SECONDS, f"{daemon.name} knows of the revocations: {daemon.log()}")


def kept(daemon):
    """The file with what it knows, byte for byte; empty without one."""
    try:
        with open(log_path(daemon), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def wait_kept_alike(*daemons):
    """Who hears a revocation goes by it at once, and writes it down a moment later."""
    alike = lambda: kept(daemons[0]) != b"" and len({kept(daemon) for daemon in daemons}) == 1
    wait_until(alike, PATIENCE_SECONDS, f"all keep the same: {[len(kept(daemon)) for daemon in daemons]}")


def log_path(daemon):
    return os.path.join(daemon.state, "revocations.pem")


def entries(daemon):
    """What it keeps, as it is passed on."""
    blocks = kept(daemon).decode().split("-----BEGIN MUSTER REVOCATION-----")[1:]
    return [base64.b64decode(block.partition("-----END")[0]) for block in blocks]


def fingerprint(those):
    """One number for all of them, as RevocationLog makes it."""
    return sum(int.from_bytes(hashlib.sha256(entry).digest()[:8], "big") for entry in those) % (1 << 64)


def forget_revocations(daemon):
    """What a thief does with a laptop that does not run: it knows of nothing."""
    if os.path.exists(log_path(daemon)):
        os.remove(log_path(daemon))


class Root:
    """The founded fleet's root, in its file."""

    def __init__(self, founded):
        directory = os.path.dirname(founded)
        self.options = ["--root", os.path.join(directory, "root.pem")]
        self.options += ["--passphrase-file", os.path.join(directory, "passphrase")]

    def let_issue(self, daemon, role="lead"):
        """Makes a laptop one that may let others in."""
        install(daemon, self._sign(daemon, daemon.get("/v1/fleet")["request"], role))

    def signer(self, daemon):
        """One in Python who may do so, too; the laptop only lends its clock."""
        signer = Signer()
        chain = self._sign(daemon, signer.request, "office")
        signer.certificate, signer.root = map(der, blocks(chain))
        return signer

    def _sign(self, daemon, request, role):
        path = os.path.join(daemon.state, "..", f"{daemon.name}.request")
        with open(path, "w", encoding="utf-8") as file:
            file.write(request)
        done = daemon.muster("fleet", "sign", path, "--role", role, *self.options)
        assert done.returncode == 0, done
        return done.stdout


class Signer:
    """A key with one certificate, which signs revocations in a fleet, whether it may or not."""

    def __init__(self, key=None, certificate=None, root=None):
        self.key = key or Ed25519PrivateKey.generate()
        self.certificate, self.root = certificate, root
        request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(self.key, None)
        self.request = request.public_bytes(Encoding.PEM).decode()

    def revocation(self, device, milliseconds=None):
        """Of the device with this id, as it is passed on."""
        when = struct.pack(">q", int(time.time() * 1000) if milliseconds is None else milliseconds)
        root = key_in(self.root)
        named = bytes.fromhex(device) + when
        return b"\1" + named + self.key.sign(b"muster revocation 1\0" + root + named) + self.certificate


def issuer_of(fleet):
    """The laptop of a fleet of the lab that lets others in, as a signer."""

    def read(name):
        with open(os.path.join(fleet.state, name), "rb") as file:
            return file.read()

    root = der(blocks(read("fleet.pem").decode())[2])
    return Signer(load_pem_private_key(read("device.key"), None), der(blocks(read("issuer.pem").decode())[0]), root)


def root_of(daemon):
    """The root's certificate, which is with every laptop, in DER."""
    return der(blocks(certificates(daemon)["fleet.pem"].decode())[2])


def fleet_in(certificate):
    """The short id of the fleet, from its root's certificate."""
    return hashlib.sha256(key_in(certificate)).hexdigest()[:8]


def as_signer(member, daemon):
    """A member, which may not sign, with its own certificate."""
    return Signer(member.key, der(blocks(member.chain)[0]), root_of(daemon))


def subject_of(kind, key, fleet):
    """As a fleet's certificates have it; `fleet` is its short id."""
    names = [
        (NameOID.ORGANIZATION_NAME, f"Muster {kind} {fleet}"),
        (NameOID.ORGANIZATIONAL_UNIT_NAME, "office"),
        (NameOID.COMMON_NAME, device_of(key).hex()),
    ]
    return x509.Name([x509.NameAttribute(*name) for name in names])


def made_certificate(kind, subject, key, under=None, public=None):
    """A certificate as a fleet has them, made by nobody of it. `under` are the certificate and the key of whoever signs
    it; by default it does so itself. `public` is the key in it, if that is not the owner's."""
    issuer = x509.load_der_x509_certificate(under[0]).subject if under else subject
    now = datetime.now(timezone.utc)
    builder = x509.CertificateBuilder(issuer, subject, public or key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=365))
    builder = builder.add_extension(x509.BasicConstraints(True, 1 if kind == "root" else 0), True)
    usage = dict.fromkeys(
        ["digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
         "crl_sign", "encipher_only", "decipher_only"], False)
    builder = builder.add_extension(x509.KeyUsage(key_cert_sign=True, **usage), True)
    return der(builder.sign(under[1] if under else key, None))


def der(certificate):
    return certificate.public_bytes(Encoding.DER)


def pem(*those):
    """Revocations as a person hands them on."""
    text = ""
    for entry in those:
        lines = base64.encodebytes(entry).decode().replace("\n", "")
        lines = "\n".join(lines[at : at + 64] for at in range(0, len(lines), 64))
        text += f"-----BEGIN MUSTER REVOCATION-----\n{lines}\n-----END MUSTER REVOCATION-----\n"
    return text


def with_flipped_bit(entry, at):
    flipped = bytearray(entry)
    flipped[at] ^= 1
    return bytes(flipped)


def member_of(issuer, key=None):
    return Member(fleet_of(issuer), key)


class Flood:
    """A member that connects over and over, on several connections at once."""

    def __init__(self, daemon):
        self.member = member_of(daemon)
        self.held = []
        self._daemon, self._is_over = daemon, threading.Event()
        self._threads = [threading.Thread(target=self._connect, daemon=True) for _ in range(4)]
        for thread in self._threads:
            thread.start()

    def _connect(self):
        while not self._is_over.is_set():
            try:
                stranger = Stranger(self._daemon, member=self.member)
            except OSError:
                continue
            self.held.append(stranger)
            stranger.say(stranger.hello())

    def end(self):
        self._is_over.set()
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)

    def close(self):
        for stranger in self.held:
            stranger.close()
