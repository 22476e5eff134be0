"""Runs in a network namespace of its own: a laptop that gets another address while the server is being asked, and is never without
a route. Prints one JSON document.
"""

import http.server
import json
import sys
import threading
import time

from lab import wait_until
from roaming_scene import FIRST, SECOND, plug_in
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

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if "/v1/jobs" in self.path:
                asked.append((time.monotonic(), self.client_address[0]))
                if silent.is_set():
                    # Sleeps: what was asked hangs for longer than the scene lasts.
                    time.sleep(60)
            self.send_response(200)
            # By its times it is a server of ours; there are no jobs.
            for name in ("Muster-Received", "Muster-Answered"):
                self.send_header(name, str(time.time_ns() // 1_000))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    plug_in(FIRST)
    with Solos(build_directory) as solos:
        anna = solos("anna").start(*flags(serve(Handler, solos.fleet)))
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
