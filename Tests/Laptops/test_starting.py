"""What a person types first: settings that can be used and such that cannot, and a daemon of one's own, without root."""

import json
import os
import subprocess

import pytest
from lab import Program, surroundings, wait_until
from solo import PATIENCE_SECONDS
from unprivileged import Person

USAGE = 64


def musterd(build_directory, *arguments, **environment):
    program = os.path.join(build_directory, "musterd")
    environment = {**surroundings(), **environment}
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, env=environment, timeout=PATIENCE_SECONDS)


@pytest.mark.parametrize("program", ["muster", "musterd", "muster-channel"])
def test_each_program_says_its_version(build_directory, program):
    done = subprocess.run([os.path.join(build_directory, program), "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip().replace(".", "").isdigit(), done


@pytest.mark.parametrize("words", ("musterd --version", "musterd --help", "musterd --check-config", "muster-channel --version"))
def test_what_cannot_be_printed_is_told(build_directory, words):
    program, *words = words.split()
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [os.path.join(build_directory, program), *words], stdout=full, stderr=subprocess.PIPE, text=True,
            env={"HOME": "/nonexistent"})
    assert done.returncode == 74 and done.stderr.startswith(f"{program}: The output cannot be written"), done


@pytest.mark.parametrize("words", ("musterd --version", "musterd --check-config", "muster-channel --help", "muster doctor"))
def test_an_output_that_is_closed_is_told(build_directory, tmp_path, words):
    program, *words = words.split()
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" "$@" >&-', os.path.join(build_directory, program), *words], stderr=subprocess.PIPE, text=True,
        env={"HOME": str(tmp_path)})
    assert done.returncode == 74 and "cannot be written (it is closed)" in done.stderr, done


WRONG = {
    "an unknown setting": ({"listenn": "127.0.0.1:1"}, {}, ["'listenn' in", "muster.json", "did you mean listen?"]),
    "a value of another kind": ({"discovery": "maybe"}, {}, ["'discovery' in", "muster.json", "true or false"]),
    "a number in the place of an address": ({"listen": 7600}, {}, ["'listen' in", "muster.json", "a text"]),
    "no time at all": ({"server-interval": 0}, {}, ["'server-interval' in", "muster.json", "1 to 86400"]),
    "a server in the clear": ({"server": "http://office:7480"}, {}, ["'server' in", "muster.json", "https://"]),
    "an address that is none": ({"peers": ["a:b:c"]}, {}, ["'peers' in", "muster.json", "HOST:PORT"]),
    "a port that is none": ({"server": "https://office:74800"}, {}, ["'server' in", "muster.json", "https://"]),
    "a name with a space": ({"listen": "a b:80"}, {}, ["'listen' in", "muster.json", "HOST:PORT"]),
    "digits that are no address": ({}, {"MUSTER_PEERS": "999.0.0.1:80"}, ["MUSTER_PEERS:", "HOST:PORT"]),
    "a shell's word for home": ({"reader-socket": "~/look.sock"}, {}, ["'reader-socket' in", "muster.json", "the whole path"]),
    "a name of two lines": ({"host-name": "anna\nbert"}, {}, ["'host-name' in", "muster.json", "one line"]),
    "no name at all": ({"host-name": ""}, {}, ["'host-name' in", "muster.json", "is empty"]),
    "a group that is not there": ({"socket-group": "no-such-crew"}, {}, ["'no-such-crew'", "groupadd"]),
    "a path that no socket can have": ({"socket": "/tmp/" + "a" * 120}, {}, ["106 bytes"]),
    "an unknown variable": ({}, {"MUSTER_PEER": "x"}, ["MUSTER_PEER;", "did you mean MUSTER_PEERS?"]),
    "a level that is none": ({"log-level": "loud"}, {}, ["'log-level' in", "muster.json", "'loud'"]),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_refused_by_name_and_nothing_is_made(build_directory, tmp_path, what):
    settings, environment, words = WRONG[what]
    path, state = tmp_path / "muster.json", tmp_path / "state"
    path.write_text(json.dumps(settings))
    for more in ([], ["--check-config"]):
        done = musterd(build_directory, "--config", str(path), "--state-dir", str(state), *more, **environment)
        assert done.returncode == USAGE and done.stdout == "" and done.stderr.count("\n") == 1, done
        assert all(word in done.stderr for word in words), done.stderr
    assert not state.exists()


@pytest.mark.parametrize("flag, place", [("--socket", "taken"), ("--state-dir", "taken/sub"), ("--state-dir", "taken")])
def test_a_place_that_cannot_be_had_is_told_before_anything_starts(build_directory, tmp_path, flag, place):
    (tmp_path / "taken").write_text("precious")
    places = {"--socket": str(tmp_path / "m.sock"), "--state-dir": str(tmp_path / "state"), flag: str(tmp_path / place)}
    words = [word for pair in places.items() for word in pair]
    for more in ([], ["--check-config"]):
        done = musterd(build_directory, "--no-discovery", *words, *more)
        assert done.returncode == USAGE and done.stderr.count("\n") == 1 and place in done.stderr, done
    assert not (tmp_path / "state").exists() and (tmp_path / "taken").read_text() == "precious"


def test_settings_that_can_be_used_are_shown_and_nothing_is_started(build_directory, tmp_path):
    path = tmp_path / "muster.json"
    path.write_text('{"listen": "0.0.0.0:7473", "peers": ["10.0.0.2:7473"]}')
    state = tmp_path / "state"
    done = musterd(
        build_directory, "--config", str(path), "--check-config", "--state-dir", str(state), MUSTER_SERVER_INTERVAL="7")
    shown = dict(line.split("\t") for line in done.stdout.splitlines())
    assert done.returncode == 0 and not state.exists(), done
    assert shown["listen"] == "0.0.0.0:7473" and shown["peers"] == "10.0.0.2:7473" and shown["server-interval"] == "7"
    assert shown["state-dir"] == str(state) and "server" not in shown


@pytest.mark.parametrize("has_runtime", (True, False))
def test_without_root_it_keeps_its_things_at_home_and_is_found_there(build_directory, has_runtime):
    """Also its directory's parents are made; the command needs no flag. A shell of su(1) has no XDG_RUNTIME_DIR."""
    with Person(build_directory) as person:
        if not has_runtime:
            person.own["XDG_RUNTIME_DIR"] = ""
        daemon = Program(
            "own", [*person.prefix, person.programs / "musterd", "--listen", "127.0.0.1:0", "--no-discovery"],
            str(person.directory), person.own)
        ask = [*person.prefix, person.programs / "muster", "status", "--json"]

        def answers():
            assert daemon.is_running, daemon.errors()
            return subprocess.run(ask, capture_output=True, env=person.environment).returncode == 0

        try:
            wait_until(answers, PATIENCE_SECONDS, "the command finds its user's own daemon")
            state = person.home / ".local/state/muster"
            socket = person.runtime / "muster/muster.sock" if has_runtime else state / "muster.sock"
            assert (state / "muster.sqlite").exists() and socket.is_socket()
            assert state.stat().st_mode & 0o077 == 0
        finally:
            daemon.kill()


def test_who_may_not_look_at_the_services_socket_is_told_so(build_directory):
    """And not to start another daemon, because nothing is seen in a directory that nobody else may enter."""
    # A /run of its own, in which the service has its directory as its unit makes it.
    scene = (
        "mount -t tmpfs none /run && mkdir -m 0750 /run/muster && touch /run/muster/muster.sock && exec \"$@\"")
    with Person(build_directory) as person:
        command = [*person.prefix, str(person.programs / "muster"), "status"]
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", scene, "sh", *command], capture_output=True, text=True,
            env=person.environment, timeout=PATIENCE_SECONDS)
    assert done.returncode == 77, done
    assert done.stderr.startswith("muster: No permission to open /run/muster/muster.sock: join its group"), done
