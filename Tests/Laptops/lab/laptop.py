"""One laptop of a lab."""

import os
import signal
import subprocess

from .programs import Program, run
from .waiting import wait_until

AVAHI_CONFIGURATION = """\
[server]
host-name={host_name}
domain-name=local
use-ipv4={use_ipv4}
use-ipv6={use_ipv6}
enable-dbus=yes
ratelimit-interval-usec=1000000
ratelimit-burst=1000
[wide-area]
enable-wide-area=no
[publish]
publish-workstation=no
publish-hinfo=no
publish-addresses={publishes_addresses}
"""

# Debian's own system bus, except that it stays root: one that changes its user would outlive a lab that is killed.
BUS_CONFIGURATION = """\
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <include>/usr/share/dbus-1/system.conf</include>
  <user>root</user>
</busconfig>
"""

# What the first process inside does: a private /run, so that bus and avahi of this laptop meet nobody else's.
HOLD = """\
set -e
hostname "$1"
mount -t tmpfs tmpfs /run
mkdir -p /run/dbus /run/avahi-daemon
# As systemd sets it: a new address survives when the old one of its network goes.
echo 1 > /proc/sys/net/ipv4/conf/all/promote_secondaries
ip link set lo up
echo ready
exec sleep infinity
"""


class Laptop:
    """A laptop: a host name, an interface `eth0` with an IPv4 address, a system bus, an avahi-daemon.

    Made by `Lab.laptop`. `directory` is on the machine's own disk, outside the laptop's private /run: state directories
    and Unix sockets under it can be reached from inside and from outside.
    """

    def __init__(self, lab, name, host_name, address, port, avahi=True):
        self.lab = lab
        self.name = name
        self.host_name = host_name
        self.address = address
        self.port = port
        self.directory = os.path.join(lab.directory, name)
        self.programs = []
        self.bus = None
        self.avahi = None
        os.makedirs(self.directory)
        hold = ["unshare", "--net", "--mount", "--uts", "--propagation", "private", "sh", "-c", HOLD, "sh", host_name]
        self.holder = lab.own(Program("holder", hold, self.directory))
        wait_until(lambda: "ready" in self.holder.output() or not self.holder.is_running, 10, f"{name} has its namespaces")
        if not self.holder.is_running:
            raise RuntimeError(f"laptop {name} could not be made (are you root?): {self.holder.errors()}")
        lab.plug_in(self)
        if lab.ipv4:
            self.ip("addr", "add", f"{address}/24", "dev", "eth0")
        else:
            # Nobody else has it: it can be used at once (ip-address(8), ip-sysctl: accept_dad).
            self.run(["sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad"])
            self.ip("addr", "add", f"{address}/64", "dev", "eth0", "nodad")
        self.ip("link", "set", "eth0", "up")
        if avahi:
            self.start_avahi()

    # Programs

    def inside(self, command):
        """The command line that runs a command inside this laptop (nsenter becomes the command: same process id)."""
        return ["nsenter", "-t", str(self.holder.pid), "-n", "-m", "-u", "--", *command]

    def run(self, command, **options):
        """Runs a command inside to its end and returns what it printed."""
        return run(self.inside(command), **options)

    def start(self, command, name=None, environment=None, stdin=subprocess.DEVNULL):
        """Starts a program inside. Its output goes to files in the laptop's directory."""
        name = name or os.path.basename(command[0])
        name = f"{name}-{len(self.programs)}"
        program = self.lab.own(Program(name, self.inside(command), self.directory, environment, stdin))
        self.programs.append(program)
        return program

    # Avahi

    def start_avahi(self, publishes_addresses=True):
        """Starts the system bus if it does not run, and avahi-daemon; returns when avahi has joined the bus.

        Without `publishes_addresses` it does not tell the laptop's host name and where that is.
        """
        if self.bus is None or not self.bus.is_running:
            configuration = self._write("bus.conf", BUS_CONFIGURATION)
            self.bus = self.start(["dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile"])
            wait_until(self._bus_answers, 10, f"the system bus of {self.name} answers")
        use_ipv6 = "yes" if self.lab.ipv6 else "no"
        use_ipv4 = "yes" if self.lab.ipv4 else "no"
        text = AVAHI_CONFIGURATION.format(
            host_name=self.host_name, use_ipv4=use_ipv4, use_ipv6=use_ipv6,
            publishes_addresses="yes" if publishes_addresses else "no")
        configuration = self._write("avahi-daemon.conf", text)
        daemon = ["avahi-daemon", "-f", configuration, "--no-drop-root", "--no-chroot", "--no-rlimits"]
        self.avahi = self.start(daemon)
        wait_until(self._avahi_answers, 10, f"avahi-daemon of {self.name} has joined the bus")

    def avahi_has_its_name(self):
        """Whether avahi has found out that nobody else on the network has its host name, or has taken another."""
        return "Server startup complete" in self.avahi.errors()

    def stop_avahi(self):
        """Stops avahi-daemon as the administrator would: it takes its records back."""
        self.avahi.stop()

    def kill_avahi(self):
        """Ends avahi-daemon without a goodbye."""
        self.avahi.kill()
        pid_file = "/run/avahi-daemon/pid"
        self.run(["rm", "-f", pid_file])

    def restart_avahi(self):
        self.stop_avahi()
        self.start_avahi()

    def stop_bus(self):
        """Stops the system bus; avahi-daemon mostly ends with it."""
        self.bus.stop()

    def _write(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def _bus_answers(self):
        return self._call_bus("org.freedesktop.DBus.GetId") is not None

    def _avahi_answers(self):
        answer = self._call_bus("org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.Avahi")
        return answer is not None and "boolean true" in answer

    def _call_bus(self, method, *arguments):
        command = ["dbus-send", "--system", "--print-reply", "--dest=org.freedesktop.DBus", "/", method, *arguments]
        done = subprocess.run(self.inside(command), capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else None

    # Network

    def ip(self, *arguments):
        """`ip …` inside."""
        return self.run(["ip", *arguments])

    def cut(self):
        """Pulls the cable: nothing passes, and nobody says goodbye."""
        self.lab.switch("ip", "link", "set", self.port, "down")

    def heal(self):
        """Plugs the cable in again."""
        self.lab.switch("ip", "link", "set", self.port, "up")

    def interface_down(self):
        """Takes the interface down in the laptop itself, as a suspend or airplane mode does."""
        self.ip("link", "set", "eth0", "down")

    def interface_up(self):
        self.ip("link", "set", "eth0", "up")

    def change_address(self, address):
        """Gives the interface another IPv4 address, as a new DHCP lease does."""
        self.ip("addr", "add", f"{address}/24", "dev", "eth0")
        self.ip("addr", "del", f"{self.address}/24", "dev", "eth0")
        self.address = address

    def impair(self, delay_milliseconds=0, jitter_milliseconds=0, loss_percent=0.0):
        """Delay and loss, in each direction. Needs a kernel with netem, see `Lab.can_impair`."""
        rule = ["netem", "delay", f"{delay_milliseconds}ms", f"{jitter_milliseconds}ms", "loss", f"{loss_percent}%"]
        self.run(["tc", "qdisc", "replace", "dev", "eth0", "root", *rule])
        self.lab.switch("tc", "qdisc", "replace", "dev", self.port, "root", *rule)

    def repair(self):
        """Takes delay and loss away."""
        self.run(["tc", "qdisc", "del", "dev", "eth0", "root"])
        self.lab.switch("tc", "qdisc", "del", "dev", self.port, "root")

    def power_cut(self):
        """Ends everything in this laptop at once, without a goodbye."""
        self.cut()
        for program in reversed(self.programs):
            program.signal(signal.SIGKILL)
        for program in self.programs:
            program.process.wait()
