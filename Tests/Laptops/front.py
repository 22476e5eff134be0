"""What may stand between a laptop and the server: nothing, a dead line, a login page, an overloaded proxy, a line that
breaks before the answer."""

import http.client
import http.server
import socket
import ssl
import threading
import urllib.parse

from lab import UnixConnection
from stranger import Member


class Front:
    """A context manager: a proxy of the server's fleet that passes requests on to it, or does what `trouble` says.

    `trouble(method, path)` gives None to pass the request on, or "500", "503", "login", "lost" (the server gets the request,
    nobody gets the answer) or "stall" (nobody answers, until the laptop goes)."""

    def __init__(self, office):
        self.trouble = lambda method, path: None
        # (method, path, status or what was done instead), in the order of their ends.
        self.seen = []
        self._lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.answer(self, office.proxy_socket)

            do_POST = do_PUT = do_GET

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        serve_tls(self._server, Member(office.fleet, role="proxy").serving())
        self.url = f"https://127.0.0.1:{self._server.server_port}"

    def answer(self, handler, proxy_socket):
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        with self._lock:
            trouble = self.trouble(handler.command, handler.path)
        if trouble == "login":
            self.note(handler, trouble)
            return self.reply(handler, 200, {"Content-Type": "text/html"}, b"<html>Welcome to Hotel Alpenblick</html>")
        if trouble == "stall":
            self.note(handler, trouble)
            handler.connection.settimeout(120)
            try:
                handler.rfile.read(1)
            except OSError:
                pass
            handler.close_connection = True
            return None
        if trouble == "500":
            self.note(handler, trouble)
            return self.reply(handler, 500, {"Content-Type": "text/plain"}, b"broken")
        if trouble == "503":
            self.note(handler, trouble)
            return self.reply(handler, 503, {"Content-Type": "text/plain", "Retry-After": "1"}, b"too busy")
        connection = UnixConnection(proxy_socket, timeout_seconds=70)
        try:
            headers = {key: value for key, value in handler.headers.items() if key.lower() != "host"}
            shown = ssl.DER_cert_to_PEM_cert(handler.connection.getpeercert(binary_form=True))
            headers["X-Client-Cert"] = urllib.parse.quote(shown, safe="")
            connection.request(handler.command, handler.path, body or None, headers)
            answer = connection.getresponse()
            text = answer.read()
            status, headers = answer.status, dict(answer.getheaders())
        except (OSError, http.client.HTTPException):
            self.note(handler, "dead")
            return self.hang_up(handler)
        finally:
            connection.close()
        if trouble == "lost":
            self.note(handler, trouble)
            return self.hang_up(handler)
        self.note(handler, status)
        return self.reply(handler, status, headers, text)

    def note(self, handler, what):
        with self._lock:
            self.seen.append((handler.command, handler.path, what))

    def requests(self, part, what=None):
        """Those whose path has this part, and which came to this end."""
        with self._lock:
            return [one for one in self.seen if part in one[1] and what in (None, one[2])]

    @staticmethod
    def hang_up(handler):
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def reply(handler, status, headers, body):
        handler.send_response_only(status)
        for key, value in headers.items():
            if key.lower() not in ("content-length", "transfer-encoding", "connection"):
                handler.send_header(key, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def once(self, trouble, part):
        """The next request whose path has this part gets this trouble; all others are passed on."""
        left = [trouble]

        def choose(_, path):
            return left.pop() if left and part in path else None

        with self._lock:
            self.trouble = choose

    def always(self, trouble):
        with self._lock:
            self.trouble = lambda *_: trouble

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


def serve_tls(server, context):
    """Lets a server of http.server speak TLS. Each connection's own thread waits for its handshake."""
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
