"""A program of the office, which asks the server what it holds: with a certificate of the fleet, as docs/server.md says."""

import json
import ssl
import subprocess
import urllib.request

from lab.answers import ChannelAnswers

PATIENCE_SECONDS = 20


class Desk(ChannelAnswers):
    """`sign` makes a certificate of a request, both in PEM."""

    def __init__(self, directory, url, sign):
        self._url = url
        key, request, papers = (str(directory / f"desk.{kind}") for kind in ("key", "request", "pem"))
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True)
        subprocess.run(["openssl", "req", "-new", "-subj", "/CN=desk", "-key", key, "-out", request], check=True)
        with open(request, encoding="utf-8") as asked, open(papers, "w", encoding="utf-8") as file:
            file.write(sign(asked.read()))
        # No public authority knows the server, and nobody else is on this network.
        self._context = ssl.create_default_context()
        self._context.check_hostname = False
        self._context.verify_mode = ssl.CERT_NONE
        self._context.load_cert_chain(papers, key)

    def get(self, path):
        answer = urllib.request.urlopen(f"{self._url}{path}", context=self._context, timeout=PATIENCE_SECONDS)
        with answer:
            return json.load(answer)

    def published(self, job):
        """The states that the office has given to a job, in its order."""
        return [entry["published"]["state"] for entry in self.channel(job) if "state" in entry["published"]]

    def digest(self, job):
        return self.get(f"/v1/jobs/{job}")["digest"]
