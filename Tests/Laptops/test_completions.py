"""What Tab offers in bash, zsh and fish: jobs, items, states, tokens, laptops, as the daemon knows them, each as one word."""

import os
import pty
import re
import select
import signal
import subprocess
import time

import pytest
from lab import wait_until
from solo import PATIENCE_SECONDS

TRICKY = 'Smith, 12 Elm Street "flat: 3" $(touch PWNED) it\'s'
# A colon, which zsh takes for the end of the word, and a backslash, which it takes for an escape; the former also with a mark that
# makes another letter of it.
MARKED = "Lane\\: 7:\u0301b"


@pytest.fixture
def anna(solos):
    anna = solos("anna").start()
    anna.jobs = [anna.create_job(TRICKY), anna.create_job("Jones"), anna.create_job("Jürgen 花瓶"), anna.create_job(MARKED)]
    for barcode in ("2000000000017", "2000000000024", "3000"):
        anna.add(anna.jobs[1], barcode=barcode, name=f"box {barcode}")
    anna.add(anna.jobs[0], barcode="Q77", name="vase")
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
        if kind == "bash":
            self._type("bind 'set completion-query-items 0'; bind 'set page-completions off'\n")
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

    def completes(self, line, *words):
        """Waits until it does: what is not known within a second is not offered, and a busy machine takes longer now and then."""
        wait_until(lambda: shown(*words) in self.tab(line), PATIENCE_SECONDS, f"{line!r} becomes {words[-1]!r} in {self.kind}")

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
    shell.completes("muster job show Jo", "muster", "job", "show", "Jones")
    shell.completes("muster job show Sm", "muster", "job", "show", TRICKY)
    shell.completes("muster job show Jü", "muster", "job", "show", "Jürgen 花瓶")
    shell.completes("muster job show La", "muster", "job", "show", MARKED)


def test_a_name_that_ends_in_the_mark_that_is_open_is_ended(anna, tmp_path):
    """readline adds no mark where the text ends in one already."""
    for name in ('Say "hi"', "the Smiths'"):
        anna.create_job(name)
    shell = Shell(anna, tmp_path, "bash")
    shell.completes('muster job show "Sa', "muster", "job", "show", 'Say "hi"')
    shell.completes("muster job show 'the", "muster", "job", "show", "the Smiths'")
    shell.completes('muster job show "the', "muster", "job", "show", "the Smiths'")
    shell.end()


def test_items_are_those_of_the_job_that_was_named(shell):
    shell.completes("muster item show Jones 3", "muster", "item", "show", "Jones", "3000")
    assert shown("muster", "item", "show", "Jones", "Q") in shell.tab("muster item show Jones Q"), "another job's"
    quoted = "'" + TRICKY.replace("'", "'\\''") + "'"
    shell.completes(f"muster item show {quoted} Q", "muster", "item", "show", TRICKY, "Q77")


def test_a_restore_is_offered_what_is_removed_and_not_back(anna, shell):
    lamp = anna.add(anna.jobs[1], name="Lamp")
    for item in ("2000000000017", "3000", lamp):
        assert anna.muster("item", "remove", "Jones", item).returncode == 0
    assert anna.muster("item", "restore", "Jones", "3000").returncode == 0
    shell.completes("muster item restore Jones 2", "muster", "item", "restore", "Jones", "2000000000017")
    shell.completes(f"muster item restore Jones {lamp[:-1]}", "muster", "item", "restore", "Jones", lamp)
    assert shown("muster", "item", "restore", "Jones", "300") in shell.tab("muster item restore Jones 300"), "it is back"


def test_states_are_offered(shell):
    shell.completes("muster job advance Jones di", "muster", "job", "advance", "Jones", "dispatched")


def test_what_fits_several_is_listed(shell):
    if shell.kind == "fish":
        # It lists in a pager of its own.
        shell.completes("muster item show Jones 2", "muster", "item", "show", "Jones", "20000000000")
        return
    seen = []

    def are_listed():
        seen.append(shell.tab("muster item show Jones 2\t\t"))
        return "2000000000017" in seen[-1] and "2000000000024" in seen[-1]

    wait_until(are_listed, PATIENCE_SECONDS, "both barcodes are listed")
    assert "3000" not in seen[-1]


def test_columns_are_those_of_the_list(shell):
    shell.completes("muster job list --columns name,sta", "muster", "job", "list", "--columns", "name,state")
    assert shown("muster", "job", "list", "--columns", "name,barc") in shell.tab("muster job list --columns name,barc")
    shell.completes("muster item list Jones --sort barc", "muster", "item", "list", "Jones", "--sort", "barcode")
    # fish takes that for an option.
    if shell.kind != "fish":
        shell.completes("muster item list Jones --sort -barc", "muster", "item", "list", "Jones", "--sort", "-barcode")


def test_what_is_looked_for_by_an_option_is_offered_too(shell):
    shell.completes("muster job log Jones --item 3", "muster", "job", "log", "Jones", "--item", "3000")
    shell.completes("muster fleet invite --role of", "muster", "fleet", "invite", "--role", "office")
    shell.completes("muster job create --kind p", "muster", "job", "create", "--kind", "pickup")


def test_a_barcode_that_two_items_have_names_neither(anna, shell):
    twins = [anna.add(anna.jobs[1], barcode="999", name="twin") for _ in range(2)]
    assert shown("muster", "item", "show", "Jones", "999") in shell.tab("muster item show Jones 999"), "nothing to go on with"
    for twin in twins:
        shell.completes(f"muster item show Jones {twin[:-1]}", "muster", "item", "show", "Jones", twin)


def test_of_too_many_nothing_is_typed_that_some_do_not_have(anna, tmp_path):
    """bash types what all have in common that it is told of."""
    job = anna.create_job("Store")
    for barcode in [f"5{number:03d}" for number in range(250)] + ["59"]:
        anna.add(job, barcode=barcode)
    shell = Shell(anna, tmp_path, "bash")
    seen = []

    def are_listed():
        seen.append(shell.tab("muster item show Store 5\t\t"))
        return "5000" in seen[-1]

    wait_until(are_listed, PATIENCE_SECONDS, "the first are listed")
    assert re.search(r"\b59\b", seen[-1]) and "5249" not in seen[-1]
    assert shown("muster", "item", "show", "Store", "5") in seen[-1]
    shell.end()


def test_without_a_daemon_nothing_is_offered_and_nothing_said(anna, shell):
    anna.stop()
    seen = shell.tab("muster job show Jo")
    assert shown("muster", "job", "show", "Jo") in seen
    assert "No daemon" not in seen and "rror" not in seen


def test_a_daemon_that_stands_still_is_not_waited_for(anna):
    """A person who has typed Tab waits for it. Of a command the daemon's silence ends after 30 seconds."""
    words = ["muster", "job", "show", "Jo"]
    command = [*anna.command()[:1], "---completion", "job", "show", "--", "positional@0", "3", "2", *words]
    environment = {
        **os.environ, "SAP_SHELL": "bash", "MUSTER_SOCKET": anna.socket, "MUSTER_COMPLETION_LINE": " ".join(words),
        "MUSTER_COMPLETION_WORD": words[-1]}

    def asked():
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        return done.returncode, done.stdout, done.stderr

    wait_until(lambda: asked() == (0, "Jones\n", ""), PATIENCE_SECONDS, "the job is offered")
    os.kill(anna.program.pid, signal.SIGSTOP)
    try:
        wait_until(lambda: "State:\tT" in open(f"/proc/{anna.program.pid}/status").read(), PATIENCE_SECONDS, "it stands still")
        began = time.monotonic()
        assert asked() == (0, "", "")
    finally:
        os.kill(anna.program.pid, signal.SIGCONT)
    assert time.monotonic() - began < 15, "which a slow machine does in a second, and nobody in half a minute"


def test_people_are_completed_to_one_word_too(anna, shell):
    """Their names come from other laptops."""
    name = "Ann; touch PWNED"
    assert anna.muster("session", "start", name, "--new").returncode == 0
    shell.completes("muster session start A", "muster", "session", "start", name)
