"""An import that is ended in its midst: the same command goes on, and nothing is there twice."""

import gzip
import signal
import subprocess

import pytest

from lab import wait_until
from solo import PATIENCE_SECONDS, wait_agreed

ROWS = 30_000
KEYS = [[], ["--key", "barcode"]]


@pytest.fixture
def anna(solos):
    anna = solos("anna").start()
    anna.job = anna.create_job("Elm")
    return anna


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "stock.csv.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("barcode,name,quantity\n")
        file.writelines(f"{2_000_000_000_000 + number},Box {number},1\n" for number in range(ROWS))
    return str(path)


def count(daemon):
    return daemon.get(f"/v1/jobs/{daemon.job}?digest=known")["items"]


def begin(daemon, table, *options):
    """An import, when some of its rows are in."""
    command = daemon.command("import", "Elm", table, *options)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: count(daemon) > 0, PATIENCE_SECONDS, "some rows are in")
    assert process.poll() is None, "it was still at it"
    return process


def go_on(daemon, table, before, *options):
    """The same command again: the rest is added, and each row is there once."""
    done = daemon.muster("import", "Elm", table, *options)
    expected = f"{ROWS:,} rows: {ROWS - before:,} added, 0 updated, {before:,} unchanged, 0 not taken.\n"
    assert (done.returncode, done.stdout) == (0, expected), done
    barcodes = {item["fields"]["barcode"] for item in daemon.items(daemon.job).values()}
    assert len(barcodes) == count(daemon) == ROWS


@pytest.mark.parametrize("options", KEYS, ids=["without a key", "with a key"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_after_a_signal_the_same_command_goes_on(anna, table, number, options):
    importing = begin(anna, table, *options)
    importing.send_signal(number)
    output, errors = importing.communicate(timeout=PATIENCE_SECONDS)
    assert importing.returncode == -number, "it ended as the signal ends programs, so that a script stops"
    assert output == "" and "The same command goes on with the rest, and adds nothing twice." in errors, errors
    # The daemon may still be at the rows that were sent last.
    anna.stop()
    anna.start()
    before = count(anna)
    assert 0 < before < ROWS, "it was in the middle"
    told = int(errors.split("at least ")[1].split(" ")[0].replace(",", "")) if "at least" in errors else 0
    assert told <= before
    go_on(anna, table, before, *options)


@pytest.mark.parametrize("options", KEYS, ids=["without a key", "with a key"])
def test_after_the_daemon_was_killed_the_same_command_goes_on(anna, table, options):
    importing = begin(anna, table, *options)
    anna.kill()
    output, errors = importing.communicate(timeout=PATIENCE_SECONDS)
    assert importing.returncode == 69, (output, errors)
    anna.start()
    before = count(anna)
    assert 0 < before < ROWS, "it was in the middle"
    go_on(anna, table, before, *options)


def test_what_was_removed_meanwhile_stays_removed_and_another_laptop_adds_nothing(anna, solos, tmp_path):
    path = tmp_path / "house.tsv"
    path.write_text("name\tnotes\nSofa\tleft leg scratched\nLamp\t\nRug\t\n", encoding="utf-8")
    assert anna.muster("import", "Elm", str(path)).returncode == 0
    items = anna.items(anna.job)
    rug = next(id for id, item in items.items() if item["fields"]["name"] == "Rug")
    assert anna.muster("item", "remove", "Elm", rug).returncode == 0
    bert = solos("bert").start("--peer", anna.address)
    wait_agreed([anna, bert], anna.job)
    again = bert.muster("import", "Elm", str(path))
    assert again.returncode == 0 and again.stdout == "3 rows: 0 added, 0 updated, 2 unchanged, 0 not taken.\n", again
    assert "2 rows of this very file are in the job already" in again.stderr, again
    assert "1 row is not added again" in again.stderr, again
    assert wait_agreed([anna, bert], anna.job)
    assert {item["fields"]["name"] for item in bert.items(anna.job).values()} == {"Sofa", "Lamp"}


@pytest.mark.parametrize("options", KEYS, ids=["without a key", "with a key"])
def test_a_pipe_is_the_file_that_comes_through_it(anna, table, options):
    with gzip.open(table) as file:
        text = file.read()
    command = anna.command("import", "Elm", "-", *options)
    done = subprocess.run(command, input=text, capture_output=True, check=True)
    assert done.stdout.startswith(f"{ROWS:,} rows: {ROWS:,} added".encode()), done
    go_on(anna, table, ROWS, *options)
