"""What a command says cannot be written: on a full disk it is an error with a sentence, and who has gone is not told."""

import os
import subprocess

import pytest

OUTPUT_FAILED = 74


@pytest.fixture
def anna(solos):
    anna = solos("anna").start()
    job = anna.create_job("Smith")
    anna.add(job, name="Sofa")
    return anna


@pytest.mark.parametrize("words", [["job", "list"], ["status", "--json"], ["job", "export", "Smith"]])
def test_an_output_that_cannot_be_written_is_an_error_with_a_sentence(anna, words):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(anna.command(*words), stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == OUTPUT_FAILED and done.stderr.count("\n") == 1, done
    assert "No space left on device" in done.stderr and "let it go somewhere else" in done.stderr


def test_a_reader_that_has_gone_is_no_error(anna):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(anna.command("job", "log", "Smith"), stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.returncode == 0 and done.stderr == "", done
