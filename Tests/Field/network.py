"""The networks of the day: the customer's house, a café next door, and the way to the office.

All of it stands in the network namespace of the test itself, which has nothing but its own loopback when the test begins
(Tests/field makes it). So no frame, and no mDNS, can leave it, and all is gone when the test has ended.
"""

import pathlib
import subprocess
import sys

from lab.programs import run

# In each the router is .254, and no multicast passes from one into another.
SUBNETS = {"house": "10.77.0", "cafe": "10.79.0", "office": "10.78.0"}
RELAY = pathlib.Path(__file__).parent / "relay.py"
LEARNING = pathlib.Path("/proc/sys/net/ipv4")


def ip(*arguments):
    return run(["ip", *arguments])


def has_only_loopback():
    """Whether this is a network namespace of the test's own."""
    return [line.split()[0] for line in ip("-brief", "link").splitlines()] == ["lo"]


class Network:
    def __init__(self):
        if not has_only_loopback():
            raise RuntimeError("this is the machine's own network; start it with Tests/field, which makes another one")
        self._isolated, self._deaf = set(), set()
        self._relays = {}
        ip("link", "set", "lo", "up")
        (LEARNING / "ip_forward").write_text("1")
        for number, (name, subnet) in enumerate(SUBNETS.items(), 1):
            # Carrier comes at once (no spanning tree), and multicast goes to every port (nobody answers IGMP queries here).
            # An address of its own: else it is that of some port, and the router is another one whenever a machine is moved.
            bridge = ["bridge", "forward_delay", "0", "stp_state", "0", "mcast_snooping", "0"]
            ip("link", "add", name, "address", f"02:00:00:00:00:{number:02}", "type", *bridge)
            ip("addr", "add", f"{subnet}.254/24", "dev", name)
            ip("link", "set", name, "up")
        # From the café to the house there is no way, as between the networks of two households.
        for one, other in (("house", "cafe"), ("cafe", "house")):
            ip("rule", "add", "from", f"{SUBNETS[one]}.0/24", "to", f"{SUBNETS[other]}.0/24", "prohibit")

    @staticmethod
    def port(name):
        """The end of a machine's cable that systemd-nspawn makes at our side."""
        return f"vb-{name}"

    def settle(self, name):
        """Gives a machine's new port, after it has booted, what the one before had."""
        for flag, names in (("isolated", self._isolated), ("mcast_flood", self._deaf)):
            if name in names:
                self._set(name, flag, flag == "isolated")

    def cut(self, name):
        """Nothing passes any more, and nobody says goodbye."""
        ip("link", "set", self.port(name), "down")

    def heal(self, name):
        ip("link", "set", self.port(name), "up")

    def plug_in(self, name, place):
        """Elsewhere, as when a laptop takes another Wi-Fi."""
        ip("link", "set", self.port(name), "master", place)
        self.heal(name)

    def isolate(self, names, is_isolated):
        """An access point that lets nobody reach anybody but the router."""
        self._isolated = set(names) if is_isolated else set()
        for name in names:
            self._set(name, "isolated", is_isolated)

    def mute(self, names, is_mute):
        """An access point that passes no multicast on; what is sent to one laptop alone arrives."""
        self._deaf = set(names) if is_mute else set()
        for name in names:
            self._set(name, "mcast_flood", not is_mute)

    def _set(self, name, flag, value):
        run(["bridge", "link", "set", "dev", self.port(name), flag, "on" if value else "off"])

    def impair(self, machine, place, delay_milliseconds, loss_percent, kilobits):
        """A link that is slow and loses packets, both ways: a relay instead of the bridge's port."""
        name = machine.name
        near, far = f"near-{name}", f"far-{name}"
        ip("link", "add", near, "type", "veth", "peer", "name", far)
        (LEARNING / f"conf/{far}/arp_ignore").write_text("8")
        (LEARNING / f"conf/{self.port(name)}/arp_ignore").write_text("8")
        # The relay needs frames as they go over a wire: with checksums, and none larger than a wire takes.
        run([sys.executable, str(RELAY), "--plain", near])
        run(["nsenter", "-t", str(machine.leader), "-n", sys.executable, str(RELAY), "--plain", "host0"])
        ip("link", "set", self.port(name), "nomaster")
        ip("link", "set", near, "master", place)
        ip("link", "set", near, "up")
        ip("link", "set", far, "up")
        flags = ["--delay", str(delay_milliseconds), "--loss", str(loss_percent), "--kilobits", str(kilobits)]
        self._relays[name] = subprocess.Popen(
            [sys.executable, str(RELAY), self.port(name), far, *flags], stdout=subprocess.PIPE, text=True)

    def repair(self, machine, place):
        """Takes the relay away; returns how many frames it has passed on, and how many it has lost."""
        relay = self._relays.pop(machine.name)
        relay.terminate()
        passed, lost = (int(word) for word in relay.communicate(timeout=10)[0].split())
        ip("link", "del", f"near-{machine.name}")
        ip("link", "set", self.port(machine.name), "master", place)
        return passed, lost
