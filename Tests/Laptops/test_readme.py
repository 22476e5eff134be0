"""The tour of the README, as somebody types it who has just built the programs."""

import json
import os
import re
import shlex
import shutil
import subprocess

from gateways import server_flags, wait_published
from lab import Program, wait_until
from solo import PATIENCE_SECONDS
from unprivileged import Person

CHECKOUT = os.path.normpath(os.path.join(os.path.dirname(__file__), "../.."))
BUILT = "$PWD/.build/release"


def blocks(title):
    """What stands in the fences of a section."""
    with open(os.path.join(CHECKOUT, "README.md"), encoding="utf-8") as file:
        (section,) = re.findall(rf"^## {title}$(.*?)^## ", file.read(), re.MULTILINE | re.DOTALL)
    return re.findall(r"^```\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def test_the_tour_works_when_typed(build_directory):
    first, second = blocks("A tour of the command line")
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


def test_what_is_asked_of_the_office_works_when_typed(solos, office, front):
    _, laptops = blocks("The office")
    daemon, *lines = laptops.splitlines()
    assert daemon.startswith("musterd --server ") and all(line.startswith("muster ") for line in lines), laptops
    anna = solos("anna").start(*server_flags(front.url))
    for line in lines:
        done = anna.muster(*shlex.split(line, comments=True)[1:])
        assert done.returncode == 0, (line, done)
    job = json.loads(anna.muster("job", "show", "Oak Lane 7", "--json").stdout)["id"]
    wait_published([anna], job, "completed")
