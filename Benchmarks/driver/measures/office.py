"""muster-channel with many laptops that poll and upload: errors, what a poll with nothing new takes, memory."""

import asyncio
import json
import random
import re
import time

import asking
import authors
import stranger
from protobuf import number, read_varint, text

from ..lab import LabError

CREW = 10
POLL_SECONDS = 2
UPLOAD_SECONDS = 30
WAIT_SECONDS = 10


def measure(lab, report):
    seconds, count = lab.sizes["office_seconds"], lab.sizes["office_laptops"]
    with lab.server("office").start() as server:
        # One key writes for all: how often a signature has to be looked at is the same.
        member = stranger.Member(server.fleet)
        callers = [server.member().asking() for crew in range((count + CREW - 1) // CREW)]
        laptops = [Laptop(server, number, seconds, callers[number // CREW], member) for number in range(count)]
        cpu = server.processor_seconds()
        asyncio.run(drive(server, laptops, seconds))
        cpu = server.processor_seconds() - cpu
    errors = [error for laptop in laptops for error in laptop.errors]
    quiet = sorted(took for laptop in laptops for took in laptop.quiet)
    if not quiet:
        raise LabError(f"no poll with nothing new was answered: {errors[:3]}")
    requests = sum(laptop.requests for laptop in laptops)
    p99 = quiet[int(len(quiet) * 0.99)] * 1000
    detail = {
        "seconds": seconds, "laptops": count, "requests": requests, "quietPolls": len(quiet),
        "uploads": sum(laptop.uploads for laptop in laptops), "medianMilliseconds": quiet[len(quiet) // 2] * 1000,
        "longestMilliseconds": quiet[-1] * 1000, "cpuSeconds": cpu, "errors": errors[:5],
        "residentMegabytes": [bytes / 1e6 for bytes in server.resident],
    }
    report.add(f"{count} laptops, {seconds} s: poll without news, p99", p99, "ms", limit=50, detail=detail)
    report.add("  errors", len(errors), "", limit=0)
    report.add("  server resident at most", max(server.resident) / 1e6, "MB", limit=200)
    report.note(
        f"{count} laptops: {requests} requests ({detail['uploads']} uploads) took the server {cpu:.1f} s of a core; "
        f"median {detail['medianMilliseconds']:.1f} ms.")


async def drive(server, laptops, seconds):
    end = time.monotonic() + seconds

    async def watch():
        while time.monotonic() < end:
            server.look()
            await asyncio.sleep(1)

    await asyncio.gather(watch(), *(laptop.live(end) for laptop in laptops))
    server.look()


class Laptop:
    """Polls its crew's job and uploads its journal, on one connection."""

    def __init__(self, server, number, seconds, context, member):
        self.server, self.number = server, number
        self.job = f"job-{number // CREW}"
        self.member, self.author = member, member.author()
        self.quiet, self.errors = [], []
        # Every other one waits for news at the server.
        self.wait = f"&wait={WAIT_SECONDS}" if number % 2 else ""
        self.requests = self.uploads = self.head = 0
        self.context = context
        # Made before the clock runs.
        self.runs = list(self._runs(seconds // UPLOAD_SECONDS + 2))

    def _runs(self, count):
        digest, sequence = bytes(32), 0
        for run in range(count):
            first = sequence + 1
            records = []
            for _ in range(random.randint(1, 5)):
                sequence += 1
                item = self.author.replica[8:] + sequence.to_bytes(8, "big")
                stamp = (1_000_000 + run) << 16 | sequence & 0xFFFF
                records.append(stranger.change(item, stamp, f"Box {sequence}"))
            digest = authors.digest(records, digest)
            segment = text(1, self.author.replica) + number(2, first) + number(3, sequence)
            segment += text(5, b"".join(records)) + text(6, digest)
            segment += text(7, self.author.sign(self.job, sequence, digest))
            yield text(1, segment) + text(3, self.author.message)

    async def live(self, end):
        try:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.server.port, ssl=self.context)
            await self._work(end)
            self.writer.close()
        except (OSError, asyncio.IncompleteReadError, ValueError) as error:
            self.errors.append(f"laptop {self.number}: {error!r}")

    async def _work(self, end):
        if self.number % CREW == 0:
            key = self.member.key
            asked = {"lane": "state", "kind": "openJob", "payload": {"name": self.job}}
            opening = asking.mutation(key, self.job, asking.token_of(key), **asked)
            body = json.dumps(asking.mutations(self.member, opening)).encode()
            await self._ask("POST", "/v1/mutations", body, "application/json")
        await self._upload()
        await asyncio.sleep(random.uniform(0, POLL_SECONDS))
        next_upload = time.monotonic() + random.uniform(0, UPLOAD_SECONDS)
        while time.monotonic() < end:
            if time.monotonic() >= next_upload and self.runs:
                next_upload += UPLOAD_SECONDS
                await self._upload()
            began = time.perf_counter()
            answer = await self._ask("GET", f"/v1/jobs/{self.job}/channel?after={self.head}&limit=1000{self.wait}")
            took = time.perf_counter() - began
            head, has_news = read_head(answer)
            if has_news:
                self.head = head
            elif not self.wait:
                self.quiet.append(took)
            await asyncio.sleep(random.uniform(0.5, 1.5) * POLL_SECONDS)

    async def _upload(self):
        await self._ask("POST", f"/v1/jobs/{self.job}/journals", self.runs.pop(0), "application/x-protobuf")
        self.uploads += 1

    async def _ask(self, method, path, body=b"", kind=""):
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
        head += "Accept: application/x-protobuf\r\n"
        if kind:
            head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        self.writer.write(head.encode() + b"\r\n" + body)
        answer = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        length = int(re.search(r"(?i)content-length: *(\d+)", answer)[1])
        bytes = await self.reader.readexactly(length)
        self.requests += 1
        if not answer.startswith("HTTP/1.1 200"):
            self.errors.append(f"laptop {self.number}: {method} {path} gave {answer.splitlines()[0]} {bytes[:200]}")
        return bytes


def read_head(answer):
    """The last ordering id of a Segments message, and whether a run stands before it."""
    at, has_news = 0, False
    while at < len(answer):
        tag = answer[at]
        value, at = read_varint(answer, at + 1)
        if tag == 0x10:
            return value, has_news
        has_news = True
        at += value
    return 0, has_news
