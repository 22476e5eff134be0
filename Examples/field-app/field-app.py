#!/usr/bin/env python3
"""A field application over the daemon's local API (docs/local-api.md), with Python's standard library alone.

    field-app.py JOB [--socket PATH]

Reads what a scanner or a person enters, a line each, and tells meanwhile what happens, here and on other laptops:

    BARCODE [FIELD=VALUE…]     adds the item, or edits the one that has the barcode; FIELD= empties a field
    note BARCODE TEXT          adds a remark
"""

import argparse
import contextlib
import http.client
import json
import os
import shlex
import socket
import sys
import threading
import time
import urllib.parse
import uuid

RETRY_SECONDS = 0.5
FAILURES = (OSError, http.client.HTTPException)  # The daemon is not there, or went away before it answered.


def connect(path, timeout=30):
    """HTTP on a Unix socket, to be closed."""
    connection = http.client.HTTPConnection("localhost", timeout=timeout)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(timeout)
    connection.sock.connect(path)
    return contextlib.closing(connection)


def ask(path, method, target, body=None, **headers):
    """Asks until there is an answer: its key has the daemon carry a request out once, however often it comes."""
    if method != "GET":
        headers["Idempotency-Key"] = str(uuid.uuid4())
    is_waiting = False
    while True:
        try:
            with connect(path) as connection:
                connection.request(method, target, body and json.dumps(body), headers)
                answer = connection.getresponse()
                content = json.loads(answer.read())
            if answer.status != 503 and content.get("code") != "requestUnderWay":
                return answer.status, content, answer.headers["ETag"]
        except FAILURES as error:
            if not is_waiting:
                say(f"Waiting for the daemon at {path} ({error}).")
            is_waiting = True
        time.sleep(RETRY_SECONDS)


def events(path):
    """Every event, and every one once: the daemon goes on after the last one that it is told of."""
    last = {}
    while True:
        with contextlib.suppress(*FAILURES), connect(path, timeout=60) as connection:  # Four heartbeats.
            connection.request("GET", "/v1/events", headers=last)
            for line in connection.getresponse():
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "id":
                    last = {"Last-Event-ID": value}
                elif name == "data":
                    yield json.loads(value)
        time.sleep(RETRY_SECONDS)


def follow(path, job):
    for event in events(path):
        if event["type"] == "change" and event["job"] == job and event["action"] != "decided":
            fields = ", ".join(f"{field['field']}={field['to']}" for field in event["fields"])
            say(f"* {event['byName']} {event['action']} {event['itemName'] or event['item']}: {fields or event['note']}")
        elif event["type"] == "queue" and event["job"] == job:
            say(f"* {event['wish']}: {event['state']}")
        elif event["type"] == "peer":
            say(f"* {event['name']} is {event['state']}")
        elif event["type"] == "reset":
            say("* something may have happened meanwhile")


def scan(path, job, barcode, fields):
    """Adds an item or edits it; who was slower than somebody else looks again."""
    item = f"{job}/items/{urllib.parse.quote(barcode, safe='')}"
    while True:
        status, answer, tag = ask(path, "GET", item)
        if status == 404:
            status, answer, _ = ask(path, "POST", f"{job}/items", {"fields": {"barcode": barcode, **fields}})
        elif status == 200 and fields:
            changes = {"fields": {name: value or None for name, value in fields.items()}}
            status, answer, _ = ask(path, "PATCH", f"{job}/items/{answer['id']}", changes, **{"If-Match": tag})
        if status != 412:
            return say(f"{barcode}: {answer['detail'] if status >= 400 else answer['id']}")


def enter(path, job, line):
    try:
        word, *rest = shlex.split(line)
        fields = {} if word == "note" else dict(pair.split("=", 1) for pair in rest)
        if word == "note" and len(rest) < 2:
            raise ValueError("it has no barcode or no text")
    except ValueError as error:
        return say(f"not understood ({error}): enter BARCODE FIELD=VALUE, or note BARCODE TEXT, with marks around spaces")
    if word != "note":
        return scan(path, job, word, fields)
    item = f"{job}/items/{urllib.parse.quote(rest[0], safe='')}"
    _, answer, _ = ask(path, "POST", f"{item}/notes", {"text": " ".join(rest[1:])})
    say(answer.get("detail", "noted"))


def say(text):
    sys.stdout.write(f"{text}\n")  # At once: two threads say something.
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job", help="a job's id, the beginning of one, or its name")
    # As the commands find it: this user's own daemon, else the machine's.
    own = os.environ.get("XDG_RUNTIME_DIR") or os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    places = [os.environ.get("MUSTER_SOCKET", ""), f"{own}/muster/muster.sock", "/run/muster/muster.sock"]
    parser.add_argument("--socket", default=next(filter(os.path.exists, places), places[-1]))
    options = parser.parse_args()
    status, job, _ = ask(options.socket, "GET", f"/v1/jobs/{urllib.parse.quote(options.job, safe='')}?digest=known")
    if status != 200:
        sys.exit(job["detail"])
    say(f"{job['name']}, {job['items']} items")
    threading.Thread(target=follow, args=(options.socket, job["id"]), daemon=True).start()
    for line in filter(str.strip, sys.stdin):
        enter(options.socket, f"/v1/jobs/{job['id']}", line)


if __name__ == "__main__":
    main()
