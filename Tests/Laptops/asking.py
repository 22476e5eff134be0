"""Requests to the server as their author signs them: see Sources/Authorship/RequestSigning.swift and openapi.json of ChannelServer."""

import base64
import hashlib
import json
import secrets
import sqlite3

from authors import public
from protobuf import read_varint, varint

# Of a token; the others follow from the key.
CHANCE_BYTES = 6


def token_of(key, chance=None):
    """The token of a key, of 32 hexadecimal digits; `chance` is a number, else it is drawn."""
    drawn = secrets.token_bytes(CHANCE_BYTES) if chance is None else chance.to_bytes(CHANCE_BYTES)
    return (drawn + hashlib.sha256(b"muster token 1\0" + public(key)).digest()[: 16 - CHANCE_BYTES]).hex()


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return varint(len(value)) + value


def signed_fields(key, nonce, token, lane="state", kind="openJob", payload="{}", after=None, priority=0):
    """As RequestCodec writes them; the signature follows."""
    before = b"\1" + bytes.fromhex(after) if after else b"\0"
    return bytes.fromhex(token) + before + bytes([priority]) + text(lane) + text(kind) + text(payload) + public(key) + nonce


def sign(key, job, fields):
    return key.sign(b"muster request 1\0" + text(job) + fields)


def statement(key, nonce, job, signer=None, **asked):
    """What stands in a journal: it names `key`, whoever has signed it."""
    fields = signed_fields(key, nonce, **asked)
    return bytes([6]) + fields + sign(signer or key, job, fields)


def mutation(key, job, token, nonce=bytes(16), signer=None, channel=None, payload=None, **asked):
    """What is delivered: the JSON of the server's API."""
    payload = json.dumps(payload or {})
    fields = signed_fields(key, nonce, token, payload=payload, **asked)
    known = {} if channel is None else {"channel": channel}
    return {
        "job": job,
        "token": token,
        "payload": payload,
        "key": public(key).hex(),
        "nonce": nonce.hex(),
        "signature": base64.b64encode(sign(signer or key, job, fields)).decode(),
        **known,
        **asked,
    }


def mutations(member, *asked):
    """A body for the server, which need not have heard of who asks."""
    author = {**member.author().document, "nonce": "0" * 32}
    return {"mutations": list(asked), "authors": [author]}


def stored(daemon, token):
    """A request as a laptop holds it: what it would deliver."""
    database = sqlite3.connect(f"file:{daemon.store}?mode=ro", uri=True)
    try:
        query = "SELECT job.id, record FROM request JOIN job ON number = job WHERE token = ? AND NOT isWithdrawal"
        job, record = database.execute(query, (bytes.fromhex(token),)).fetchone()
    finally:
        database.close()
    rest = record[record.index(bytes.fromhex(token)) + 16 :]
    after, rest = (rest[1:17].hex(), rest[17:]) if rest[0] else (None, rest[1:])
    priority, rest = rest[0], rest[1:]
    texts = []
    for _ in range(3):
        count, begin = read_varint(rest, 0)
        texts.append(rest[begin : begin + count].decode())
        rest = rest[begin + count :]
    lane, kind, payload = texts
    return {
        "job": job,
        "token": token,
        "after": after,
        "priority": priority,
        "lane": lane,
        "kind": kind,
        "payload": payload,
        "key": rest[:32].hex(),
        "nonce": rest[32:48].hex(),
        "signature": base64.b64encode(rest[48:112]).decode(),
    }
