"""A crew of daemons on one network, each in a namespace of its own: what the measures of several laptops share."""

import time

from .lab import LabError
from .network import Namespaces, ip


class Bridge(Namespaces):
    """A bridge in a namespace of its own and a namespace per laptop."""

    def __init__(self, count):
        super().__init__("localhost")
        self.count = count

    def build(self):
        switch = self.namespace("sw")
        ip("-n", switch, "link", "add", "br0", "type", "bridge")
        ip("-n", switch, "link", "set", "br0", "up")
        for index in range(self.count):
            laptop = self.namespace(str(index))
            ip("-n", switch, "link", "add", f"p{index}", "type", "veth", "peer", "name", "eth0", "netns", laptop)
            ip("-n", switch, "link", "set", f"p{index}", "master", "br0", "up")
            ip("-n", laptop, "address", "add", f"{self.address(index)}/24", "dev", "eth0")
            ip("-n", laptop, "link", "set", "lo", "up")
            ip("-n", laptop, "link", "set", "eth0", "up")

    def address(self, index):
        return f"10.77.0.{index + 1}"


def start(lab, bridge, count, known=lambda earlier: earlier):
    """Each knows all earlier ones, as discovery would tell it, or those that `known` picks of them."""
    crew = []
    for index in range(count):
        extra = []
        for earlier in known(crew):
            extra += ["--peer", earlier.address]
        daemon = lab.daemon(
            f"crew{index}", listen=f"{bridge.address(index)}:7470", prefix=bridge.inside(index), extra=extra)
        daemon.start()
        crew.append(daemon)
    return crew


def await_everywhere(crew, job):
    goal = crew[0].vector(job)
    deadline = time.monotonic() + 30
    for daemon in crew:
        while True:
            if any(one["id"] == job for one in daemon.ask("GET", "/v1/jobs")) and daemon.vector(job) == goal:
                break
            if time.monotonic() > deadline:
                raise LabError("not every laptop of the crew got the job within 30 s")
            time.sleep(0.05)


def require_equal(crew, job):
    if len({daemon.ask("GET", f"/v1/jobs/{job}")["digest"] for daemon in crew}) != 1:
        raise ValueError("the laptops of the crew hold different bytes in the end")


def received(crew):
    """Transforms that came to all of them together."""
    counts = [peer.get("transformsReceived") for daemon in crew for peer in daemon.peers()]
    if None in counts:
        raise LabError("the daemons do not count transformsReceived per peer")
    return sum(counts)
