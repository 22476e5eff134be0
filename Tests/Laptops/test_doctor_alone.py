"""What is wrong with one laptop, its server and its files, and what the doctor says of it."""

import os
import shutil
import socket
import sqlite3
import subprocess
import threading

from gateways import server_check, server_flags
from lab import free_port, wait_until
from solo import PATIENCE_SECONDS
from stranger import Stranger
from test_full_disk import SmallDisk


def check(daemon, id):
    return next(one for one in daemon.get("/v1/doctor")["checks"] if one["id"] == id)


def wait_check(daemon, id, outcome, words=""):
    seen = []

    def found():
        seen[:] = [check(daemon, id)]
        return seen[0] if seen[0]["outcome"] == outcome and words in seen[0]["finding"] else None

    try:
        return wait_until(found, PATIENCE_SECONDS, f"{id} of {daemon.name} is {outcome} ({words})")
    except AssertionError as error:
        raise AssertionError(f"{error}: {seen}") from None


def test_a_laptop_of_another_version_is_named_with_both_versions(solos):
    anna = solos("anna").start()
    assert check(anna, "versions")["outcome"] == "ok"
    cleo = Stranger(anna)
    cleo.say(cleo.hello(versions=(98, 99), name="cleo"))
    assert cleo.is_closed_within(PATIENCE_SECONDS), "it is turned away"
    blamed = wait_check(anna, "versions", "fail", "speaks version 98 to 99 of the protocol, this laptop version")
    assert blamed["finding"].startswith("cleo (") and "update Muster on this laptop" in blamed["remedy"], blamed
    # It was updated.
    again = Stranger(anna, member=cleo.member).greet(name="cleo")
    wait_check(anna, "versions", "ok")
    assert anna.connected() == ["cleo"]
    again.socket.close()


def test_without_its_certificates_a_laptop_goes_on_alone_and_only_the_gateway_waits(solos, office, front):
    anna = solos("anna").start(*server_flags(front.url))
    job = anna.create_job("Smith")
    wait_until(lambda: server_check(anna)["outcome"] == "ok", PATIENCE_SECONDS, "anna reaches the office")
    place = os.path.join(anna.state, "fleet.pem")
    faults = {
        "holds no certificates": lambda: open(place, "w", encoding="utf-8").write("-----BEGIN CERTIFICATE-----\n"),
        # Not even root reads a directory as a file.
        "cannot be read": lambda: os.mkdir(place),
    }
    assert anna.stop() == 0
    shutil.copy(place, place + ".kept")
    for words, make in faults.items():
        os.remove(place)
        make()
        anna.launch(*server_flags(front.url))
        wait_until(anna.answers, PATIENCE_SECONDS, "anna answers")
        blamed = wait_check(anna, "fleet", "fail", words)
        assert place in blamed["finding"] and "join anew" in blamed["remedy"], blamed
        waiting = wait_check(anna, "server", "warn", "the gateway does not start")
        assert words in waiting["finding"], waiting
        anna.add(job, name=words)
        assert anna.stop() == 0
        shutil.rmtree(place) if os.path.isdir(place) else os.remove(place)
        shutil.copy(place + ".kept", place)
    # All of it was kept, and goes out once the certificates are back.
    anna.launch(*server_flags(front.url))
    wait_until(anna.answers, PATIENCE_SECONDS, "anna answers")
    there = lambda: office.ask("GET", f"/v1/jobs/{job}")[1].get("items")
    wait_until(lambda: there() == len(faults), PATIENCE_SECONDS, "the office has what was recorded meanwhile")
    wait_check(anna, "fleet", "ok")
    wait_check(anna, "server", "ok")


def test_why_the_server_is_not_reached_is_said_in_a_word(solos):
    """Nobody there, nobody who speaks TLS, no such name."""
    refused = f"https://127.0.0.1:{free_port()}"
    anna = solos("anna").start(*server_flags(refused))
    wait_check(anna, "server", "warn", "(refused)")
    bert = solos("bert").start(*server_flags("https://muster-office.invalid:7480"))
    wait_check(bert, "server", "warn", "(DNS)")
    with socket.create_server(("127.0.0.1", 0)) as plain:
        threading.Thread(target=greet_all, args=(plain,), daemon=True).start()
        cleo = solos("cleo").start(*server_flags(f"https://127.0.0.1:{plain.getsockname()[1]}"))
        wait_check(cleo, "server", "warn", "(TLS)")
        plain.shutdown(socket.SHUT_RDWR)


def greet_all(listener):
    """Whoever answers without TLS."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.recv(1 << 16)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def test_a_disk_that_is_nearly_full_fails(solos):
    anna = solos("anna")
    disk = SmallDisk(solos.directory, anna.state)
    try:
        anna.start(prefix=disk.prefix)
        blamed = check(anna, "disk")
        assert blamed["outcome"] == "fail" and "MB free at" in blamed["finding"], blamed
    finally:
        anna.kill()
        disk.end()


def test_a_damaged_store_is_found(solos):
    anna = solos("anna").start()
    job = anna.create_job("Smith")
    for number in range(40):
        anna.add(job, name=f"box {number}", barcode=f"B{number}")
    assert check(anna, "store")["outcome"] == "ok"
    assert anna.stop() == 0
    database = sqlite3.connect(anna.store)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    page_bytes = database.execute("PRAGMA page_size").fetchone()[0]
    (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'barcode'").fetchone()
    database.close()
    with open(anna.store, "r+b") as file:
        # Its head says what it is, and what it holds lies behind that.
        file.seek((root - 1) * page_bytes + 8)
        file.write(bytes([0xA5]) * (page_bytes - 8))
    anna.launch()
    wait_until(anna.answers, PATIENCE_SECONDS, "anna answers")
    blamed = check(anna, "store")
    assert blamed["outcome"] == "fail" and blamed["finding"].startswith("damaged ("), blamed
    done = anna.muster("doctor")
    assert done.returncode == 1 and "FAIL  store" in done.stdout, done
