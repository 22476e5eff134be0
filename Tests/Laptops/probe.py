"""discovery-probe and the two witnesses, as the tests use them."""

import os
import time

from lab import wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
APPEAR_SECONDS = 2
GO_SECONDS = 5
# Longer than anything may take: whoever waits so long has found a fault.
PATIENCE_SECONDS = 15


class Probes:
    """Starts probes and witnesses in laptops."""

    def __init__(self, build_directory):
        self.path = os.path.join(build_directory, "discovery-probe")
        assert os.path.exists(self.path), f"{self.path} is missing: swift build --product discovery-probe"

    def start(self, laptop, name=None, port=7447, id=None, fleet="f1"):
        """Announces and browses in this laptop. The id is made from the laptop's name unless given."""
        id = id or f"id-{laptop.name}"
        return laptop.start([self.path, name or laptop.host_name, str(port), id, fleet])

    def witness(self, laptop):
        """Python's zeroconf watches from this laptop."""
        command = ["/usr/bin/python3", os.path.join(HERE, "witness.py"), laptop.address]
        return laptop.start(command, name="witness")


def eavesdropper(laptop):
    """Writes down what this laptop hears of mDNS, from now on."""
    program = laptop.start(["/usr/bin/python3", os.path.join(HERE, "eavesdropper.py"), laptop.address], name="eavesdropper")
    wait_until(lambda: program.events("listens"), PATIENCE_SECONDS, f"{laptop.name} listens")
    return program


def browsed(laptop, *what):
    """What avahi-browse has printed within ten seconds. Of a service that goes while it is resolved it waits for ever (avahi 0.8)."""
    script = 'timeout 10 avahi-browse --resolve --terminate --parsable --no-db-lookup "$@" || [ $? = 124 ]'
    return laptop.run(["sh", "-c", script, "sh", *what])


def avahi_browse(laptop):
    """What avahi-browse sees now, resolved, from its parsable output:
    `=;interface;protocol;name;type;domain;host;address;port;txt`."""
    services = []
    for line in browsed(laptop, "_muster._tcp").splitlines():
        fields = line.split(";")
        if fields[0] != "=":
            continue
        txt = dict(entry.strip('"').split("=", 1) for entry in fields[9].split(" "))
        services.append(
            {
                "name": unescaped(fields[3]),
                "host": fields[6],
                "address": fields[7],
                "port": int(fields[8]),
                "txt": txt,
            }
        )
    return services


def unescaped(name):
    """avahi-browse writes other characters as a backslash and three decimal digits."""
    result, position = bytearray(), 0
    while position < len(name):
        if name[position] == "\\" and name[position + 1 : position + 4].isdigit():
            result.append(int(name[position + 1 : position + 4]))
            position += 4
        else:
            result += name[position].encode()
            position += 1
    return result.decode()


def now_found(probe):
    """The services that a probe holds for present: those found and not yet lost, by instance name."""
    present = {}
    for event in probe.events():
        if event["event"] == "found":
            present[event["name"]] = event
        elif event["event"] == "lost":
            present.pop(event["name"], None)
    return present


def wait_at_rest(probe):
    """Waits until a probe does nothing, by the voluntary context switches of all its threads, while nothing happens on the network.

    One a second belongs to the dispatch library, which every Swift program on Linux runs on.
    """
    wait_until(lambda: wake_ups_during(probe, 2) <= 3, PATIENCE_SECONDS * 2, f"{probe.name} is at rest")
    assert wake_ups_during(probe, 5) <= 6


def wake_ups_during(probe, seconds):
    before = context_switches(probe.pid)
    time.sleep(seconds)  # Sleeps: wake-ups are counted per time.
    return context_switches(probe.pid) - before


def context_switches(pid):
    """Voluntary ones of all threads so far."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/status", encoding="utf-8") as file:
            total += sum(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))
    return total
