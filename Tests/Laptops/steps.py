"""What the tests of musterd do over and over: start a crew, wait until it is together, wait until it agrees."""

import http.client
import json
import socket
import threading

from lab import CrewMember, wait_until

APPEAR_SECONDS = 2
LEAVE_SECONDS = 5
# What one records, all have within a moment.
MOMENT_SECONDS = 1
# Longer than anything may take: whoever waits so long has found a fault.
PATIENCE_SECONDS = 20


class Crew:
    """Makes laptops with a musterd each."""

    def __init__(self, lab, build_directory):
        self.lab = lab
        self.build_directory = build_directory

    def member(self, name, host_name=None, avahi=True):
        """A laptop whose musterd is not started yet."""
        return CrewMember(self.lab.laptop(name, host_name, avahi=avahi), self.build_directory)

    def second(self, member, name, port):
        """A further musterd on the same laptop."""
        return CrewMember(member.laptop, self.build_directory, name, port)

    def together(self, *names):
        """Laptops with these names, started and connected, each with each."""
        members = [self.member(name).start() for name in names]
        wait_together(members)
        return members


def wait_together(members, deadline_seconds=PATIENCE_SECONDS):
    """Waits until each is connected to each of the others."""
    everybody = sorted(member.name for member in members)
    for member in members:
        others = [name for name in everybody if name != member.name]
        wait_until(lambda: member.connected() == others, deadline_seconds, f"{member.name} is connected to {others}")


def wait_agreed(members, job, deadline_seconds=PATIENCE_SECONDS):
    """Waits until all have the same of a job, and returns its digest."""

    def agreed():
        digests = {member.digest(job) for member in members}
        return digests.pop() if len(digests) == 1 and None not in digests else None

    return wait_until(agreed, deadline_seconds, f"{[member.name for member in members]} agree on '{job}'")


def wait_ready(member):
    wait_until(member.is_ready, PATIENCE_SECONDS, f"the musterd of {member.name} answers")


def names_of(member, job):
    """The names of a job's items, sorted; none while the job is not there."""
    done = member.try_muster("item", "list", job, "--json")
    if done.returncode != 0:
        return []
    return sorted(item["fields"].get("name", "") for item in json.loads(done.stdout))


def wait_item(member, job, name, deadline_seconds=PATIENCE_SECONDS):
    what = f"{member.name} has the item {name}"
    wait_until(lambda: name in names_of(member, job), deadline_seconds, what)


class Load:
    """Adds items through the local API of a musterd, one after the other on several connections, until it is gone.

    `acknowledged` are the ids that came back.
    """

    def __init__(self, member, job, connections=4):
        self.acknowledged = []
        self._path = member.socket
        self._job = job
        self._threads = [threading.Thread(target=self._add, args=(number,)) for number in range(connections)]
        for thread in self._threads:
            thread.start()

    def wait(self):
        """Returns when the daemon has gone away under every connection."""
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
            assert not thread.is_alive(), "a connection of the local API is left open"

    def _add(self, number):
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(self._path)
        count = 0
        try:
            while True:
                count += 1
                body = json.dumps({"fields": {"name": f"box {number}-{count}"}})
                headers = {"Content-Type": "application/json"}
                connection.request("POST", f"/v1/jobs/{self._job}/items", body, headers)
                answer = json.loads(connection.getresponse().read())
                if "id" not in answer:
                    return
                self.acknowledged.append(answer["id"])
                if connection.sock is None:
                    return
        except (OSError, http.client.HTTPException, ValueError):
            return


def ids_of(member, job):
    return {item["id"] for item in member.json("item", "list", job)}
