"""Callers of the office that ask much and read nothing."""

import os
import socket

from lab import wait_until
from office import Journal
from solo import PATIENCE_SECONDS
from stranger import Member

CONNECTIONS = 60
# 6 GB are asked for. A device has 24 places, and an answer of half a MiB takes some MiB while it is made and written.
LIMIT_BYTES = 200 << 20


def resident_bytes(office):
    with open(f"/proc/{office.program.pid}/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_answers_that_nobody_reads_fill_no_memory(office):
    journal = Journal("smith", Member(office.fleet).author())
    for _ in range(20):
        run = journal.add(*["x" * 50_000] * 10)
        assert office.ask("POST", "/v1/jobs/smith/journals", run)[0] == 200
    before = resident_bytes(office)
    asking = (
        "GET /v1/jobs/smith/items?limit=1000 HTTP/1.1\r\n"
        "Host: office\r\n\r\n"
    ).encode()
    context = office.member.asking()
    connections = []
    try:
        for _ in range(CONNECTIONS):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
            connection.connect(("127.0.0.1", office.port))
            connection = context.wrap_socket(connection)
            connections.append(connection)
            # What the kernel has room for counts as answered: so many answers it has no room for.
            connection.sendall(asking * 200)
        # This device has no place left; the time is told to everybody.
        wait_until(lambda: office.ask("GET", "/v1/jobs")[0] == 429, PATIENCE_SECONDS, "the device has to wait")
        assert office.ask("GET", "/v1/time")[0] == 200
        for connection in connections:
            connection.settimeout(PATIENCE_SECONDS)
            connection.recv(1)
        assert resident_bytes(office) - before < LIMIT_BYTES
    finally:
        for connection in connections:
            connection.close()
    wait_until(lambda: office.ask("GET", "/v1/jobs")[0] == 200, PATIENCE_SECONDS, "its places are free again")
    # Nothing is missing for who reads page by page.
    after, seen = "", 0
    while page := office.get(f"/v1/jobs/smith/items?limit=1000{after}"):
        seen += len(page)
        after = f"&after={page[-1]['id']}"
    assert seen == 200
