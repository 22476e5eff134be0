"""HTTP over the Unix socket of a musterd."""

import http.client
import json
import socket

PATIENCE_SECONDS = 20


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path, timeout_seconds=PATIENCE_SECONDS):
        super().__init__("localhost", timeout=timeout_seconds)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)

    def ask(self, method, path, body=None):
        """Sends one request; returns the status and the JSON of the answer. Raises OSError or HTTPException when the
        daemon is not there, or goes away before it has answered."""
        payload = None if body is None else json.dumps(body)
        self.request(method, path, payload, {"Content-Type": "application/json"} if payload else {})
        answer = self.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None


def ask(socket_path, method, path, body=None):
    """The same, on a connection of its own."""
    connection = UnixConnection(socket_path)
    try:
        return connection.ask(method, path, body)
    finally:
        connection.close()
