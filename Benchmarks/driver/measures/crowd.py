"""One edit while a thousand begin handshakes with A and do not end them, beside the same undisturbed, in turns."""

import contextlib
import multiprocessing
import time

from crowds import Crowd, standing

from ..lab import LabError, percentile
from .edit import BLOCK, block

HANDSHAKES = 1_000
# So many places A gives them; all are to be taken.
PLACES = 64


def measure(lab, report):
    pair = lab.pair(lab.sizes["small"])
    pair.ensure_connected()
    block(lab, pair, 20)
    quiet, beside = [], []
    port = int(pair.a.address.rpartition(":")[2])
    for _ in range(0, lab.sizes["edits"], BLOCK):
        quiet += reached(lab, pair)
        with attack(port):
            beside += reached(lab, pair)
    if f"Room {pair.edits}" not in str(pair.b.ask("GET", f"/v1/jobs/{pair.job}/items")):
        raise ValueError("the last edit cannot be read on B")
    for share, name, factor in ((0.5, "p50", None), (0.99, "p99", 2)):
        value, undisturbed = percentile(beside, share), percentile(quiet, share)
        report.add(
            f"One edit, {HANDSHAKES:,} slow handshakes, {name}", value, "ms", limit=factor and factor * undisturbed,
            goal=f"{factor}x quiet" if factor else "-", baseline=undisturbed, ratio=value / undisturbed,
            met=factor is None or value <= factor * undisturbed, detail={"count": len(beside)})


def reached(lab, pair):
    return [reached for _, reached in block(lab, pair, BLOCK)]


@contextlib.contextmanager
def attack(port):
    """A crowd in a process of its own, as long as it lasts."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=stand, args=(port, there))
    process.start()
    try:
        if not here.poll(30) or here.recv() < PLACES:
            raise LabError(f"of {HANDSHAKES} handshakes too few stand at once")
        yield
    finally:
        with contextlib.suppress(OSError):
            here.send("enough")
        process.join(30)
        if process.is_alive():
            process.kill()
            process.join()
    await_gone(port)


def stand(port, pipe):
    with Crowd(port, HANDSHAKES) as crowd:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not (crowd.is_complete and standing(port) >= PLACES):
            time.sleep(0.01)
        pipe.send(standing(port))
        pipe.recv()


def await_gone(port):
    deadline = time.monotonic() + 30
    while standing(port):
        if time.monotonic() > deadline:
            raise LabError("the handshakes were still there 30 s later")
        time.sleep(0.05)
