"""How a story is told: chapters, what a laptop's screen shows, and facts that must hold."""

import hashlib
import os
import shlex
import sys
import textwrap
import time

from lab import wait_until

PATIENCE_SECONDS = 60
COLUMNS = 80
SCREEN_EDGE = "   │ "
# What fits on a laptop's screen as it is shown here.
SCREEN_COLUMNS = COLUMNS - len(SCREEN_EDGE)
CHECKOUT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))


class Teller:
    def __init__(self):
        self._start = time.monotonic()
        self._chapter = 0
        self._is_terminal = sys.stdout.isatty()

    def title(self, text):
        print(f"\n{self._bold(text)}\n{'═' * len(text)}", flush=True)

    def chapter(self, text):
        self._chapter += 1
        seconds = f"  {time.monotonic() - self._start:5.1f} s"
        line = f"{self._chapter}. {text}"
        rule = "─" * max(2, COLUMNS - len(line) - len(seconds) - 2)
        print(f"\n{self._bold(line)}  {rule}{seconds}", flush=True)

    def say(self, text, mark=" "):
        lead = "   " if mark == " " else f"   {mark} "
        print(textwrap.fill(text, COLUMNS, initial_indent=lead, subsequent_indent=" " * len(lead)), flush=True)

    def screen(self, member, *arguments, only=lambda lines: lines):
        """Runs `muster …` on a laptop, shows the command and what it prints, and returns that."""
        output = member.muster(*arguments)
        self.command(member.name, ["muster", *arguments])
        self.show(only(output.rstrip("\n").split("\n")))
        return output

    def refused(self, member, *arguments):
        """The same of a command that is refused: what the laptop says to that."""
        done = member.try_muster(*arguments)
        self.command(member.name, ["muster", *arguments])
        self.must(done.returncode != 0, "it is refused")
        self.show(done.stderr.rstrip("\n").split("\n"))

    def command(self, name, words, into=None):
        """`into` is the file in which what it prints is kept."""
        print("\n".join(command_lines(name, words)) + ("" if into is None else f" > {into}"))

    def show(self, lines):
        """What somebody sees on a screen, which breaks sentences that are longer."""
        for line in lines:
            for part in textwrap.wrap(line, SCREEN_COLUMNS, break_on_hyphens=False) or [""]:
                print(f"{SCREEN_EDGE}{part}".rstrip())
        sys.stdout.flush()

    def must(self, holds, what):
        """A fact that the story stands on: told when it holds, the end of the story when not."""
        if not holds:
            raise AssertionError(f"it does not hold that {what}.")
        self.say(what, mark="✓")

    def until(self, condition, what):
        """Waits for something, and tells how long it took, in seconds."""
        start = time.monotonic()
        wait_until(condition, PATIENCE_SECONDS, what)
        seconds = time.monotonic() - start
        self.say(f"{what}, after {seconds:.2f} s", mark="✓")

    def _bold(self, text):
        return f"\033[1m{text}\033[0m" if self._is_terminal else text


def command_lines(name, words):
    """A command as one would type it, over several lines where it is long."""
    lines = [f"   {name} $"]
    for word in words:
        # Room for the backslash of a line that goes on.
        if len(lines[-1]) + len(shlex.quote(word)) + 3 > COLUMNS:
            lines[-1] += " \\"
            lines.append("       ")
        lines[-1] += f" {shlex.quote(word)}"
    return lines


def agree(members, job):
    """Whether all of them have the same of a job, byte for byte as far as its digest tells."""
    digests = {member.digest(job) for member in members}
    return len(digests) == 1 and None not in digests


def in_sync(members):
    """Whether each has acknowledged everything that each of the others holds. Costs less than comparing digests."""
    peers = [peer for member in members for peer in member.json("peers")]
    synced = [peer for peer in peers if peer["state"] == "connected" and peer["behind"] == peer["ahead"] == 0]
    return len(synced) == len(peers) == len(members) * (len(members) - 1)


def last(count):
    """The last lines of a screen."""
    return lambda lines: ["…", *lines[-count:]] if len(lines) > count else lines


def beginning_with(*names):
    """Of a screen with names and values the lines with these names."""
    return lambda lines: [line for line in lines if line.split("  ")[0] in names]


def check_and_compare(teller, members, job):
    """Asks every laptop whether all hold the same, compares their exports with one's own eyes, and returns the digest."""
    for member in members:
        teller.screen(member, "job", "check", job)
        devices = member.json("job", "check", job)["devices"]
        others = sorted(other.name for other in members if other is not member)
        if sorted(device["name"] for device in devices) != others:
            raise AssertionError(f"{member.name} has compared with {devices}, not with {others}.")
    exports = [member.muster("job", "export", job) for member in members]
    size = len(exports[0].encode())
    names = ", ".join(member.name for member in members)
    teller.must(all(export == exports[0] for export in exports), f"the exports of {names} are equal, all {size:,} bytes")
    digest = hashlib.sha256(exports[0].encode()).hexdigest()
    teller.must(digest == members[0].digest(job), "their SHA-256 is the digest that job check has compared")
    return digest
