"""Begins a fleet for a test of the server's API: makes the server's certificates from server.request, and a caller's.

    python3 fleet.py PROGRAMS DIRECTORY     in that directory, server.pem and caller.pem (its key and certificates)
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Laptops"))

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat  # noqa: E402
from lab import shared_fleet  # noqa: E402
from stranger import Member  # noqa: E402

programs, directory = sys.argv[1], pathlib.Path(sys.argv[2])
fleet = shared_fleet(programs)
(directory / "server.pem").write_text(fleet.sign((directory / "server.request").read_text(), "server"))
caller = Member(fleet, role="office")
key = caller.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
(directory / "caller.pem").write_text(key + caller.chain)
