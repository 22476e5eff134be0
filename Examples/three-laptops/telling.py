"""How a story is told: chapters, what a laptop's screen shows, and facts that must hold."""

import hashlib
import shlex
import sys
import time

from lab import wait_until

PATIENCE_SECONDS = 60


class Teller:
    def __init__(self):
        self._start = time.monotonic()
        self._chapter = 0
        self._is_terminal = sys.stdout.isatty()

    def title(self, text):
        print(f"\n{self._bold(text)}\n{'═' * len(text)}", flush=True)

    def chapter(self, text):
        self._chapter += 1
        seconds = time.monotonic() - self._start
        line = f"{self._chapter}. {text}"
        print(f"\n{self._bold(line)}  {'─' * max(2, 100 - len(line))}  {seconds:5.1f} s", flush=True)

    def say(self, text):
        print(f"   {text}", flush=True)

    def screen(self, member, *arguments, only=lambda lines: lines):
        """Runs `muster …` on a laptop, shows the command and what it prints, and returns that."""
        output = member.muster(*arguments)
        print(f"   {member.name} $ muster {shlex.join(arguments)}")
        for line in only(output.rstrip("\n").split("\n")):
            print(f"   │ {line}")
        sys.stdout.flush()
        return output

    def must(self, holds, what):
        """A fact that the story stands on: told when it holds, the end of the story when not."""
        if not holds:
            raise AssertionError(f"it does not hold that {what}.")
        print(f"   ✓ {what}", flush=True)

    def until(self, condition, what):
        """Waits for something, and tells how long it took, in seconds."""
        start = time.monotonic()
        wait_until(condition, PATIENCE_SECONDS, what)
        seconds = time.monotonic() - start
        print(f"   ✓ {what}, after {seconds:.2f} s", flush=True)

    def _bold(self, text):
        return f"\033[1m{text}\033[0m" if self._is_terminal else text


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


def check_and_compare(teller, members, job):
    """Asks every laptop whether all hold the same, and then compares their exports with one's own eyes."""
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
