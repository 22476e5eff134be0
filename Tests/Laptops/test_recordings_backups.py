"""Whatever a person sees of backups, restores and archives, read at 60, 80 and 120 columns and recorded: see test_recordings.py."""

import os

from belongings import JAPANESE, JOB
from screencast import BAD_DATA, USAGE, scene  # noqa: F401


def test_backups(scene, solos):
    anna, bert = solos("anna").start(), solos("bert").start()
    for name in (JOB, JAPANESE):
        job = anna.create_job(name)
        for count in range(3):
            anna.add(job, name=f"Box {count}", room="Attic")
    path = os.path.join(solos.directory, "monday.backup")
    scene.call(solos.directory, "DIRECTORY")
    scene.read(anna, "backup", path, "--force")
    scene.read(anna, "backup", path, code=BAD_DATA, label="backup over a file")
    scene.read(anna, "backup", os.path.join(solos.directory, "missing", "copy"), code=65, label="backup to nowhere")
    scene.read(anna, "restore", path, label="restore of nothing new")
    scene.read(bert, "restore", os.path.join(solos.directory, "missing"), code=BAD_DATA, label="restore of no file")
    letter = os.path.join(solos.directory, "letter")
    with open(letter, "w", encoding="utf-8") as file:
        file.write("Dear customer\n" * 100)
    scene.read(bert, "restore", letter, code=BAD_DATA, label="restore of a letter")
    scene.read(bert, "restore", path, "--yes", label="restore of two jobs")
    scene.read(anna, "job", "archive", JOB, code=BAD_DATA, label="job archive of one that goes on")
