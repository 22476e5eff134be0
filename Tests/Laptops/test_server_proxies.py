"""nginx in front of the server, in the two ways of docs/server.md: it passes TLS on as it comes, or ends it and says who has
connected."""

import base64
import os
from datetime import datetime

import pytest
from attacks import Issuing
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from gateways import advance, published_states, server_check, server_flags, wait_at_office, wait_published
from lab import Program, free_port, wait_until
from office import Connection, renew
from revoking import issuer_of
from solo import PATIENCE_SECONDS
from stranger import Member

# Where Tests/run has unpacked it.
NGINX = os.path.normpath(os.path.join(os.path.dirname(__file__), "../../.build/nginx"))

COMMON = """\
daemon off;
user root;
pid {directory}/nginx.pid;
error_log {directory}/nginx-error.log;
events {{}}
"""
# What stands in docs/server.md, with the test's own places.
PASSES_ON = "load_module {nginx}/usr/lib/nginx/modules/ngx_stream_module.so;\n" + COMMON + """\
stream {{
    server {{
        listen 127.0.0.1:{port};
        proxy_pass 127.0.0.1:{office_port};
    }}
}}
"""
ENDS_TLS = COMMON + """\
http {{
    access_log off;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {directory}/proxy.pem;
        ssl_certificate_key {directory}/proxy.key;
        ssl_protocols TLSv1.3;
        ssl_verify_client optional_no_ca;
        client_max_body_size 2m;
        proxy_read_timeout 90s;
        location / {{
            proxy_pass http://unix:{proxy_socket};
            proxy_set_header X-Client-Cert $ssl_client_escaped_cert;
        }}
    }}
}}
"""


class Nginx:
    """A context manager: a proxy with this configuration, and where it listens."""

    def __init__(self, office, directory, configuration):
        self.ends_tls = configuration is ENDS_TLS
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self._directory = str(directory)
        # Made as an administrator does: a key, and a certificate of the role that stands before the server.
        proxy = Member(office.fleet, role="proxy")
        key = proxy.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        text = configuration.format(
            nginx=NGINX, directory=directory, port=self.port, office_port=office.port, proxy_socket=office.proxy_socket)
        for name, content in {"nginx.conf": text, "proxy.key": key, "proxy.pem": proxy.chain}.items():
            with open(os.path.join(self._directory, name), "w", encoding="utf-8") as file:
                file.write(content)

    def __enter__(self):
        command = [f"{NGINX}/usr/sbin/nginx", "-c", f"{self._directory}/nginx.conf", "-p", self._directory]
        self._program = Program("nginx", command, self._directory)
        return self

    def __exit__(self, *_):
        self._program.stop(PATIENCE_SECONDS)


@pytest.fixture(params=["passes on", "ends TLS"])
def nginx(request, office, tmp_path):
    with Nginx(office, tmp_path, PASSES_ON if request.param == "passes on" else ENDS_TLS) as nginx:
        wait_until(lambda: answers(office, nginx), PATIENCE_SECONDS, "nginx passes on")
        yield nginx


def answers(office, nginx):
    try:
        return Connection(nginx.port, office.member).ask("GET", "/v1/time")[0] == 200
    except OSError:
        return False


def test_a_crew_works_through_nginx(solos, office, nginx):
    anna, bert = (solos(name).start(*server_flags(nginx.url)) for name in ("anna", "bert"))
    job = anna.create_job("Smith")
    wait_published([anna, bert], job, "scheduled")
    advance(bert, job, "dispatched")
    wait_published([anna, bert], job, "dispatched")
    for count in range(200):
        anna.add(job, name=f"Box {count}")
    wait_at_office(office, anna, job, 200)
    assert published_states(office, job) == ["scheduled", "dispatched"]
    assert server_check(anna)["outcome"] == "ok"


def test_nobody_else_gets_through_nginx(office, nginx):
    """Nor who writes the header that nginx does."""
    member = Member(office.fleet)
    assert Connection(nginx.port, member).ask("GET", "/v1/jobs", **issuer(member))[0] == 200
    entry = issuer_of(office.fleet).revocation(member.device.hex())
    assert office.ask("POST", "/v1/revocations", {"revocations": [base64.b64encode(entry).decode()]})[0] == 200
    refused = lambda: Connection(nginx.port, member).ask("GET", "/v1/jobs", **issuer(member))[0] == 401
    wait_until(refused, PATIENCE_SECONDS, "who was revoked is shut out")
    status, answer = Connection(nginx.port, member).ask("GET", "/v1/jobs", **office.member.passed_on)
    assert status == 401 and "revoked" in answer["detail"], answer


def issuer(member):
    """What a laptop adds itself."""
    return {"Muster-Issuer": member.passed_on["Muster-Issuer"]}


def test_a_laptop_whose_certificate_has_run_out_gets_through_nginx_by_a_renewal(office, nginx):
    """nginx looks at the end of the first certificate itself, where it ends TLS."""
    member = Member(Issuing(issuer_of(office.fleet), until=2 / 86_400))
    end = x509.load_der_x509_certificate(member.certificates[0]).not_valid_after
    wait_until(lambda: datetime.utcnow() > end, PATIENCE_SECONDS, "its certificate has run out")
    renewed = renew(office.port, member)
    assert Connection(nginx.port, renewed).ask("GET", "/v1/jobs", **issuer(renewed))[0] == 200
    status, answer = Connection(nginx.port, renewed).ask("GET", "/v1/jobs", **issuer(member))
    assert status == (401 if nginx.ends_tls else 200), answer
