"""Runs in a network namespace of its own: a laptop that comes back to the network with another address. Prints one JSON
document.

Connections to the server have the address from which they began; when that is gone nothing goes through them, and nobody
says so.
"""

import http.server
import json
import sys
import time

from lab import wait_until
from route_scene import ADDRESS, flags, ip, serve
from solo import Solos
from stranger import wait_for_log

FIRST, SECOND = "10.88.0.2", "10.88.0.3"


def plug_in(own):
    """The server is reached from this address."""
    ip("address", "add", f"{own}/32", "dev", "lo")
    # The kernel's own route would have the server's address as the source.
    ip("address", "add", f"{ADDRESS}/32", "dev", "lo", "noprefixroute")
    ip("route", "replace", "local", ADDRESS, "dev", "lo", "table", "local", "src", own)


def unplug(own):
    ip("route", "delete", "local", ADDRESS, "dev", "lo", "table", "local")
    ip("address", "delete", f"{ADDRESS}/32", "dev", "lo")
    ip("address", "delete", f"{own}/32", "dev", "lo")


def answering(asked, when_asked=lambda: None):
    """A server without jobs, which notes when and from where it is asked for them: (seconds, address)."""

    class Handler(http.server.BaseHTTPRequestHandler):
        # Connections are kept.
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if "/v1/jobs" in self.path:
                asked.append((time.monotonic(), self.client_address[0]))
                when_asked()
            self.send_response(200)
            # By its times it is a server of ours.
            for name in ("Muster-Received", "Muster-Answered"):
                self.send_header(name, str(time.time_ns() // 1_000))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    return Handler


def main(build_directory):
    ip("link", "set", "lo", "up")
    asked = []

    plug_in(FIRST)
    with Solos(build_directory) as solos:
        anna = solos("anna").start(*flags(serve(answering(asked), solos.fleet)))
        # Then there is a connection that is kept, and nothing is under way on it.
        wait_for_log(anna, "the server answers")
        unplug(FIRST)
        wait_for_log(anna, "there is no route to the server")
        asked.clear()
        begin = time.monotonic()
        plug_in(SECOND)
        wait_until(lambda: asked, 45, "the server is asked from the new address")
        print(json.dumps({"secondsToPoll": asked[0][0] - begin, "from": asked[0][1]}))


if __name__ == "__main__":
    main(sys.argv[1])
