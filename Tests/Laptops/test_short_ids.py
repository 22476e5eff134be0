"""What a list prints can be typed: the ids that it shows name what stands beside them, on every width."""

import itertools
import json
import os
import subprocess

import pytest

from solo import Solos

WIDTHS = [60, 80, 120]
DATA_ERROR = 65


@pytest.fixture(scope="module")
def anna(build_directory):
    """Two jobs of one minute, one of them with items of one moment without barcodes."""
    with Solos(build_directory) as solos:
        anna = solos("anna").start()
        anna.job = anna.create_job("Smith")
        anna.create_job("Jones")
        rows = [{"fields": {"name": f"Box {number}", "room": "Hall"}} for number in range(300)]
        anna.make(f"/v1/jobs/{anna.job}/import", {"items": rows})
        yield anna


def shown(daemon, columns, *words):
    """The first word of each line below the titles."""
    done = subprocess.run(
        daemon.command(*words), capture_output=True, text=True, env={**os.environ, "COLUMNS": str(columns)})
    assert done.returncode == 0, done
    lines = done.stdout.splitlines()[1:]
    assert lines and all(len(line) <= columns for line in lines), lines
    rows = itertools.takewhile(lambda line: not line.startswith("No room"), lines)
    return [line.split()[0] for line in rows]


@pytest.mark.parametrize("columns", WIDTHS)
def test_an_items_short_id_names_it(anna, columns):
    names = {row["id"]: row["fields"]["name"] for row in anna.items(anna.job).values()}
    assert len({id[:8] for id in names}) == 1, "ids of one moment begin alike"
    short = shown(anna, columns, "item", "list", "Smith")
    assert len(set(short)) == len(names) == 300
    for part in short[::60]:
        found = anna.muster("item", "show", "Smith", part, "--json")
        assert json.loads(found.stdout)["id"].endswith(part), found


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_jobs_short_id_names_it(anna, columns):
    short = shown(anna, columns, "job", "list")
    assert len(short) == 2
    for part in short:
        assert anna.muster("job", "show", part).returncode == 0


def test_an_end_that_several_have_is_refused_with_all_of_them(anna):
    ids = list(anna.items(anna.job))
    (digits, several) = max(
        ((end, [id for id in ids if id.endswith(end)]) for end in {id[-2:] for id in ids}), key=lambda one: len(one[1]))
    assert len(several) > 1
    done = anna.muster("item", "show", "Smith", ids[0][:8])
    assert done.returncode == DATA_ERROR and "fits many items" in done.stderr
    done = anna.muster("item", "show", "Smith", digits)
    assert done.returncode == DATA_ERROR and "There is no item" in done.stderr, "two digits name nobody"
