"""What the tests of membership share: who is put on a job, what a laptop knows of jobs, and statements that are signed in Python."""

import base64
import os
import struct

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from lab import wait_until
from revoking import install
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import blocks

# How long nothing must come: the server is asked once a second.
QUIET_SECONDS = 2


def jobs(daemon):
    return {job["id"] for job in daemon.get("/v1/jobs")}


def assign(daemon, job, *laptops):
    return daemon.make(f"/v1/jobs/{job}/assignments", {"assign": list(laptops)})


def unassign(daemon, job, *laptops):
    return daemon.make(f"/v1/jobs/{job}/assignments", {"unassign": list(laptops)})


def lea_and_bert(solos, is_off):
    """Lea, who leads, and bert, who has written in a job that is theirs; he is taken off it, or not. Returns both and the job."""
    lea = solos("lea").start()
    install(lea, lea.fleet.sign(lea.get("/v1/fleet")["request"], "lead"))
    bert = solos("bert").start("--peer", lea.address)
    wait_until(lambda: lea.connected() == ["bert"], PATIENCE_SECONDS, "they meet")
    job = lea.make("/v1/jobs", {"name": "Smith", "laptops": ["bert"]})["id"]
    wait_agreed([lea, bert], job)
    bert.add(job, name="first")
    wait_agreed([lea, bert], job)
    if is_off:
        unassign(lea, job, "bert")
        heard = lambda: bert.get(f"/v1/jobs/{job}")["membership"] == "off"
        wait_until(heard, PATIENCE_SECONDS, "bert hears that he is off")
    return lea, bert, job


def signed(fleet, member, job, words, signer=None, key=None, stamp=1 << 61):
    """What a member says of who is on a job, `words` by device: (content, signature, certificates). A word is whether it is on the
    job, or its bytes.

    `signer` is in whose name, `key` what signs it.
    """
    content = bytes([1, len(job)]) + job.encode() + struct.pack(">Q", stamp) + (signer or member).device
    content += bytes([len(words)]) + b"".join(
        device + (word if isinstance(word, bytes) else bytes([word])) for device, word in sorted(words.items())
    )
    with open(os.path.join(fleet.state, "fleet.pem"), "rb") as file:
        root = blocks(file.read().decode())[-1].public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    signature = (key or member.key).sign(b"muster assignment 1\0" + root + content)
    return content, signature, member.certificates


def statement(parts):
    """The same as the server takes it."""
    content, signature, certificates = parts
    text = lambda part: base64.b64encode(part).decode()
    return {"content": text(content), "signature": text(signature), "certificates": [text(one) for one in certificates]}
