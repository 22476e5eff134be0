"""Runs in a network namespace of its own: a laptop that gets another address while the server is being asked, and is never without
a route. Prints one JSON document.
"""

import json
import sys
import threading
import time

from lab import wait_until
from roaming_scene import FIRST, SECOND, answering, plug_in
from route_scene import ADDRESS, flags, ip, serve
from solo import Solos
from stranger import wait_for_log


def renumber(former, own):
    """The way to the server leads from the second address at once; then the first one goes."""
    ip("address", "add", f"{own}/32", "dev", "lo")
    ip("route", "replace", "local", ADDRESS, "dev", "lo", "table", "local", "src", own)
    ip("address", "delete", f"{former}/32", "dev", "lo")


def main(build_directory):
    ip("link", "set", "lo", "up")
    asked = []
    silent = threading.Event()

    # Sleeps: what was asked hangs for longer than the scene lasts.
    hang = lambda: silent.is_set() and time.sleep(60)
    plug_in(FIRST)
    with Solos(build_directory) as solos:
        anna = solos("anna").start(*flags(serve(answering(asked, hang), solos.fleet)))
        wait_for_log(anna, "the server answers")
        silent.set()
        asked.clear()
        wait_until(lambda: asked, 10, "the server is asked, and does not answer")
        begin = time.monotonic()
        renumber(FIRST, SECOND)
        from_second = lambda: [when for when, address in asked if address == SECOND]
        wait_until(from_second, 45, "the server is asked from the new address")
        result = {"underWay": asked[0][1], "secondsToPoll": from_second()[0] - begin, "log": anna.log()}
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
