"""Runs in a network namespace of its own: a laptop whose way to the server comes and goes. Prints one JSON document.

The server's address is on no interface at first, so no route leads to it; adding it is what plugging a cable in does.
"""

import http.server
import json
import subprocess
import sys
import threading
import time

from front import serve_tls
from gateways import server_check, server_flags
from lab import free_port, never_during, wait_at_rest, wait_until
from solo import Solos
from stranger import Member, wait_for_log

ADDRESS = "10.77.0.1"


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def serve(handler, fleet):
    server = http.server.ThreadingHTTPServer(("0.0.0.0", free_port()), handler)
    server.daemon_threads = True
    serve_tls(server, Member(fleet, role="proxy").serving())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def flags(server):
    return server_flags(f"https://{ADDRESS}:{server.server_port}")


def main(build_directory):
    ip("link", "set", "lo", "up")
    asked = []
    silent = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((time.monotonic(), self.path))
            if silent.is_set():
                # Sleeps: it hangs for longer than the scene lasts.
                time.sleep(60)
            self.send_response(503)
            self.end_headers()

        def log_message(self, *_):
            pass

    with Solos(build_directory) as solos:
        anna = solos("anna").start(*flags(serve(Handler, solos.fleet)))
        has_no_route = lambda: "no route" in server_check(anna)["finding"]
        # What it did before it had heard of the routes.
        wait_for_log(anna, "there is no route to the server")
        wait_at_rest(anna.program, 10, "anna has started")
        asked.clear()
        busy = anna.processor_seconds()
        never_during(lambda: asked, 3, "a request without a route")
        result = {"processorSeconds": anna.processor_seconds() - busy, "finding": server_check(anna)["finding"]}
        begin = time.monotonic()
        ip("address", "add", f"{ADDRESS}/32", "dev", "lo")
        wait_until(lambda: any("/v1/jobs" in path for _, path in asked), 10, "the server is asked")
        result["secondsToPoll"] = next(when for when, path in asked if "/v1/jobs" in path) - begin
        ip("address", "delete", f"{ADDRESS}/32", "dev", "lo")
        wait_until(has_no_route, 10, "anna hears that the way is gone")
        asked.clear()
        never_during(lambda: asked, 4, "a request after the way has gone")
        # A way that goes while the server is being asked, and comes back.
        silent.set()
        ip("address", "add", f"{ADDRESS}/32", "dev", "lo")
        wait_until(lambda: any("/v1/jobs" in path for _, path in asked), 10, "the server is asked")
        ip("address", "delete", f"{ADDRESS}/32", "dev", "lo")
        wait_until(has_no_route, 10, "anna hears that the way is gone, again")
        # The poll comes to its end by that, and tells nothing else.
        never_during(lambda: not has_no_route(), 1, "what was under way makes the server ill")
        asked.clear()
        begin = time.monotonic()
        ip("address", "add", f"{ADDRESS}/32", "dev", "lo")
        wait_until(lambda: any("/v1/jobs" in path for _, path in asked), 40, "the server is asked again")
        result["secondsToNextPoll"] = next(when for when, path in asked if "/v1/jobs" in path) - begin
        result["log"] = anna.log()
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
