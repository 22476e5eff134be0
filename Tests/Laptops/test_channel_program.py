"""muster-channel from its command line: help, where the database lies, what it says when it cannot serve."""

import os
import subprocess

import pytest
from lab import shared_fleet
from office import Office
from solo import PATIENCE_SECONDS, Solos


@pytest.fixture
def office(build_directory):
    with Office(build_directory) as office:
        yield office.join(shared_fleet(build_directory))


def muster_channel(build_directory, *arguments, **environment):
    program = os.path.join(build_directory, "muster-channel")
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, env={**os.environ, **environment}, timeout=PATIENCE_SECONDS
    )


@pytest.mark.parametrize("words", ["", "serve", "backup", "fleet", "fleet join", "fleet request", "fleet install", "fleet show"])
def test_every_help_has_an_example(build_directory, words):
    done = muster_channel(build_directory, *words.split(), "--help")
    assert done.returncode == 0 and "Example: muster-channel" in " ".join(done.stdout.split())


def test_without_arguments_it_uses_the_state_directory_or_the_users_own(build_directory, tmp_path):
    given = muster_channel(build_directory, "fleet", "request", STATE_DIRECTORY=str(tmp_path / "given"))
    assert given.returncode == 0 and (tmp_path / "given/channel.sqlite").exists()
    assert (tmp_path / "given").stat().st_mode & 0o077 == 0, "closed to others"
    home = {key: "" for key in ("STATE_DIRECTORY", "XDG_STATE_HOME")} | {"HOME": str(tmp_path)}
    own = muster_channel(build_directory, "fleet", "request", **home)
    assert own.returncode == 0 and (tmp_path / ".local/state/muster-channel/channel.sqlite").exists()


def test_what_cannot_be_served_is_said_in_a_sentence(office, build_directory):
    office.start()
    second = muster_channel(build_directory, "--listen", "127.0.0.1:0", "--database", office.store)
    assert second.returncode == 75 and "Another muster-channel" in second.stderr
    odd = muster_channel(build_directory, "--listen", "nowhere", "--database", office.store)
    assert odd.returncode == 64 and "HOST:PORT" in odd.stderr
    occupied = os.path.join(office.directory, "papers")
    open(occupied, "w", encoding="utf-8").close()
    odd = muster_channel(
        build_directory, "--listen", "127.0.0.1:0", "--proxy-socket", occupied, "--database", f"{office.directory}/other.sqlite"
    )
    assert odd.returncode == 64 and "no socket" in odd.stderr and os.path.exists(occupied)
    taken = muster_channel(
        build_directory, "--listen", f"127.0.0.1:{office.port}", "--database", f"{office.directory}/other.sqlite"
    )
    assert taken.returncode == 75 and str(office.port) in taken.stderr
    with Solos(build_directory) as solos:
        anna = solos("anna").start()
        anna.stop()
        foreign = muster_channel(build_directory, "--database", anna.store)
        assert foreign.returncode == 65 and "is a laptop's store; name the server's own database" in foreign.stderr
        assert not os.path.exists(anna.store + ".lock"), "nothing is made beside it"
    with open(occupied, "w", encoding="utf-8") as file:
        file.write("precious " * 1_000)
    foreign = muster_channel(build_directory, "--database", occupied)
    assert foreign.returncode == 65 and "is no database" in foreign.stderr and "--database" in foreign.stderr, foreign
    for flag in ("--database", "--proxy-socket"):
        odd = muster_channel(build_directory, flag, "~/channel")
        assert odd.returncode == 64 and "write the whole path" in odd.stderr, odd


def test_a_mistyped_database_is_no_new_server(office, build_directory, tmp_path):
    papers = tmp_path / "server.pem"
    papers.write_text("nothing")
    for words in (["show"], ["install", str(papers)]):
        done = muster_channel(build_directory, "fleet", *words, "--database", str(tmp_path / "typo/channel.sqlite"))
        assert done.returncode == 65 and "There is no database" in done.stderr, done
        assert not (tmp_path / "typo").exists()
    done = muster_channel(build_directory, "fleet", "request", "--database", str(tmp_path))
    assert done.returncode == 64 and "is a directory" in done.stderr, done


def test_nobody_else_may_read_the_databases(build_directory, solos, tmp_path):
    """Also in a directory that everybody may enter."""
    tmp_path.chmod(0o755)
    command = [os.path.join(build_directory, "muster-channel"), "fleet", "request"]
    before = os.umask(0o022)
    try:
        subprocess.run([*command, "--database", str(tmp_path / "channel.sqlite")], check=True, capture_output=True)
        anna = solos("anna")
        os.chmod(anna.state, 0o755)
        anna.start()
        anna.create_job()
    finally:
        os.umask(before)
    files = [*tmp_path.iterdir(), *(os.path.join(anna.state, name) for name in os.listdir(anna.state))]
    assert len(files) > 3
    assert {oct(os.stat(file).st_mode & 0o777) for file in files} == {"0o600"}, files
