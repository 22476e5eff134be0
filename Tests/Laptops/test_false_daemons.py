"""What answers the command is killed, cut off, no daemon at all, or has no patience: what is said, and what is held in memory."""

import json
import os
import pathlib
import subprocess
import threading
import time

import pytest

from false_daemons import PROBLEM, FalseDaemon
from solo import PATIENCE_SECONDS, wait_until

UNAVAILABLE, TRY_AGAIN, SOFTWARE, BAD_DATA = 69, 75, 70, 65
ADD = ("item", "add", "Smith", "name=Sofa")
OPENAPI = pathlib.Path(__file__).resolve().parents[2] / "Sources/LocalAPIServer/openapi.json"
SOFA = "0190a1b2-0000-7000-8000-000000000001"


@pytest.fixture
def false(build_directory, tmp_path):
    """Makes false daemons, one a test."""
    made = []

    def make(serve):
        made.append(FalseDaemon(str(tmp_path), build_directory, serve))
        return made[-1].__enter__()

    yield make
    for daemon in made:
        daemon.__exit__()
        assert daemon.failures == []


def cut_off(call):
    call.read_head().read_body().answer(200, b'{"id":', length=100)
    call.socket.close()


def cut_off_in_a_chunk(call):
    call.read_head().read_body()
    call.socket.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n10\r\n:")
    call.socket.close()


@pytest.mark.parametrize("serve", [cut_off, cut_off_in_a_chunk])
def test_an_answer_that_is_cut_off_is_no_answer(false, serve):
    daemon = false(serve)
    read, exported, listed = (
        daemon.muster(*words) for words in (["status"], ["job", "export", "Smith"], ["item", "list", "Smith"]))
    assert len(daemon.calls) == 3, "reading is not repeated"
    written = daemon.muster(*ADD)
    for done in (read, exported, listed, written):
        assert done.returncode == UNAVAILABLE and "broke off" in done.stderr, done
        assert "the answer ended too early" in done.stderr and done.stderr.count("\n") == 1, done
    assert "whether this was done is not known" in written.stderr and "not known" not in read.stderr
    # What has come of a stream is passed on as it comes; its exit code says that it is not all.
    assert exported.stdout == '{"id":' and read.stdout == written.stdout == ""
    keys = {call.header("idempotency-key") for call in daemon.calls[3:]}
    assert len(daemon.calls) > 5 and len(keys) == 1 and None not in keys, keys


def cut_off_in_a_problem(call):
    call.read_head().read_body().answer(422, b'{"type":', PROBLEM, length=100)
    call.socket.close()


@pytest.mark.parametrize("cut", [cut_off, cut_off_in_a_problem])
def test_a_write_whose_answer_is_cut_off_is_repeated_under_its_key(false, cut):
    keys = []

    def serve(call):
        if len(keys) < 2:
            cut(call)
        else:
            call.read_head().read_body().answer(201, json.dumps({"id": SOFA}).encode())
            call.socket.close()
        keys.append(call.header("idempotency-key"))

    done = false(serve).muster(*ADD)
    assert done.returncode == 0 and SOFA in done.stdout and len(keys) == 3 and len(set(keys)) == 1, (done, keys)


def test_a_problem_that_is_cut_off_is_told_as_that(false):
    done = false(cut_off_in_a_problem).muster("status")
    assert done.returncode == UNAVAILABLE and "the answer ended too early" in done.stderr, done


def test_a_list_that_ends_within_a_line_is_cut_off(false):
    def serve(call):
        call.read_head().answer(200, b'{"id": "one", "fields"', "application/jsonl")
        call.socket.close()

    done = false(serve).muster("item", "list", "Smith")
    assert done.returncode == UNAVAILABLE and "the answer ended too early" in done.stderr, done


def test_an_answer_whose_end_nobody_can_tell_is_none(false):
    def serve(call):
        call.read_head().read_body()
        call.socket.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"id": "%s"}' % SOFA.encode())
        call.socket.close()

    daemon = false(serve)
    done = daemon.muster(*ADD)
    assert done.returncode == UNAVAILABLE and "nobody can tell where its answer ends" in done.stderr, done
    assert done.stdout == "" and len(daemon.calls) == 1, done


@pytest.mark.parametrize("place", ["a file/muster.sock", "x" * 120])
def test_a_socket_that_cannot_be_there_is_told_at_once(build_directory, tmp_path, place):
    (tmp_path / "a file").write_text("of somebody's")
    began = time.monotonic()
    done = subprocess.run(
        [os.path.join(build_directory, "muster"), *ADD, "--socket", str(tmp_path / place)], capture_output=True, text=True,
        timeout=PATIENCE_SECONDS)
    assert done.returncode == UNAVAILABLE and "--socket or MUSTER_SOCKET" in done.stderr, done
    assert "not known" not in done.stderr and done.stderr.count("\n") == 1, done
    assert time.monotonic() - began < 8, "nothing was repeated"


def test_a_daemon_that_takes_nothing_of_an_upload_is_given_up(false, tmp_path):
    file = tmp_path / "large.backup"
    with open(file, "wb") as large:
        large.truncate(64 << 20)
    over = threading.Event()

    def serve(call):
        if call.target == "/v1/carry/card":
            return call.answer(200, json.dumps({"deviceID": "7a" * 32, "name": "anna", "certificates": ""}).encode())
        assert over.wait(10 * PATIENCE_SECONDS)

    daemon = false(awake(serve))
    uploads = [
        subprocess.Popen(daemon.command(*words, str(file)), stderr=subprocess.PIPE, text=True)
        for words in (["restore"], ["carry", "in"])]
    try:
        for upload in uploads:
            _, error = upload.communicate(timeout=3 * PATIENCE_SECONDS)
            assert upload.returncode == TRY_AGAIN and "has not answered for 30 s" in error, (upload.args, error)
    finally:
        over.set()
        for upload in uploads:
            upload.kill()


def test_a_daemon_that_stands_still_is_given_up_before_a_copy_is_waited_for(false, tmp_path):
    """A copy of a large store takes its time; one that answers nothing at all has nothing to copy."""
    targets, over = [], threading.Event()

    def serve(call):
        targets.append(call.read_head().target)
        over.wait(PATIENCE_SECONDS * 4)

    daemon = false(serve)
    (tmp_path / "old.backup").write_bytes(b"SQLite format 3\0")
    try:
        asked = [
            subprocess.Popen(daemon.command(*words), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for words in (("backup", str(tmp_path / "new.backup")), ("restore", str(tmp_path / "old.backup"), "--yes"))
        ]
        for one in asked:
            _, error = one.communicate(timeout=60)
            assert one.returncode == TRY_AGAIN and "has not answered for 30 s" in error, (one.args, error)
    finally:
        over.set()
        for one in asked:
            one.kill()
    assert set(targets) == {"/v1/status"} and not (tmp_path / "new.backup").exists(), targets


def test_a_read_that_nobody_answers_is_not_repeated(false):
    daemon = false(lambda call: call.read_head().socket.close())
    done = daemon.muster("status")
    assert done.returncode == UNAVAILABLE and "it was closed without an answer" in done.stderr, done
    assert len(daemon.calls) == 1


def test_a_write_that_nobody_answers_is_repeated_under_its_key(false):
    keys = []

    def serve(call):
        call.read_head().read_body()
        keys.append((call.header("idempotency-key"), call.target, call.body))
        if len(keys) == 3:
            call.answer(201, json.dumps({"id": SOFA}).encode())
        call.socket.close()

    done = false(serve).muster(*ADD)
    assert done.returncode == 0 and len(keys) == 3, (done, keys)
    assert keys[0][0] and keys[0] == keys[1] == keys[2]


def test_what_speaks_no_http_is_told_at_once(false):
    def serve(call):
        call.socket.sendall(b"SSH-2.0-OpenSSH_9.2p1\r\n")
        # It may have heard enough before it has said anything.
        call.is_closed_within(PATIENCE_SECONDS)

    daemon = false(serve)
    for words in (["status"], ADD):
        done = daemon.muster(*words)
        assert done.returncode == UNAVAILABLE and "what came is no HTTP" in done.stderr, done
    assert len(daemon.calls) == 2, "nothing was repeated"


def test_a_queue_of_callers_that_is_full_is_told_at_once(build_directory, tmp_path):
    daemon = FalseDaemon(str(tmp_path), build_directory, None)
    waiting = []
    try:
        # Nobody accepts.
        while True:
            caller = daemon.caller()
            if caller is None:
                break
            waiting.append(caller)
        done = daemon.muster(*ADD)
        assert done.returncode == TRY_AGAIN and "takes no connection" in done.stderr, done
        assert "not known" not in done.stderr and len(waiting) > 0
    finally:
        for caller in waiting:
            caller.close()
        daemon.__exit__()


def test_an_answer_may_come_byte_by_byte(false):
    def serve(call):
        call.read_head().read_body()
        answer = b'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{"id":"\r\n4\r\nsofa\r\n2\r\n"}\r\n0\r\n\r\n'
        for index in range(len(answer)):
            call.socket.sendall(answer[index : index + 1])

    done = false(serve).muster(*ADD)
    assert done.returncode == 0 and "sofa" in done.stdout, done


def test_a_reader_who_stands_still_holds_the_daemon_up_and_fills_no_memory(false):
    taken, goes_on = [], threading.Event()
    piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    most = 1_000 * len(piece)

    def serve(call):
        call.read_head()
        call.socket.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        taken.append(call.send_while_taken(piece, most, patience_seconds=3))
        assert goes_on.wait(PATIENCE_SECONDS)
        call.socket.setblocking(True)
        rest = len(piece) - taken[0] % len(piece)
        call.socket.sendall(piece[-rest:] + piece * 10 + b"0\r\n\r\n")

    daemon = false(serve)
    reading = subprocess.Popen(
        daemon.command("job", "export", "Smith"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    wait_until(lambda: taken, 2 * PATIENCE_SECONDS, "nothing more is taken")
    # Sockets, a pipe and one look at the socket hold so much.
    assert 0x10000 < taken[0] < 4_000_000 < most, taken
    goes_on.set()
    output, error = reading.communicate(timeout=2 * PATIENCE_SECONDS)
    chunks = taken[0] // len(piece) + 1 + 10
    assert reading.returncode == 0 and output == b"x" * 0x10000 * chunks, (len(output), chunks, error)


def awake(serve):
    """Before a whole store is copied the daemon is asked whether it answers at all: this one does, and then as `serve` has it."""
    status = json.dumps(json.loads(OPENAPI.read_text())["components"]["examples"]["status"]["value"]).encode()

    def whole(call):
        call.read_head()
        call.answer(200, status) if call.target == "/v1/status" else serve(call)

    return whole


REFUSAL = json.dumps({"type": "urn:muster:problem:invalidValue", "title": "Invalid value", "status": 422,
                      "detail": "This is no backup.", "code": "invalidValue", "candidates": []}).encode()


@pytest.mark.parametrize("stays", [False, True])
def test_an_upload_that_is_refused_early_goes_no_further(false, tmp_path, stays):
    """The daemon says what it thinks of the first bytes, and reads none of the others."""
    file = tmp_path / "large.backup"
    with open(file, "wb") as large:
        large.truncate(64 << 20)
    over = threading.Event()

    def serve(call):
        call.answer(422, REFUSAL, PROBLEM)
        if stays:
            assert over.wait(2 * PATIENCE_SECONDS)
        call.socket.close()

    daemon = false(awake(serve))
    done = daemon.muster("restore", str(file))
    over.set()
    assert done.returncode == BAD_DATA and "This is no backup." in done.stderr, done
    asked, upload = daemon.calls
    assert asked.target == "/v1/status" and upload.header("transfer-encoding") == "chunked"


def test_a_pipe_that_brings_nothing_keeps_no_answer_back(false, tmp_path):
    """Whoever writes to it has paused, and the daemon has refused what came before."""
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)

    def serve(call):
        call.read_head()
        if call.target == "/v1/carry/in":
            call.answer(422, REFUSAL, PROBLEM)
        else:
            call.answer(200, json.dumps({"deviceID": "7a" * 32, "name": "anna", "certificates": ""}).encode())

    daemon = false(serve)
    taking = subprocess.Popen(
        daemon.command("carry", "in", pipe), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open(pipe, "wb", buffering=0) as writer:
        writer.write(b"some bytes")
        _, error = taking.communicate(timeout=2 * PATIENCE_SECONDS)
    assert taking.returncode == BAD_DATA and "This is no backup." in error, (taking.returncode, error)


def test_a_daemon_that_goes_away_under_an_upload_is_told(false, tmp_path):
    file = tmp_path / "large.backup"
    with open(file, "wb") as large:
        large.truncate(64 << 20)
    daemon = false(awake(lambda call: call.socket.close()))
    done = daemon.muster("restore", str(file))
    assert done.returncode == UNAVAILABLE and "broke off" in done.stderr, done
