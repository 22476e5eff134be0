"""What the programs say to whoever has typed something wrong: one line, and where to read how it is right."""

import os
import subprocess

import pytest
from solo import PATIENCE_SECONDS


def run(build_directory, words):
    program, *arguments = words.split()
    return subprocess.run(
        [os.path.join(build_directory, program), *arguments], capture_output=True, text=True, timeout=PATIENCE_SECONDS,
        env={**os.environ, "COLUMNS": "80"})


@pytest.mark.parametrize(
    "typed, said",
    [
        ("muster --wrong", "muster: Unknown option '--wrong'; see 'muster --help'.\n"),
        ("muster job show", "muster: Missing expected argument '<job>'; see 'muster job show --help'.\n"),
        ("musterd --wrong", "musterd: Unknown option '--wrong'; see 'musterd --help'.\n"),
        ("muster --wrong job", "muster: Unknown option '--wrong'; see 'muster --help'.\n"),
        ("musterd wrong", "musterd: There is no command 'musterd wrong'; see 'musterd --help' for what there is.\n"),
        ("musterd --no-discovery wrong", "musterd: Unexpected argument 'wrong'; see 'musterd --help'.\n"),
        ("musterd --peer", "musterd: Missing value for '--peer <host:port>'; see 'musterd --help'.\n"),
        ("musterd rollback --yse", "musterd: Unknown option '--yse'. Did you mean '--yes'? See 'musterd rollback --help'.\n"),
        # The option is the daemon's as well, and may stand before the command.
        (
            "musterd --state-dir /nowhere rollback --yse",
            "musterd: Unknown option '--yse'. Did you mean '--yes'? See 'musterd rollback --help'.\n",
        ),
        (
            "musterd --generate-completion-script tcsh",
            "musterd: Can't generate completion scripts for 'tcsh'. Please use --generate-completion-script=<shell> with one of: "
            "zsh bash fish; see 'musterd --help'.\n",
        ),
        ("muster-channel bakup x", "muster-channel: There is no command 'muster-channel bakup'; did you mean 'muster-channel backup'?\n"),
        # Without a command it serves.
        ("muster-channel --wrong", "muster-channel: Unknown option '--wrong'; see 'muster-channel serve --help'.\n"),
        ("muster-channel backup", "muster-channel: Missing expected argument '<file>'; see 'muster-channel backup --help'.\n"),
        (
            "muster-channel fleet request --wrong",
            "muster-channel: Unknown option '--wrong'; see 'muster-channel fleet request --help'.\n",
        ),
    ],
)
def test_a_mistake_is_told_in_one_line(build_directory, typed, said):
    done = run(build_directory, typed)
    assert (done.returncode, done.stdout, done.stderr) == (64, "", said)


@pytest.mark.parametrize(
    "typed",
    ["musterd --help", "musterd rollback --help", "muster-channel --help"]
    + [f"muster-channel {command} --help" for command in ("serve", "backup", "fleet", "fleet join", "fleet request", "fleet install", "fleet show")],
)
def test_what_a_help_tells_is_for_eighty_columns_and_broken_only_there(build_directory, typed):
    done = run(build_directory, typed)
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.split("\n")
    prose = lines[: lines.index(next(line for line in lines if line.startswith("USAGE")))]
    assert max(map(len, prose)) <= 80
    for line, following in zip(prose, prose[1:]):
        word = following.split(" ")[0]
        assert not (line.startswith("Example:") and word), f"'{line}' is copied without '{following}'"
        if line and word and not line.endswith(":"):
            assert len(line) + 1 + len(word) >= 80, f"'{line}' ends before '{following}'"


def test_what_was_asked_for_is_no_mistake(build_directory):
    for program in ("muster", "musterd", "muster-channel"):
        done = run(build_directory, f"{program} --version")
        assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 1, "")
