"""The words that say whom a job is for come to the server before anything else of the job (docs/membership.md): also before the request
that opens it there, which has the job's name."""

import threading

from gateways import server_flags
from lab import never_during, wait_until
from membership import jobs
from office import Connection
from revoking import identifier, install
from solo import PATIENCE_SECONDS
from stranger import Member
from test_membership_server import gateway

COUNT = 10


def lead(solos, office, url):
    daemon = solos("lea").start(*server_flags(url))
    install(daemon, office.fleet.sign(daemon.get("/v1/fleet")["request"], "lead"))
    return daemon


def test_a_server_that_does_not_get_the_words_gets_no_request(solos, office, front):
    """The line breaks at the words, and nowhere else."""
    front.trouble = lambda method, path: "500" if path.endswith("/assignments") else None
    lea, carl = lead(solos, office, front.url), gateway(solos, office, "carl")
    lea.make("/v1/jobs", {"name": "Smith, 12 Elm Street", "laptops": [identifier(lea)]})
    wait_until(lambda: front.requests("/assignments", "500"), PATIENCE_SECONDS, "the words do not arrive")
    heard = lambda: [carl.get(f"/v1/jobs/{job}") for job in jobs(carl)]
    never_during(heard, 2 * COUNT / 2, "a laptop that is not on the job hears of it")


def test_who_is_quick_hears_nothing_of_a_job_that_is_being_made(solos, office):
    lea = lead(solos, office, office.url)
    connection, heard, is_over = Connection(office.port, Member(office.fleet)), set(), threading.Event()

    def listen():
        cursor = None
        while not is_over.is_set():
            _, answer = connection.ask("GET", "/v1/jobs?wait=1" + (f"&since={cursor}" if cursor else ""))
            cursor = answer["cursor"]
            heard.update(job["job"] for job in answer["jobs"] if not job["isOwnOnly"])

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        made = {lea.make("/v1/jobs", {"name": f"Smith, {number} Elm Street", "laptops": [identifier(lea)]})["id"] for number in range(COUNT)}
        there = lambda: made <= {job["job"] for job in office.get("/v1/jobs")["jobs"]}
        wait_until(there, PATIENCE_SECONDS, "the office has all")
    finally:
        is_over.set()
        listener.join(PATIENCE_SECONDS)
        connection.close()
    assert not heard & made, f"{len(heard & made)} of {COUNT} jobs were everybody's for a moment"
