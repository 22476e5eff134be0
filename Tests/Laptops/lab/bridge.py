"""The lab: the bridge, the laptops on it, and the end of it all."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from .laptop import Laptop
from .programs import Program, run
from .waiting import wait_until

COMMANDS = ["unshare", "nsenter", "ip", "tc", "dbus-daemon", "dbus-send", "avahi-daemon"]
# Carrier comes at once (no spanning tree), and multicast goes to every port (nobody answers IGMP queries here).
SWITCH = """\
set -e
ip link set lo up
ip link add br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0
ip link set br0 up
echo ready
exec sleep infinity
"""


class Lab:
    """A context manager. However the block ends (an exception, control-C, SIGTERM), every process has ended after it.

    The laptops get 10.77.0.1, .2 and so on. With `keep`, or MUSTER_LAB_KEEP=1 in the environment, the directory with all
    logs stays.
    """

    def __init__(self, keep=False, ipv6=False, ipv4=True):
        self.keep = keep or os.environ.get("MUSTER_LAB_KEEP") == "1"
        self.ipv6 = ipv6
        # Without it the laptops have no IPv4 address but that of their loopback: they get fd77::1, ::2 and so on.
        self.ipv4 = ipv4
        self.laptops = []
        self.directory = None
        self._programs = []
        self._old_handler = None

    @staticmethod
    def missing():
        """What this machine lacks for a lab, as a sentence; empty when it lacks nothing."""
        if os.geteuid() != 0:
            return "A lab needs root, for network namespaces: run it with sudo."
        # Debian keeps some of them where an ordinary PATH does not look.
        os.environ["PATH"] = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
        absent = [command for command in COMMANDS if shutil.which(command) is None]
        if absent:
            packages = os.path.join(os.path.dirname(__file__), "..", "apt-packages.txt")
            return f"A lab needs {', '.join(absent)}: apt install $(cat {os.path.normpath(packages)})."
        return ""

    def __enter__(self):
        missing = Lab.missing()
        if missing:
            raise RuntimeError(missing)
        self.directory = tempfile.mkdtemp(prefix="muster-lab-")
        # A system bus may run under a user of its own, who must get here too.
        os.chmod(self.directory, 0o755)
        if threading.current_thread() is threading.main_thread():
            # SIGTERM ends the block like control-C does, through an exception.
            self._old_handler = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        try:
            command = ["unshare", "--net", "sh", "-c", SWITCH]
            self._switch = self.own(Program("switch", command, self.directory))
            ready = lambda: "ready" in self._switch.output() or not self._switch.is_running
            wait_until(ready, 10, "the bridge is there")
            if not self._switch.is_running:
                raise RuntimeError(f"the bridge could not be made: {self._switch.errors()}")
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def laptop(self, name, host_name=None, address=None, avahi=True):
        """Adds a laptop. Two may have one host name, as two laptops of one image do.

        Without `avahi` neither system bus nor avahi-daemon runs in it until `start_avahi`.
        """
        number = len(self.laptops) + 1
        address = address or (f"10.77.0.{number}" if self.ipv4 else f"fd77::{number:x}")
        laptop = Laptop(self, name, host_name or name, address, f"port{number}", avahi)
        self.laptops.append(laptop)
        return laptop

    def own(self, program):
        """Notes a program, so that it is ended with the lab."""
        self._programs.append(program)
        return program

    def switch(self, *command):
        """Runs a command where the bridge is."""
        return run(["nsenter", "-t", str(self._switch.pid), "-n", "--", *command])

    def can_impair(self):
        """Whether this kernel knows delay and loss (sch_netem; some machines' kernels come without)."""
        rule = ["tc", "qdisc", "replace", "dev", "br0", "root", "netem", "delay", "0ms"]
        command = ["nsenter", "-t", str(self._switch.pid), "-n", "--", *rule]
        if subprocess.run(command, capture_output=True).returncode != 0:
            return False
        self.switch("tc", "qdisc", "del", "dev", "br0", "root")
        return True

    def plug_in(self, laptop):
        """A cable from the bridge to the laptop's eth0."""
        pid = str(laptop.holder.pid)
        self.switch("ip", "link", "add", laptop.port, "type", "veth", "peer", "name", "eth0", "netns", pid)
        self.switch("ip", "link", "set", laptop.port, "master", "br0")
        self.switch("ip", "link", "set", laptop.port, "up")

    def end(self):
        """Ends every process, newest first: politely, then not. The kernel takes namespaces and links away after that."""
        holders = [laptop.holder for laptop in self.laptops]
        workers = [program for program in reversed(self._programs) if program not in holders]
        for program in workers:
            program.signal(signal.SIGCONT)
            program.signal(signal.SIGTERM)
        for program in workers:
            program.stop(deadline_seconds=3)
        for program in self._programs:
            program.kill()
        self._programs = []
        if self._old_handler is not None:
            signal.signal(signal.SIGTERM, self._old_handler)
            self._old_handler = None
        if self.keep:
            print(f"the lab's logs are in {self.directory}", file=sys.stderr)
        elif self.directory:
            shutil.rmtree(self.directory, ignore_errors=True)
