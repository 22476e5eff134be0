"""A machine of the day: a Debian with systemd as its first process, booted by systemd-nspawn."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import uuid

import cgroups
from lab.programs import _die_with_the_lab, run, surroundings
from lab.waiting import wait_until
from network import SUBNETS

BOOT_SECONDS = 15
ADDRESS = """\
[Match]
Name=host0
[Network]
Address={address}/24
Gateway={gateway}
LinkLocalAddressing=no
IPv6AcceptRA=no
"""


class Machine:
    """Its disk is a layer over the common root, so that starting is cheap; it outlives a boot and a power cut.

    With `state_megabytes` /var/lib/muster is a file system of its own of that size, which can run full.
    """

    def __init__(self, name, number, root, network, directory, place="house", state_megabytes=None):
        self.name, self.number, self.network, self.place = name, number, network, place
        self.directory = pathlib.Path(directory) / name
        self.disk = self.directory / "disk"
        self.group = cgroups.Group(f"{self.directory.parent.name}-{name}")
        self.leader = self._nspawn = None
        self.boots = 0
        for part in ("layer", "work", "disk"):
            (self.directory / part).mkdir(parents=True)
        layers = f"lowerdir={root},upperdir={self.directory}/layer,workdir={self.directory}/work"
        run(["mount", "-t", "overlay", "overlay", "-o", layers, str(self.disk)])
        if state_megabytes:
            image = self.directory / "state.img"
            # No blocks are kept back for root: full is full.
            run(["truncate", "--size", f"{state_megabytes}M", str(image)])
            run(["mkfs.ext4", "-q", "-m", "0", str(image)])
            state = self.disk / "var/lib/muster"
            state.mkdir()
            run(["mount", "-o", "loop", str(image), str(state)])
        self._identity = uuid.uuid4()
        (self.disk / "etc/hostname").write_text(f"{name}\n")
        (self.disk / "etc/hosts").write_text(f"127.0.0.1 localhost\n127.0.1.1 {name}\n")
        self._write_address()

    @property
    def address(self):
        return f"{SUBNETS[self.place]}.{self.number}"

    def _write_address(self):
        text = ADDRESS.format(address=self.address, gateway=f"{SUBNETS[self.place]}.254")
        (self.disk / "etc/systemd/network/10-field.network").write_text(text)

    # Power

    def boot(self):
        """Switches it on; `wait_running` waits until it is up."""
        self.group.make()
        self.boots += 1
        command = [
            "systemd-nspawn", "--quiet", f"--directory={self.disk}", f"--machine={self.name}", f"--uuid={self._identity}",
            "--boot", "--register=no", "--keep-unit", "--link-journal=no", "--resolv-conf=off", "--timezone=off",
            f"--network-bridge={self.place}", "--console=pipe",
        ]

        def enter():
            _die_with_the_lab()
            self.group.enter()

        with open(self.directory / f"console-{self.boots}", "wb") as console:
            self._nspawn = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=console, stderr=console, env=surroundings(), preexec_fn=enter)
        self.leader = wait_until(self._first, BOOT_SECONDS, f"{self.name} has its first process")
        # Before anything inside has sent a frame.
        self.network.settle(self.name)
        return self

    def _first(self):
        """The process that is systemd inside; others that nspawn starts before are not for long."""
        assert self._nspawn.poll() is None, f"{self.name} does not start: {self.console()}"
        children = pathlib.Path(f"/proc/{self._nspawn.pid}/task/{self._nspawn.pid}/children").read_text().split()
        for child in children:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                    return int(child)
        return None

    def wait_running(self):
        """Until all units have started, and no unit has failed."""
        states = []

        def is_up():
            assert self._nspawn.poll() is None, f"{self.name} has ended: {self.console()}"
            states.append(self.try_run(["systemctl", "is-system-running"]).stdout.strip())
            return states[-1] in ("running", "degraded")

        wait_until(is_up, BOOT_SECONDS, f"{self.name} is up")
        failed = self.run(["systemctl", "--failed", "--plain", "--no-legend"])
        assert states[-1] == "running", f"{self.name} is {states[-1]}: {failed}"
        return self

    def boot_id(self):
        """Another one after each boot."""
        return self.run(["cat", "/proc/sys/kernel/random/boot_id"]).strip()

    def console(self):
        return (self.directory / f"console-{self.boots}").read_text(errors="replace")[-2000:]

    def power_cut(self):
        """Ends everything in it at once, and nobody says goodbye. Returns how many processes that were."""
        self.network.cut(self.name)
        processes = self.group.processes()
        os.kill(self.leader, signal.SIGKILL)
        self._ended()
        return len(processes)

    def shut_down(self):
        """As its user does it."""
        os.kill(self.leader, signal.SIGRTMIN + 4)
        self._ended()

    def _ended(self):
        self._nspawn.wait(BOOT_SECONDS)
        wait_until(lambda: not self.group.processes(), BOOT_SECONDS, f"nothing of {self.name} runs")
        self.group.remove()
        self.leader = None

    def suspend(self):
        """None of its processes gets the processor, while the clock goes on."""
        # By CLOCK_MONOTONIC, which a true suspend stops and the freezer does not, its daemon would have been dead for long.
        self.run(["systemctl", "service-watchdogs", "no"])
        self.group.freeze(True)

    def resume(self):
        self.group.freeze(False)
        self.run(["systemctl", "service-watchdogs", "yes"])

    def end(self):
        """At the end of the day, however it went."""
        if self._nspawn and self._nspawn.poll() is None:
            self.group.freeze(False)
            for process in (self.leader, self._nspawn.pid):
                if process:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
            self._ended()
        for place in (self.disk / "var/lib/muster", self.disk):
            subprocess.run(["umount", "--lazy", str(place)], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.directory, ignore_errors=True)

    def become_another(self):
        """A machine of another make takes its place, with the same name; it is off."""
        self._identity = uuid.uuid4()
        (self.disk / "etc/machine-id").write_text(f"{self._identity.hex}\n")

    # Programs inside

    def inside(self, command, user=None):
        """The command line that runs a command inside."""
        if user:
            command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--", *command]
        return ["nsenter", "-t", str(self.leader), "-m", "-u", "-i", "-n", "-p", "-r", "-w", "--", *command]

    def try_run(self, command, user=None, **options):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/", "COLUMNS": "200"}
        pipe = subprocess.PIPE
        return subprocess.run(
            self.inside(command, user), stdout=pipe, stderr=pipe, text=True, env=environment, **options)

    def run(self, command, user=None, **options):
        done = self.try_run(command, user, **options)
        if done.returncode != 0:
            said = f"{done.stdout}{done.stderr}"
            raise RuntimeError(f"{' '.join(command)} on {self.name} ended with {done.returncode}: {said}")
        return done.stdout

    def begin(self, command, user=None):
        """Starts a command inside and does not wait for it."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            self.inside(command, user), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"})

    def install(self, *packages):
        """With apt, which finds in the root what they depend on."""
        for package in packages:
            shutil.copy(package, self.disk / "var/tmp")
        names = [f"/var/tmp/{os.path.basename(package)}" for package in packages]
        self.run(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", *names])
        for name in names:
            (self.disk / name[1:]).unlink()

    def main_process(self, unit):
        """The unit's main process, by its id inside; 0 when it does not run."""
        return int(self.run(["systemctl", "show", "--property=MainPID", "--value", unit]))

    def journal(self, unit):
        return self.run(["journalctl", "--no-pager", "-u", unit])

    def version(self, package):
        return self.run(["dpkg-query", "-W", "-f", "${Version}", package])

    # Network

    def move(self, place):
        """Takes it to another network, where it gets another address."""
        self.place = place
        self._write_address()
        self.network.cut(self.name)
        wait_until(lambda: self.addresses() == [], BOOT_SECONDS, f"{self.name} has noticed that its cable is out")
        self.run(["networkctl", "reload"])
        self.run(["networkctl", "reconfigure", "host0"])
        self.network.plug_in(self.name, place)
        route = f"default via {SUBNETS[place]}.254"
        is_there = lambda: self.addresses() == [self.address] and route in self.run(["ip", "route"])
        wait_until(is_there, BOOT_SECONDS, f"{self.name} has its address and its router")

    def addresses(self):
        words = self.run(["ip", "-brief", "-4", "addr", "show", "host0"]).split()
        return [word.split("/")[0] for word in words[2:]]

    def listens(self, program):
        """The port at which a program listens for others than its own machine; None where it does not."""
        lines = self.run(["ss", "--listening", "--tcp", "--numeric", "--no-header", "--processes"]).splitlines()
        places = [line.split()[3] for line in lines if f'"{program}"' in line]
        ports = [place.rpartition(":")[2] for place in places if not place.startswith("127.")]
        return int(ports[0]) if ports else None

    def port(self, program):
        """The same, once it does."""
        return wait_until(lambda: self.listens(program), BOOT_SECONDS, f"{program} of {self.name} listens to the network")

    def pings(self, other):
        """Whether one of two pings comes back."""
        return self.try_run(["ping", "-c", "2", "-i", "0.2", "-W", "1", "-q", other.address]).returncode == 0

    def round_trip_milliseconds(self, other):
        """The shortest of ten pings, of which some come back."""
        said = self.try_run(["ping", "-c", "10", "-i", "0.2", "-W", "2", "-q", other.address]).stdout
        return float(said.rpartition(" = ")[2].split("/")[0])

    def neighbours(self):
        """The services of daemons that avahi knows of now and can resolve, its own among them: see `Member.service`."""
        # Of a service that goes while it is resolved it waits for ever (avahi 0.8).
        browse = "timeout 10 avahi-browse -rpt _muster._tcp || [ $? = 124 ]"
        lines = self.run(["sh", "-c", browse]).splitlines()
        return {line.split(";")[3] for line in lines if line.startswith("=;host0;")}


def report(machines):
    """What the machines said, for somebody who looks for what went wrong."""
    for machine in machines:
        if machine.leader:
            done = machine.try_run(["journalctl", "--no-pager", "-n", "60", "-u", "musterd", "-u", "muster-channel"])
            print(f"--- {machine.name}\n{done.stdout}", file=sys.stderr)
