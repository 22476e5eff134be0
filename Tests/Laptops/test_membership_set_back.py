"""A laptop that is off a job, whose disk was set back: what is its own comes back to it, and what it writes then is not lost (rules
R9, and 6 of docs/membership.md)."""

import os
import time

import pytest
from lab import wait_until
from membership import lea_and_bert
from solo import PATIENCE_SECONDS

# By then announcements are over.
REST_SECONDS = 3


def files(daemon):
    """All that stands in its state directory."""
    found = {}
    for name in os.listdir(daemon.state):
        path = os.path.join(daemon.state, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                found[name] = file.read()
    return found


def put_back(daemon, kept):
    """In place: nothing tells the daemon."""
    for name in os.listdir(daemon.state):
        if name not in kept:
            os.remove(os.path.join(daemon.state, name))
    for name, data in kept.items():
        with open(os.path.join(daemon.state, name), "r+b") as file:
            file.truncate(0)
            file.write(data)


def set_back(solos, is_off):
    """Lea, and bert, who has lost three items of his own that lea has."""
    lea, bert, job = lea_and_bert(solos, is_off)
    assert bert.stop() == 0
    kept = files(bert)
    bert.start("--peer", lea.address)
    lost = {bert.add(job, name=f"lost {number}") for number in range(3)}
    wait_until(lambda: lost <= set(lea.items(job)), PATIENCE_SECONDS, "lea has them")
    bert.kill()
    # Sleeps: announcements of before the set-back would tell it by chance.
    time.sleep(REST_SECONDS)
    put_back(bert, kept)
    bert.start("--peer", lea.address)
    wait_until(lambda: lea.connected() == ["bert"], PATIENCE_SECONDS, "they meet again")
    return lea, bert, job, lost


@pytest.mark.parametrize("is_off", [False, True])
def test_its_own_work_comes_back(solos, is_off):
    lea, bert, job, lost = set_back(solos, is_off)
    wait_until(lambda: lost <= set(bert.items(job)), PATIENCE_SECONDS, f"bert has his own work again: {bert.log()}")


@pytest.mark.parametrize("is_off", [False, True])
@pytest.mark.parametrize("count", [2, 5])
def test_what_it_writes_then_is_not_lost(solos, is_off, count):
    lea, bert, job, lost = set_back(solos, is_off)
    new = {bert.add(job, name=f"new {number}") for number in range(count)}
    told = lambda: bert.muster("doctor").stdout + lea.muster("doctor").stdout
    try:
        wait_until(lambda: new <= set(lea.items(job)), 2 * PATIENCE_SECONDS, "lea has what bert has written since")
    except AssertionError as error:
        raise AssertionError(f"{error}; bert {bert.vector(job)}, lea {lea.vector(job)}\n{told()}") from None
    assert lost <= set(lea.items(job))
