"""The story that newcomers run: it holds, fits on their screen, and leaves nothing behind."""

import glob
import os
import re
import subprocess
import tempfile

CHECKOUT = os.path.normpath(os.path.join(os.path.dirname(__file__), "..", ".."))


def test_the_whole_day_is_told_and_nothing_is_left_of_it(build_directory, tmp_path):
    recording = tmp_path / "day.cast"
    with tempfile.TemporaryDirectory(prefix="muster-day-") as directory:
        done = subprocess.run(
            [os.path.join(CHECKOUT, "Examples", "three-laptops", "run"), "household"],
            env={**os.environ, "MUSTER_BUILD": build_directory, "TMPDIR": directory, "MUSTER_RECORDING": str(recording)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        wide = [line for line in done.stdout.splitlines() if len(line) > 80]
        assert wide == []
        assert "each of the 6 requests was carried out once" in done.stdout
        codes = re.findall(r"On the new laptop: muster fleet join (\S+)", done.stdout)
        assert re.findall(r"(\w+) \$ muster fleet join (\S+)", done.stdout) == list(zip(["bert", "cleo"], codes, strict=True))
        assert len(set(re.findall(r"key words: (\w+-\w+-\w+)\n", done.stdout))) == 2
        assert "all its connections are closed" in done.stdout
        assert re.search(r"bert \$ muster fleet list\n(   │ .*\n)+   │ cleo .* revoked ", done.stdout)
        assert "the stolen laptop has not heard of the next job" in done.stdout
        assert os.listdir(directory) == []
        assert commands_about(directory) == []
        seen = recording.read_text()
        assert "149 items" in seen and "1 conflict" in seen and "Box of the garage" in seen
        assert commands_about(str(recording)) == []


def commands_about(directory):
    """Of all running processes those whose words name the directory."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                words = file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if directory in words:
            found.append(words)
    return found
