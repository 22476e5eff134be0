"""What Tab offers in bash, zsh and fish: jobs, items, states, tokens, laptops, as the daemon knows them, each as one word."""

import os
import pty
import select
import subprocess
import time

import pytest
from solo import PATIENCE_SECONDS

TRICKY = 'Smith, 12 Elm Street "flat: 3" $(touch PWNED) it\'s'


@pytest.fixture
def anna(solos):
    anna = solos("anna").start()
    anna.jobs = [anna.create_job(TRICKY), anna.create_job("Jones"), anna.create_job("Jürgen 花瓶")]
    for barcode in ("2000000000017", "2000000000024", "3000"):
        anna.add(anna.jobs[1], barcode=barcode, name=f"box {barcode}")
    anna.add(anna.jobs[0], barcode="777", name="vase")
    return anna


class Shell:
    """An interactive shell with the completion script; `tab` types a line and Tab, and tells the words that the line then has."""

    def __init__(self, anna, directory, kind):
        program = os.path.dirname(anna.command()[0])
        script = directory / f"completions.{kind}"
        # It is called as people call it.
        words = subprocess.run([*anna.command()[:1], "completions", kind], capture_output=True, text=True, check=True)
        script.write_text(words.stdout)
        self.kind = kind
        environment = {
            **os.environ, "PATH": f"{program}:{os.environ['PATH']}", "MUSTER_SOCKET": anna.socket, "TERM": "dumb",
            "HOME": str(directory), "PS1": "$ ", "LC_ALL": "C.UTF-8"}
        shell = {
            "bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"], "fish": ["fish", "--no-config", "-i"],
        }[kind]
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.execvpe(shell[0], shell, environment)
        if kind == "zsh":
            self._type("unsetopt zle_bracketed_paste; PS1='$ '; autoload -Uz compinit; compinit -u; setopt no_auto_menu\n")
        function = "function muster_shown; printf '<%s>' $argv; end" if kind == "fish" else 'muster_shown() { printf "<%s>" "$@"; }'
        self._type(f"source {script}; {function}; echo re''ady\n")
        self._read_until("ready")

    def tab(self, line):
        """Each word of the completed line, read by the shell itself."""
        before = len(self._seen)
        self._type(f"\x15{line}\t")
        # Sleeps: nothing tells when a shell has completed; what is offered comes at once, or not at all.
        time.sleep(1.5)
        self._type("\x01muster_shown \x05; echo do''ne\n")
        self._read_until("done", before)
        return self._seen[before:]

    def end(self):
        os.close(self._terminal)
        os.waitpid(self.pid, 0)

    _seen = ""

    def _type(self, text):
        os.write(self._terminal, text.encode())

    def _read_until(self, words, start=0):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while words not in self._seen[start:]:
            assert time.monotonic() < deadline, self._seen
            if select.select([self._terminal], [], [], 0.5)[0]:
                self._seen += os.read(self._terminal, 65536).decode(errors="replace")


@pytest.fixture(params=["bash", "zsh", "fish"])
def shell(request, anna, tmp_path):
    shell = Shell(anna, tmp_path, request.param)
    yield shell
    shell.end()
    assert not (tmp_path / "PWNED").exists(), "a name was run"


def shown(*words):
    return "".join(f"<{word}>" for word in words)


def test_names_are_completed_to_one_word_whatever_is_in_them(shell):
    assert shown("muster", "job", "show", "Jones") in shell.tab("muster job show Jo")
    assert shown("muster", "job", "show", TRICKY) in shell.tab("muster job show Sm")
    assert shown("muster", "job", "show", "Jürgen 花瓶") in shell.tab("muster job show Jü")


def test_items_are_those_of_the_job_that_was_named(shell):
    assert shown("muster", "item", "show", "Jones", "3000") in shell.tab("muster item show Jones 3")
    assert shown("muster", "item", "show", "Jones", "7") in shell.tab("muster item show Jones 7"), "another job's"
    quoted = "'" + TRICKY.replace("'", "'\\''") + "'"
    assert shown("muster", "item", "show", TRICKY, "777") in shell.tab(f"muster item show {quoted} 7")


def test_states_are_offered(shell):
    assert shown("muster", "job", "advance", "Jones", "dispatched") in shell.tab("muster job advance Jones di")


def test_what_fits_several_is_listed(shell):
    if shell.kind == "fish":
        # It lists in a pager of its own.
        assert shown("muster", "item", "show", "Jones", "20000000000") in shell.tab("muster item show Jones 2")
        return
    seen = shell.tab("muster item show Jones 2\t\t")
    assert "2000000000017" in seen and "2000000000024" in seen and "3000" not in seen


def test_without_a_daemon_nothing_is_offered_and_nothing_said(anna, shell):
    anna.stop()
    seen = shell.tab("muster job show Jo")
    assert shown("muster", "job", "show", "Jo") in seen
    assert "No daemon" not in seen and "rror" not in seen


def test_people_are_completed_to_one_word_too(anna, shell):
    """Their names come from other laptops."""
    name = "Ann; touch PWNED"
    assert anna.muster("session", "start", name, "--new").returncode == 0
    assert shown("muster", "session", "start", name) in shell.tab("muster session start A")
