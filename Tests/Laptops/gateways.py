"""What the tests of gateways share: a crew of which one laptop has the internet, and what the office was told."""

from lab import wait_until
from solo import PATIENCE_SECONDS, wait_agreed


def server_flags(url):
    return ["--server", url, "--server-interval", "1"]


def crew(solos, office, front):
    """anna has the internet, bert has anna."""
    anna = solos("anna").start(*server_flags(front.url))
    bert = solos("bert").start("--peer", anna.address)
    wait_until(lambda: bert.connected() == ["anna"], PATIENCE_SECONDS, "the laptops meet")
    return anna, bert


def server_check(daemon):
    """What the doctor says of the server."""
    return next(check for check in daemon.get("/v1/doctor")["checks"] if check["id"] == "server")


def state(daemon, job):
    status, answer = daemon.ask("GET", f"/v1/jobs/{job}")
    return answer["state"] if status == 200 else None


def advance(daemon, job, name):
    return daemon.make(f"/v1/jobs/{job}/state", {"state": name})["tokens"]


def wait_published(daemons, job, name):
    for daemon in daemons:
        wait_until(
            lambda: state(daemon, job) == {"published": name, "pending": None},
            PATIENCE_SECONDS,
            f"{daemon.name} shows {name} as published",
        )


def published_states(office, job):
    """What the office was told, in its order."""
    return [
        entry["published"]["state"] for entry in office.channel(job) if "state" in entry["published"]
    ]


def wait_at_office(office, daemon, job, count):
    """Until the office holds what the laptop holds, with so many items."""

    def agreed():
        status, there = office.ask("GET", f"/v1/jobs/{job}")
        return status == 200 and there["digest"] == daemon.digest(job) and there["items"] == count

    wait_until(agreed, PATIENCE_SECONDS, f"the office has the same {count} items as {daemon.name}")


class Asking:
    """Bert, whose request anna has brought no further than to herself: the office does not answer."""

    def __init__(self, solos, office, front):
        self.office, self.front = office, front
        self.anna, self.bert = crew(solos, office, front)
        self.job = self.bert.create_job("Smith")
        advance(self.bert, self.job, "dispatched")
        wait_published([self.anna, self.bert], self.job, "dispatched")
        front.always("503")
        (self.token,) = advance(self.bert, self.job, "inProgress")
        wait_until(self.stands, PATIENCE_SECONDS, f"anna has heard of it: {state(self.anna, self.job)}")
        wait_agreed([self.anna, self.bert], self.job)

    def stands(self):
        """Whether both show what bert has asked for, and nothing else."""
        asked = {"published": "dispatched", "pending": "inProgress"}
        return [state(daemon, self.job) for daemon in (self.anna, self.bert)] == [asked] * 2

    def is_carried_out(self):
        """The office answers again, and does what bert has asked for."""
        self.front.always(None)
        wait_published([self.anna, self.bert], self.job, "inProgress")
        assert published_states(self.office, self.job) == ["scheduled", "dispatched", "inProgress"]


def queue_status(pending=0, paused=0, rejected=0, isPaused=False, pausedJobs=()):
    """What the API says of a daemon's queue."""
    return {
        "pending": pending, "parked": paused + rejected, "paused": paused, "isPaused": isPaused,
        "pausedJobs": list(pausedJobs),
    }
