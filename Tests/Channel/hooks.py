"""What schemathesis must know about the server channel beyond its document."""

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    """Nobody waits for a minute here: a poll that may wait at all is answered at once."""
    wait = str((case.query or {}).get("wait", ""))
    if wait.isascii() and wait.isdigit() and 1 <= int(wait) <= 60:
        case.query["wait"] = 0
