"""The tour of the README, as somebody types it who has just built the programs."""

import os
import re
import shutil
import subprocess

from lab import Program, wait_until
from solo import PATIENCE_SECONDS
from unprivileged import Person

CHECKOUT = os.path.normpath(os.path.join(os.path.dirname(__file__), "../.."))
BUILT = "$PWD/.build/release"


def blocks():
    """What stands in the fences of the tour."""
    with open(os.path.join(CHECKOUT, "README.md"), encoding="utf-8") as file:
        (tour,) = re.findall(r"^## A tour of the command line$(.*?)^## ", file.read(), re.MULTILINE | re.DOTALL)
    return re.findall(r"^```\n(.*?)^```$", tour, re.MULTILINE | re.DOTALL)


def test_the_tour_works_when_typed(build_directory):
    first, second = blocks()
    path, daemon = first.splitlines()
    lines = second.splitlines()
    assert BUILT in path and lines[0] == path and daemon.startswith("musterd "), first
    assert all(line.startswith("muster ") for line in lines[1:]), second
    with Person(build_directory) as person:
        # The checkout as far as they need it.
        shutil.copytree(os.path.join(CHECKOUT, "Examples/data"), person.directory / "Examples/data")
        here = path.replace(BUILT, str(person.programs))
        own = {**person.own, "COLUMNS": "80"}
        musterd = Program(
            "musterd", [*person.prefix, "bash", "-ec", f"{here}\nexec {daemon}"], str(person.directory), own)
        try:
            runs = lambda: (person.runtime / "muster/muster.sock").exists()
            wait_until(runs, PATIENCE_SECONDS, "the daemon runs")
            # A shell of its own for each, and every one of them has to end well.
            for line in lines[1:]:
                done = subprocess.run(
                    [*person.prefix, "bash", "-ec", f"{here}\n{line}"], cwd=person.directory, capture_output=True,
                    text=True, env={**person.environment, "COLUMNS": "80"}, stdin=subprocess.DEVNULL,
                    timeout=PATIENCE_SECONDS)
                assert done.returncode == 0, (line, done, musterd.errors())
                assert max(map(len, (done.stdout + done.stderr).splitlines()), default=0) <= 80, (line, done.stdout)
        finally:
            musterd.kill()
