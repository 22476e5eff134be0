"""A laptop that is off a job starts, connects, and writes at that very moment: what it writes is taken from it (docs/membership.md, rule 6)."""

import random
import time

import pytest
from lab import wait_until
from membership import lea_and_bert
from solo import PATIENCE_SECONDS


@pytest.mark.parametrize("is_off", [False, True])
def test_what_is_written_while_two_laptops_compare_arrives(solos, is_off):
    lea, bert, job = lea_and_bert(solos, is_off)
    chance = random.Random(1)
    for number in range(60):
        bert.stop() if number % 2 else bert.kill()
        bert.start("--peer", lea.address)
        until = time.monotonic() + chance.random() * 0.05
        while time.monotonic() < until:
            pass
        new = {bert.add(job, name=f"at once {number} {count}") for count in range(1 + number % 3)}
        try:
            wait_until(lambda: new <= set(lea.items(job)), PATIENCE_SECONDS, "lea has it")
        except AssertionError as error:
            shown = bert.muster("job", "show", job).stdout
            raise AssertionError(f"{error} (number {number}); bert {bert.vector(job)}, lea {lea.vector(job)}\n{shown}{bert.log()}") from None
