"""What the tests of attacks share: all that a laptop keeps, certificates with any fault, and a key that is not its
certificate's."""

import ctypes
import os
import sqlite3
import ssl
import tempfile
from datetime import datetime, timedelta, timezone

import pytest
from authors import public
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from lab import Fleet, wait_until
from revoking import der, fleet_in, issuer_of, subject_of
from solo import PATIENCE_SECONDS
from stranger import APPLICATION, Link, connect, hello

# All but who was heard of lately, and what time it is.
TABLES = """job journal segment item conflict barcode removal decided doubtful author request outcome published accepted
    outbox former assignment""".split()
# What is added up for whoever looks, and how often the server was asked.
PASSING = {
    "job": "digest digestFingerprint cubicFeet duplicates".split(),
    "outbox": "attempts failures waitSince waitMilliseconds waitCause lastError".split(),
}
# What the server has beside these.
SERVER_TABLES = "unseen garbage cutoff delivery changed server revocation known person crew".split()
FILES = ["device.key", "fleet.pem", "issuer.pem", "revocations.pem"]


@pytest.fixture
def signer(office):
    """The laptop that lets others into the server's fleet, which signs anything here."""
    return issuer_of(office.fleet)


@pytest.fixture(scope="module")
def elsewhere(build_directory):
    """Another company's fleet."""
    fleet = Fleet(build_directory)
    yield fleet
    fleet.end()


def kept(daemon):
    """All that a laptop has on its disk, while it runs: every journal and item, its keys and certificates."""
    found = {}
    for name in FILES:
        path = os.path.join(daemon.state, name)
        if os.path.exists(path):
            with open(path, "rb") as file:
                found[name] = file.read()
    return {**found, **rows(daemon.store, TABLES)}


def kept_by_server(office):
    """All that a server has in its database, while it runs."""
    return rows(office.store, TABLES + SERVER_TABLES)


def rows(path, tables):
    """Those of some tables, in words."""
    found = {}
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    try:
        for table in tables:
            passing = PASSING.get(table, [])
            those = [dict(row) for row in database.execute(f"SELECT * FROM {table}")]
            found[table] = sorted(str({name: row[name] for name in row if name not in passing}) for row in those)
    finally:
        database.close()
    return found


def assert_kept(daemon, before, but=()):
    """It has what it had, byte for byte; but for the tables into which something was honestly written meanwhile."""
    now = kept(daemon)
    assert now.keys() == before.keys()
    for part in before.keys() - set(but):
        assert now[part] == before[part], f"{daemon.name}: {part} has changed"


def heard(daemon, context, first=None):
    """What a daemon tells somebody who shows this and says hello, until it closes the connection; and whence that one
    called. Without a context nothing is encrypted."""
    words = b""
    with connect(daemon) as connection:
        remote = "{}:{}".format(*connection.getsockname())
        try:
            link = Link(connection, context) if context else None
            (link.send if link else connection.sendall)(first or hello(os.urandom(32)))
            while more := link.receive(1 << 16) if link else connection.recv(1 << 16):
                words += more
        except TimeoutError:
            raise AssertionError(f"{daemon.name} left the connection open: {daemon.log()}") from None
        except OSError:
            pass
    return words, remote


def wait_for_reason(daemon, remote):
    """What the log says of a connection from there."""
    said = lambda: [line for line in daemon.log().splitlines() if f"{remote}: " in line]
    return wait_until(said, PATIENCE_SECONDS, f"the log tells of {remote}: {daemon.log()}")[0]


class Issuing:
    """Signs whatever it is asked to, as an issuer of the fleet would, or as one who is none: for `Member`.

    The certificate holds `since` these days `until` those, counted from today. `behind` are the certificates that are
    shown behind it, in DER; by default that of the signer, who is a `Signer`.
    """

    def __init__(self, signer, since=-1, until=44, kind="laptop", role="member", behind=None):
        self._signer, self._since, self._until, self._kind, self._role = signer, since, until, kind, role
        self._behind = [signer.certificate] if behind is None else behind

    def sign(self, request, _):
        """As `Fleet.sign`; the role is this one's own."""
        owner = x509.load_pem_x509_csr(request.encode()).public_key()
        return "".join(pem(one) for one in [self._leaf(owner), *self._behind, self._signer.root])

    def _leaf(self, owner):
        subject = self._named(self._kind, owner, self._role)
        issuer, now = x509.load_der_x509_certificate(self._signer.certificate).subject, datetime.now(timezone.utc)
        if self._kind == "renewal":
            issuer = self._named("renewal", self._signer.key.public_key(), "server")
        builder = x509.CertificateBuilder(issuer, subject, owner, x509.random_serial_number())
        builder = builder.not_valid_before(now + timedelta(days=self._since))
        builder = builder.not_valid_after(now + timedelta(days=self._until))
        is_authority = self._kind not in ("laptop", "renewal")
        builder = builder.add_extension(x509.BasicConstraints(is_authority, 0 if is_authority else None), True)
        usage = dict.fromkeys(
            ["content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign",
             "encipher_only", "decipher_only"], False)
        usage = x509.KeyUsage(digital_signature=not is_authority, key_cert_sign=is_authority, **usage)
        builder = builder.add_extension(usage, True)
        if not is_authority:
            both = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
            builder = builder.add_extension(x509.ExtendedKeyUsage(both), False)
        return der(builder.sign(self._signer.key, None))

    def _named(self, kind, owner, role):
        names = subject_of(kind, _Owner(owner), fleet_in(self._signer.root))
        role = x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, role)
        return x509.Name([role if one.oid == role.oid else one for one in names])


class _Owner:
    """A key of which only the public half is here."""

    def __init__(self, half):
        self._half = half

    def public_key(self):
        return self._half


def pem(certificate):
    return x509.load_der_x509_certificate(certificate).public_bytes(Encoding.PEM).decode()


def answering(member):
    """A context of somebody who is dialled, with a member's key and certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols([APPLICATION])
    with tempfile.NamedTemporaryFile() as file:
        file.write(member.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + member.chain.encode())
        file.flush()
        context.load_cert_chain(file.name)
    return context


def show_with_another_key(context, key):
    """Lets the ends of a context that shows a certificate sign with a key of their own instead of its, `key`.

    No TLS library lets anybody do that by mistake: this one is told of a key whose halves do not belong together, and
    looks at the public one only.
    """
    crypto, library = ctypes.CDLL("libcrypto.so.3"), ctypes.CDLL("libssl.so.3")
    pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    raw = Ed25519PrivateKey.generate().private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    halves = {b"pub": public(key), b"priv": raw}

    class Parameter(ctypes.Structure):
        """OSSL_PARAM(3)."""

        _fields_ = [("key", text), ("kind", ctypes.c_uint), ("data", text), ("size", size), ("got", size)]

    octets, everything = 5, 0x87
    parameters = [Parameter(name, octets, half, len(half), 0) for name, half in halves.items()]
    crypto.EVP_PKEY_CTX_new_from_name.restype = pointer
    crypto.EVP_PKEY_CTX_new_from_name.argtypes = [pointer, text, text]
    maker, made = pointer(crypto.EVP_PKEY_CTX_new_from_name(None, b"ED25519", None)), pointer()
    assert crypto.EVP_PKEY_fromdata_init(maker) == 1
    both = (Parameter * 3)(*parameters, Parameter())
    assert crypto.EVP_PKEY_fromdata(maker, ctypes.byref(made), everything, both) == 1
    # The SSL_CTX stands behind the head of Python's own object.
    inner = pointer.from_address(id(context) + object.__basicsize__)
    assert library.SSL_CTX_use_PrivateKey(inner, made) == 1, "the library takes it"
    crypto.EVP_PKEY_free(made)
    crypto.EVP_PKEY_CTX_free(maker)
    return context
