"""The company's office: a server on a machine far away from the crew, and what people there see of a job."""

import base64
import contextlib
import ctypes
import hashlib
import http.client
import json
import os
import ssl
import subprocess
import tempfile

from lab import wait_until

# Of an address range that is kept for examples (RFC 5737).
ADDRESS = "203.0.113.10"
PORT = 7480
CREW_NETWORK = "10.77.0.0/24"
PATIENCE_SECONDS = 20
_NEW_NETWORK = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


class Office:
    """muster-channel on a machine of its own in the lab. `build_directory` holds the program.

    A laptop reaches it while it has a route, which `connect` gives to one and `disconnect` takes away.
    """

    url = f"https://{ADDRESS}:{PORT}"

    def __init__(self, lab, build_directory):
        self.machine = lab.laptop("office", address=ADDRESS, avahi=False)
        self.machine.ip("route", "add", CREW_NETWORK, "dev", "eth0")
        self._executable = os.path.join(build_directory, "muster-channel")
        self._database = os.path.join(self.machine.directory, "channel.sqlite")
        self.program = None
        # Where the programs of the office have their key and their certificate.
        self.key = os.path.join(self.machine.directory, "office.key")
        self.papers = os.path.join(self.machine.directory, "office.pem")

    def request(self):
        """What the office's programs ask a certificate with, made by OpenSSL as any program's would be."""
        _run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.key])
        return _run(["openssl", "req", "-new", "-subj", "/CN=office", "-key", self.key])

    def muster_channel(self, *words):
        """Runs a command of the server on its machine, and returns what it printed."""
        command = [self._executable, *words, "--database", self._database]
        done = subprocess.run(self.machine.inside(command), capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"the office's 'muster-channel {' '.join(words)}' failed: {done.stderr}")
        return done.stdout

    def start(self):
        """Starts the server and returns when it answers."""
        command = [self._executable, "--listen", f"0.0.0.0:{PORT}", "--database", self._database]
        self.program = self.machine.start(command)
        wait_until(self._serves, PATIENCE_SECONDS, "the office's server serves")
        return self

    @staticmethod
    def connect(laptop):
        laptop.ip("route", "add", "default", "dev", "eth0")

    @staticmethod
    def disconnect(laptop):
        laptop.ip("route", "del", "default", "dev", "eth0")

    # The server's API, as somebody at the office uses it

    def get(self, path):
        return self._ask("GET", path)

    def answers(self):
        try:
            return bool(self.get("/v1/time"))
        except OSError:
            return False

    def open_job(self, job, name, kind):
        """Returns the token of the request, which the program signs with its own key."""
        key = _run_bytes(["openssl", "pkey", "-in", self.key, "-pubout", "-outform", "DER"])[-32:]
        token = bytes.fromhex("0ff1ce000001") + hashlib.sha256(b"muster token 1\0" + key).digest()[:10]
        asked = {"lane": "office", "kind": "openJob", "payload": json.dumps({"name": name, "kind": kind})}
        texts = [_with_length(text) for text in asked.values()]
        # No request before it, priority 0, and no journals of its own, so no number makes a name for them.
        content = b"muster request 1\0" + _with_length(job) + token + bytes(2) + b"".join(texts) + key + bytes(16)
        proof = {"key": key.hex(), "nonce": "0" * 32, "signature": base64.b64encode(self._sign(content)).decode()}
        own, issuer = [ssl.PEM_cert_to_DER_cert(one) for one in _certificates(self.papers)[:2]]
        certificates = [base64.b64encode(one).decode() for one in (own, issuer)]
        author = {"key": key.hex(), "nonce": "0" * 32, "certificates": certificates}
        mutation = {"job": job, "token": token.hex(), **asked, **proof}
        self._ask("POST", "/v1/mutations", {"mutations": [mutation], "authors": [author]})
        return token.hex()

    def _sign(self, content):
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            return _run_bytes(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", self.key, "-in", file.name])

    def channel(self, job):
        """Everything that the server has said about a job, oldest first."""
        entries = []
        while True:
            after = entries[-1]["last"] if entries else 0
            page = self.get(f"/v1/jobs/{job}/channel?after={after}")["entries"]
            if not page:
                return entries
            entries += page

    def items(self, job):
        items = []
        while True:
            after = f"&after={items[-1]['id']}" if items else ""
            page = self.get(f"/v1/jobs/{job}/items?limit=100{after}")
            if not page:
                return items
            items += page

    def _serves(self):
        if not self.program.is_running:
            raise RuntimeError(f"the office's server has ended: {self.program.errors()}")
        return "] serving" in self.program.errors()

    def _ask(self, method, path, body=None):
        # That it is the server this story knows: on the office's own machine nobody else listens.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.load_cert_chain(self.papers, self.key)
        with _inside(self.machine):
            connection = http.client.HTTPSConnection(ADDRESS, PORT, timeout=PATIENCE_SECONDS, context=context)
            connection.connect()
        try:
            sent = {"Content-Type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), sent)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError(f"the office's server answered {method} {path} with {answer.status}: {text.decode()}")
        return json.loads(text)


def _run(command):
    return _run_bytes(command).decode()


def _run_bytes(command):
    return subprocess.run(command, capture_output=True, check=True).stdout


def _with_length(text):
    """As it is signed: its bytes, and how many they are. None here has 128."""
    return bytes([len(text.encode())]) + text.encode()


def _certificates(path):
    """Those of a file in PEM, in their order."""
    end = "-----END CERTIFICATE-----"
    with open(path, encoding="utf-8") as file:
        return [block.strip() + end for block in file.read().split(end)[:-1]]


@contextlib.contextmanager
def _inside(laptop):
    """Sockets that are made in the block are made in the laptop's network."""
    with open("/proc/self/ns/net", "rb") as here, open(f"/proc/{laptop.holder.pid}/ns/net", "rb") as there:
        _enter(there)
        try:
            yield
        finally:
            _enter(here)


def _enter(network):
    if _libc.setns(network.fileno(), _NEW_NETWORK) != 0:
        raise OSError(ctypes.get_errno(), "another network namespace could not be entered")
