"""Recordings of what a person types and sees, in terminals of several widths, as asciicast v2, the format of asciinema."""

import json
import os
import shlex
import time
from types import SimpleNamespace

import pytest
from lab import Asciicast, surroundings
from readable import broken
from recordings_known import CHANCE, MEANT
from screen import Screen

WIDTHS = (60, 80, 120)
ROWS = 24
INTERRUPT = "\x03"
# As commands end: sysexits.h, and what is not as it should be or was declined.
DECLINED, NOT_KNOWN, USAGE, BAD_DATA, UNAVAILABLE, NOT_PERMITTED = 1, 2, 64, 65, 69, 77


class Scene:
    """A context manager: the commands of one group, each read at every width.

    `judge` fails for what breaks a rule of `readable`, except where it is meant to for a reason; it has to break it then. See
    recordings_known.py.
    """

    def __init__(self, group, directory):
        directory = os.environ.get("MUSTER_RECORDINGS") or str(directory)
        os.makedirs(directory, exist_ok=True)
        self.path = os.path.join(directory, f"{group}.cast")
        self.recording = Asciicast(
            self.path, max(WIDTHS), ROWS, timestamp=int(time.time()), title=f"muster: {group}",
            env={"TERM": "xterm-256color", "SHELL": "/bin/bash"})
        self._meant, self._chance = (one.get(group, {}) for one in (MEANT, CHANCE))
        # What stands for a word that is another one each time, such as an id.
        self._names = {}
        self._broken = {}

    def __enter__(self):
        self.recording.__enter__()
        return self

    def __exit__(self, *_):
        self.recording.__exit__()

    def call(self, word, name):
        """In `meant` and the messages this word is called so."""
        self._names[word] = name
        return word

    def read(self, daemon, *words, **options):
        """Runs `muster …` at every width, since it changes nothing. Returns what was seen at the last."""
        return [self.run(columns, daemon, *words, **options) for columns in WIDTHS][-1]

    def run(self, columns, daemon, *words, code=0, answers=(), label=None, is_data=False):
        """Runs `muster …` at one width; it ends with this code. `answers` are what is waited for, and what is typed then; a
        function is called, and may say what. What is for programs, `is_data`, need not be readable.

        Returns `printed`, `said` on standard error, and all as it was `shown`.
        """
        label = label or " ".join(self._names.get(word, word) for word in words)
        recording = self.recording
        recording.resize(columns)
        recording.mark(f"{columns}: {label}")
        typed = shlex.join(["muster", *words])
        recording.show(f"$ {typed}\r\n".encode())
        own = {**surroundings(), "TERM": "xterm-256color", "MUSTER_SOCKET": daemon.socket}
        own.pop("COLUMNS", None)
        with Screen(
                Typed(daemon), *words, window=(columns, ROWS), environment=own, heard=recording.show) as screen:
            self.screen = screen
            for awaited, answer in answers:
                screen.read_until(awaited)
                answer = answer() if callable(answer) else answer
                if answer:
                    recording.type(answer)
                    screen.type(answer)
            ended = screen.wait()
        recording.show(b"\r\n")
        # An answer ends the line of its question; the terminal shows it, and standard error has none of it.
        said = screen.said
        for question in {awaited for awaited, _ in answers if awaited.endswith(" ")}:
            said = said.replace(question, question + "\n")
        seen = SimpleNamespace(
            columns=columns, code=ended, printed=screen.printed, said=said, shown=screen.shown, answered=bool(answers))
        wrong = [] if ended == code else [(f"ends with {ended}, not {code}", screen.shown)]
        for rule, line in [*wrong, *(() if is_data and ended == code else broken(seen))]:
            self._broken.setdefault(label, {}).setdefault(rule, []).append((columns, line))
        return seen

    def judge(self):
        found = {(label, rule) for label, rules in self._broken.items() for rule in rules}
        meant, chance = (
            {(label, rule) for rule, labels in those.items() for label in labels} for those in (self._meant, self._chance))
        new = "\n".join(
            f"muster {label}: {rule}, at {columns}: {line!r}"
            for label, rule in sorted(found - meant - chance) for columns, line in self._broken[label][rule][:6])
        assert not new, f"what is seen breaks rules:\n{new}"
        assert not (meant - found), f"keeps the rule that it is excused from: {sorted(meant - found)}"


class Typed:
    """A daemon as the environment names it, not the command."""

    def __init__(self, daemon):
        self._program = daemon.command()[0]

    def command(self, *arguments):
        return [self._program, *arguments]


def parse(path):
    """The header and the events of an asciicast v2; fails where it is none."""
    with open(path, encoding="utf-8") as file:
        header, *events = map(json.loads, file)
    assert header["version"] == 2 and header["width"] > 0 and header["height"] > 0, header
    before = 0
    for seconds, kind, data in events:
        assert isinstance(seconds, (int, float)) and seconds >= before and isinstance(data, str), (seconds, kind, data)
        assert kind in "oimr" and len(kind) == 1, kind
        if kind == "r":
            columns, rows = map(int, data.split("x"))
            assert columns > 0 and rows > 0, data
        before = seconds
    return header, events


@pytest.fixture
def scene(request, tmp_path):
    """Of the test's group, which is its name's last word."""
    group = request.node.name.removeprefix("test_")
    with Scene(group, tmp_path) as scene:
        yield scene
    if getattr(request.node, "has_failed", False):
        return
    scene.judge()
    header, events = parse(scene.path)
    typed = [data for _, kind, data in events if kind == "o" and data.startswith("$ muster")]
    assert (header["width"], header["height"]) == (max(WIDTHS), ROWS)
    assert [data for _, kind, data in events if kind == "r"][:3] == [f"{columns}x{ROWS}" for columns in WIDTHS]
    assert len(typed) == sum(kind == "m" for _, kind, _ in events), "each command stands there as it was typed"
