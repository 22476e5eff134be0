"""A store that nobody has open is one file: whoever copies it has all work."""

import os
import shutil
import sqlite3


def test_after_an_orderly_stop_no_work_stands_beside_the_store(solos, tmp_path):
    anna = solos("anna").start()
    job = anna.create_job("Elm")
    for number in range(40):
        anna.add(job, name=f"Box {number}")
    assert os.path.getsize(anna.store + "-wal") > 100_000, "so far it stands in the log"
    assert anna.stop() == 0
    # Beside it stands no more than the note that it was closed.
    copy = shutil.copy(anna.store, tmp_path)
    with sqlite3.connect(copy) as store:
        assert store.execute("SELECT count(*) FROM item").fetchone()[0] >= 40
    # And it goes on as it was.
    assert len(anna.start().items(job)) == 40
