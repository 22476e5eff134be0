"""A server that tells the time, as a company's server does, and one that only seems to."""

import http.server
import json
import threading
import time

from front import serve_tls
from stranger import Member


class TimeServer:
    """A context manager: `GET /v1/time` on a port of the loopback, as a server of this fleet; counts what it is asked."""

    def __init__(self, fleet, error_seconds=0, page=None, port=0, shows=None):
        # For the time, and at all.
        self.asked = self.requests = 0
        self.error_seconds = error_seconds
        # What it answers instead, with status 200. (`shows` is who it proves to be instead.)
        self.page = page
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                received = outer.microseconds()
                outer.requests += 1
                if self.path != "/v1/time":
                    self.send_error(404)
                    return
                outer.asked += 1
                body = outer.page or json.dumps({"received": received, "answered": outer.microseconds()}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html" if outer.page else "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        serve_tls(self._server, (shows or Member(fleet, role="proxy")).serving(asks=False))
        self.url = f"https://127.0.0.1:{self._server.server_port}"

    def microseconds(self):
        return time.time_ns() // 1_000 + int(self.error_seconds * 1_000_000)

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
