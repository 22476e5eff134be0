"""Figures for Prometheus over a port: off unless somebody wants them, for this machine alone unless it is written out, and with
nothing of the customer in them."""

import http.client
import os
import socket
import subprocess
import time

import pytest
from gateways import advance, server_flags, wait_published
from lab import free_port, surroundings, wait_until
from reloading import Manager, reload
from solo import PATIENCE_SECONDS

MARK = "zqx"
LIKE_CURL = ["curl", "--silent", "--show-error", "--noproxy", "*", "--max-time", "20"]


def curl(*arguments):
    return subprocess.run([*LIKE_CURL, *arguments], capture_output=True, text=True)


def figures(port, host="127.0.0.1"):
    """{name: value} of what is told; comments are checked on the way."""
    done = curl("--fail", f"http://{host}:{port}/metrics")
    assert done.returncode == 0, done
    values, kinds = {}, {}
    for line in done.stdout.splitlines():
        words = line.split(" ")
        if words[:2] == ["#", "TYPE"]:
            kinds[words[2]] = words[3]
        elif words[0] != "#":
            assert len(words) == 2 and words[0] in kinds and words[0] not in values, line
            values[words[0]] = float(words[1])
    assert all((kinds[name] == "counter") == name.endswith("_total") for name in values), kinds
    return values


def answers(port, host="127.0.0.1"):
    try:
        socket.create_connection((host, port), 1).close()
        return True
    except OSError:
        return False


def listening_ports(program):
    """Of TCP, as the kernel tells of one process."""
    links = []
    for name in os.listdir(f"/proc/{program.pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{program.pid}/fd/{name}"))
        except FileNotFoundError:
            pass
    ports = set()
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{program.pid}/net/{table}", encoding="ascii") as file:
            for line in list(file)[1:]:
                fields = line.split()
                if fields[3] == "0A" and f"socket:[{fields[9]}]" in links:
                    ports.add(int(fields[1].rsplit(":", 1)[1], 16))
    return ports


def check(daemon):
    return next(check for check in daemon.get("/v1/doctor")["checks"] if check["id"] == "metrics")


def grown(port, before, **expected):
    """Waits until these counters have grown by so much, and says what grew."""
    wanted = {f"muster_{name}_total": count for name, count in expected.items()}

    def growth():
        now = figures(port)
        return {name: now[name] - before[name] for name in wanted}

    wait_until(lambda: growth() == wanted, PATIENCE_SECONDS, f"{wanted}, not {growth()}")


def test_nobody_listens_unless_somebody_wants_it(solos):
    anna = solos("anna").start()
    wait_until(lambda: listening_ports(anna.program) == {anna.port}, PATIENCE_SECONDS, "it listens for laptops")
    assert not answers(9473) and check(anna)["outcome"] == "ok"
    # The same figures are there for whoever may look.
    shown = anna.muster("metrics", "--prometheus").stdout
    assert "# TYPE muster_store_commits_total counter\n" in shown and "muster_links 0\n" in shown


def test_a_port_alone_is_this_machines(solos):
    port = free_port()
    anna = solos("anna").start("--metrics", str(port))
    wait_until(lambda: answers(port), PATIENCE_SECONDS, "the figures are there")
    assert not answers(port, "127.0.0.2")
    with open("/proc/net/if_inet6", encoding="ascii") as file:
        has_ipv6 = any(line.split()[-1] == "lo" for line in file)
    if has_ipv6:
        wait_until(lambda: answers(port, "::1"), PATIENCE_SECONDS, "also at IPv6's loopback")
        assert figures(port, "[::1]")
    assert "this machine alone" in check(anna)["finding"]
    names = [metric["name"] for metric in anna.get("/v1/metrics")]
    assert list(figures(port)) == names, "one list, in one order"

    head = curl("--head", f"http://127.0.0.1:{port}/metrics").stdout
    assert "200 OK" in head and "text/plain; version=0.0.4; charset=utf-8" in head, head
    done = curl("--include", "--data", "x", f"http://127.0.0.1:{port}/metrics").stdout
    assert "405" in done.splitlines()[0] and "allow: get, head" in done.lower(), done
    for path in ("", "v1/jobs", "metrics/x"):
        assert " 404 " in curl("--include", f"http://127.0.0.1:{port}/{path}").stdout.splitlines()[0]
    for header in ("Host: attacker.example", f"Host: attacker.example:{port}", "Origin: http://localhost"):
        done = curl("--include", "--header", header, f"http://127.0.0.1:{port}/metrics").stdout
        assert " 403 " in done.splitlines()[0] and "muster_" not in done, done
    assert anna.stop() == 0


def test_another_address_is_listened_at_where_it_is_written_out(solos):
    port = free_port()
    anna = solos("anna").start("--metrics", f"127.0.0.2:{port}")
    wait_until(lambda: answers(port, "127.0.0.2"), PATIENCE_SECONDS, "the figures are there")
    assert figures(port, "127.0.0.2") and not answers(port)
    everywhere = free_port()
    bert = solos("bert").start("--metrics", f"*:{everywhere}")
    wait_until(lambda: answers(everywhere, "127.0.0.3"), PATIENCE_SECONDS, "the figures are there")
    assert "whoever gets there" in check(bert)["finding"] and check(anna)["outcome"] == "ok"


def test_what_is_done_is_counted_once(solos):
    ports = free_port(), free_port()
    anna = solos("anna").start("--metrics", str(ports[0]))
    wait_until(lambda: answers(ports[0]), PATIENCE_SECONDS, "anna's figures are there")
    job = anna.create_job()
    begin = figures(ports[0])
    for number in range(5):
        anna.add(job, name=f"Chair {number}")
    grown(ports[0], begin, changes_written=5, changes_sent=0, links_opened=0)
    assert figures(ports[0])["muster_store_commits_total"] >= begin["muster_store_commits_total"] + 5

    bert = solos("bert").start("--peer", anna.address, "--metrics", str(ports[1]))
    wait_until(lambda: bert.digest(job) == anna.digest(job), PATIENCE_SECONDS, "bert has the job")
    grown(ports[0], begin, links_opened=1, links_closed=0)
    told = figures(ports[1])
    held = sum(bert.vector(job).values())
    assert told["muster_changes_stored_total"] == held, (told, bert.vector(job))
    assert told["muster_changes_received_total"] >= held and told["muster_changes_written_total"] == 0
    assert told["muster_links_received_bytes_total"] > 0 and told["muster_links_sent_bytes_total"] > 0
    before = figures(ports[0]), figures(ports[1])
    bert.add(job, name="Lamp")
    wait_until(lambda: bert.digest(job) == anna.digest(job), PATIENCE_SECONDS, "anna has the lamp")
    # With the first one of a laptop comes who it is.
    wrote = sum(bert.vector(job).values()) - held
    assert wrote == 2
    grown(ports[1], before[1], changes_written=wrote, changes_stored=0, changes_sent=wrote)
    grown(ports[0], before[0], changes_written=0, changes_stored=wrote, changes_received=wrote)

    assert bert.stop() == 0
    grown(ports[0], before[0], links_closed=1, links_opened=0, connections_refused=0)
    # Who says nothing and goes is no laptop.
    socket.create_connection(("127.0.0.1", anna.port)).close()
    grown(ports[0], before[0], connections_refused=1, links_opened=0)


def test_what_the_server_was_asked_is_counted(solos, office, front):
    port = free_port()
    anna = solos("anna").start(*server_flags(front.url), "--metrics", str(port))
    wait_until(lambda: answers(port), PATIENCE_SECONDS, "the figures are there")
    job = anna.create_job()
    advance(anna, job, "dispatched")
    wait_published([anna], job, "dispatched")
    # To open the job, and what was asked for. What is published may be heard of by a poll, before the answer to the request.
    delivered = lambda: figures(port)["muster_requests_delivered_total"]
    wait_until(lambda: delivered() >= 2, PATIENCE_SECONDS, "both requests are answered")
    told = figures(port)
    assert told["muster_requests_delivered_total"] == 2, told
    assert told["muster_server_polls_total"] > 0
    # Whatever came while it was started, before there was a route.
    failed = told["muster_server_polls_failed_total"]
    front.always("503")
    wait_until(
        lambda: figures(port)["muster_server_polls_failed_total"] >= failed + 2, PATIENCE_SECONDS, "polls have failed")
    told = figures(port)
    assert told["muster_server_polls_failed_total"] <= told["muster_server_polls_total"]


def test_nothing_of_the_customer_is_told(solos):
    port = free_port()
    anna = solos(f"{MARK}-laptop").start("--metrics", str(port))
    wait_until(lambda: answers(port), PATIENCE_SECONDS, "the figures are there")
    job = anna.create_job(f"{MARK} family")
    item = anna.add(job, name=f"{MARK} sofa", barcode=f"{MARK}1", room=f"{MARK} hall")
    anna.make(f"/v1/jobs/{job}/items/{item}/notes", {"text": f"{MARK} scratch"})
    told = curl(f"http://127.0.0.1:{port}/metrics").stdout
    assert "muster_jobs 1\n" in told and "{" not in told
    for word in (MARK, job, item, anna.replica(), anna.get("/v1/status")["deviceID"], "Sofa"):
        assert word not in told, word


def test_a_port_that_is_taken_keeps_nobody_from_working(solos):
    with socket.create_server(("127.0.0.1", free_port())) as other:
        port = other.getsockname()[1]
        anna = solos("anna").start("--metrics", str(port))
        wait_until(lambda: check(anna)["outcome"] == "warn", PATIENCE_SECONDS, "the doctor says so")
        said = check(anna)
        assert f"127.0.0.1:{port} (Address already in use)" in said["finding"] and "--metrics" in said["remedy"]
        assert anna.add(anna.create_job(), name="Chair")
        assert anna.log().count("no figures can be asked for at this address") == 1, anna.log()
        assert "figures at" in anna.muster("doctor").stdout
    wait_until(lambda: check(anna)["outcome"] == "ok", PATIENCE_SECONDS, "once it is free the figures are there")
    assert figures(port)


def test_who_says_nothing_or_too_much_is_not_kept(solos):
    port = free_port()
    anna = solos("anna").start("--metrics", str(port))
    wait_until(lambda: answers(port), PATIENCE_SECONDS, "the figures are there")
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(16)]
    # Whoever comes then waits until they were ended.
    assert figures(port)
    for one in silent:
        one.settimeout(PATIENCE_SECONDS)
        assert one.recv(1) == b""
        one.close()
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as talker:
        ended = False
        try:
            talker.sendall(b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
            for _ in range(1000):
                talker.sendall(b"x" * 1000)
            while talker.recv(1000):
                pass
            ended = True
        except OSError:
            ended = True
        assert ended
    # Nor is a stop held up by anybody.
    with socket.create_connection(("127.0.0.1", port)) as silent:
        silent.sendall(b"GET /metrics HTTP/1.1\r\n")
        assert anna.stop() == 0
    assert "did not stop in time" not in anna.log(), anna.log()


def test_a_connection_can_be_used_again(solos):
    port = free_port()
    solos("anna").start("--metrics", str(port))
    wait_until(lambda: answers(port), PATIENCE_SECONDS, "the figures are there")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    for method in ("GET", "HEAD", "GET"):
        connection.request(method, "/metrics")
        answer = connection.getresponse()
        assert answer.status == 200 and (len(answer.read()) > 0) == (method == "GET")
    connection.close()


@pytest.fixture
def manager(tmp_path):
    return Manager(tmp_path)


def test_a_reload_opens_the_port_and_closes_it(solos, tmp_path, manager):
    file, port = tmp_path / "muster", free_port()
    file.write_text("# settings\n")
    anna = solos("anna").start("--environment-file", str(file), environment={"NOTIFY_SOCKET": manager.path})
    wait_until(lambda: manager.hears("READY=1"), PATIENCE_SECONDS, "it is ready")
    pid = anna.program.pid
    for _ in range(2):
        assert not answers(port)
        file.write_text(f"MUSTER_METRICS={port}\n")
        reload(anna.program, manager)
        wait_until(lambda: answers(port), PATIENCE_SECONDS, "the figures are there")
        assert figures(port)["muster_uptime_seconds"] < PATIENCE_SECONDS and anna.program.pid == pid
        file.write_text("MUSTER_METRICS=nonsense\n")
        reload(anna.program, manager)
        assert "'nonsense' is nowhere to listen" in anna.log() and figures(port), "a wrong setting ends nothing"
        file.write_text("# settings\n")
        reload(anna.program, manager)
        wait_until(lambda: not answers(port), PATIENCE_SECONDS, "the port is closed")
    assert anna.answers()


def test_a_setting_that_is_none_is_refused_where_it_stands(build_directory):
    done = subprocess.run(
        [os.path.join(build_directory, "musterd"), "--check-config", "--metrics", "10.0.0.5"],
        capture_output=True, text=True, env=surroundings(), timeout=PATIENCE_SECONDS)
    assert done.returncode == 64 and "--metrics: '10.0.0.5' is nowhere to listen" in done.stderr, done


def test_whoever_says_nothing_keeps_nobody_waiting_for_long(solos):
    port = free_port()
    solos("anna").start("--metrics", f"127.0.0.1:{port}")
    wait_until(lambda: answers(port), PATIENCE_SECONDS, "the figures are there")
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(16)]
    silent[0].sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
    try:
        began = time.monotonic()
        assert figures(port)
        assert time.monotonic() - began < 6
    finally:
        for one in silent:
            one.close()


def test_a_name_that_leads_nowhere_is_told_as_such(solos):
    anna = solos("anna").start("--metrics", "nobody.invalid:9473")
    wait_until(lambda: check(anna)["outcome"] == "warn", PATIENCE_SECONDS, "the doctor says so")
    said = check(anna)
    assert "nobody.invalid:9473 (" in said["finding"] and "Error" not in said["finding"], said
    assert "the name nobody.invalid" in said["remedy"] and "ss -ltnp" not in said["remedy"], said
