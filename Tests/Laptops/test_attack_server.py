"""Who is not let in by the server: what each is told, what the server logs of it, and that nothing there has changed."""

import http.client
import random
import socket
import ssl

import pytest
from attacks import Issuing, elsewhere, kept_by_server, show_with_another_key, signer
from lab import wait_until
from newcomer import Identity
from office import Connection, Journal
from revoking import Signer
from solo import PATIENCE_SECONDS
from stranger import Member


def with_another_key(signer):
    copied = Member(Issuing(signer))
    context = copied.asking()
    show_with_another_key(context, copied.key)
    copied.asking = lambda: context
    return copied


def issued_by_a_member(office, signer, *behind):
    """By a laptop that may let nobody in."""
    member = Member(office.fleet)
    own = Signer(member.key, member.certificates[0], signer.root)
    return Member(Issuing(own, behind=[own.certificate, *behind]))


# Who is not let in: how it is made, and what it is told. Whom TLS itself turns away has a third word, which the server's log has.
CALLERS = {
    "self-signed": (lambda office, signer, elsewhere: Identity(), "in no fleet yet"),
    "of another fleet": (lambda office, signer, elsewhere: Member(elsewhere), "another fleet, or to none"),
    "not valid yet": (lambda office, signer, elsewhere: Member(Issuing(signer, since=1)), "does not hold yet"),
    "issued by a member": (
        lambda office, signer, elsewhere: issued_by_a_member(office, signer), "another fleet, or to none"),
    "issued by a member, its issuer behind it": (
        lambda office, signer, elsewhere: issued_by_a_member(office, signer, signer.certificate),
        "It showed 3 certificates"),
    "an issuer's, as if it were a laptop's": (
        lambda office, signer, elsewhere: Member(Issuing(signer, kind="issuer")), "ILLEGAL_PARAMETER",
        "KEY_USAGE_BIT_INCORRECT"),
    "with a key that is not its certificate's": (
        lambda office, signer, elsewhere: with_another_key(signer), "DECRYPT_ERROR", "BAD_SIGNATURE"),
    "a server's": (lambda office, signer, elsewhere: Member(Issuing(signer, role="server")), "a server's"),
    "a proxy's": (lambda office, signer, elsewhere: Member(Issuing(signer, role="proxy")), "a server's"),
}


class Settled:
    """A server that has a journal and has said what it holds; nothing changes there by itself. Each attack comes from an
    address of its own, since the log tells of each only once a minute."""

    def __init__(self, office):
        self.office, self.source = office, f"127.4.0.{random.randrange(1, 255)}"
        assert office.ask("POST", "/v1/jobs/smith/journals", Journal("smith", office.author()).add("Box"))[0] == 200
        wait_until(lambda: office.channel("smith"), PATIENCE_SECONDS, "the server has said what it holds")
        self._before, self._list = kept_by_server(office), office.get("/v1/jobs")

    def connection(self, member):
        connection = Connection(self.office.port, member)
        connection.source_address = (self.source, 0)
        return connection

    def assert_refused(self, sentence, reason):
        """The log tells of it, the server is as it was, and goes on."""
        told = lambda: [line for line in self.office.log().splitlines() if f"from={self.source} " in line]
        (line,) = wait_until(told, PATIENCE_SECONDS, f"the log tells of {self.source}: {self.office.log()}")
        assert sentence in line and reason in line and "warning" in line, line
        assert kept_by_server(self.office) == self._before
        assert self.office.get("/v1/jobs") == self._list


@pytest.fixture
def settled(office):
    return Settled(office)


@pytest.mark.parametrize("what", CALLERS)
def test_nobody_else_may_ask(settled, signer, elsewhere, what):
    made, sentence, *reason = CALLERS[what]
    caller = made(settled.office, signer, elsewhere)
    for method, path in (("GET", "/v1/jobs"), ("POST", "/v1/mutations"), ("GET", "/v1/revocations")):
        if reason:
            with pytest.raises((ssl.SSLError, OSError)) as refusal:
                settled.connection(caller).ask(method, path)
            assert sentence in str(refusal.value), refusal
            continue
        status, answer = settled.connection(caller).ask(method, path)
        assert (status, answer["code"]) == (401, "unauthorised") and sentence in answer["detail"], (path, answer)
    if reason:
        settled.assert_refused("a handshake has failed", *reason)
    else:
        settled.assert_refused("a caller is not let in", sentence)


def without_certificate(office):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def older(office):
    context = office.member.asking()
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
    return context


@pytest.mark.parametrize(
    "made, reason", [(without_certificate, "PEER_DID_NOT_RETURN_A_CERTIFICATE"), (older, "UNSUPPORTED_PROTOCOL")])
def test_who_shows_nothing_or_speaks_something_older_is_not_heard(settled, made, reason):
    with pytest.raises((ssl.SSLError, OSError, http.client.HTTPException)):
        connection = http.client.HTTPSConnection(
            "127.0.0.1", settled.office.port, timeout=PATIENCE_SECONDS, context=made(settled.office),
            source_address=(settled.source, 0))
        connection.request("GET", "/v1/time")
        connection.getresponse()
    settled.assert_refused("a handshake has failed", reason)


def test_who_speaks_without_tls_is_not_heard(settled):
    with socket.create_connection(
        ("127.0.0.1", settled.office.port), PATIENCE_SECONDS, source_address=(settled.source, 0)) as plain:
        plain.sendall(b"GET /v1/time HTTP/1.1\r\nHost: office\r\n\r\n")
        answer = b""
        try:
            while more := plain.recv(1 << 16):
                answer += more
        except ConnectionError:
            pass
        assert b"HTTP" not in answer and b"received" not in answer, answer
    settled.assert_refused("a handshake has failed", "HTTP_REQUEST")


def test_who_only_looks_whether_the_server_is_there_is_worth_no_line(office):
    before = office.log()
    socket.create_connection(("127.0.0.1", office.port), PATIENCE_SECONDS, source_address=("127.4.1.1", 0)).close()
    # Whoever comes next is told of.
    with socket.create_connection(
        ("127.0.0.1", office.port), PATIENCE_SECONDS, source_address=("127.4.1.2", 0)) as plain:
        plain.sendall(b"nonsense")
        assert plain.recv(1) in (b"", b"\x15")
    wait_until(lambda: "from=127.4.1.2 " in office.log(), PATIENCE_SECONDS, "the log tells of who talks nonsense")
    assert "127.4.1.1" not in office.log() and office.log().startswith(before)
