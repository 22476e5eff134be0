"""The fleet of the day: three laptops, the office's server, and what they have in common."""

import glob
import os
import pathlib
from concurrent.futures import ThreadPoolExecutor

from crew import CREW, PATIENCE_SECONDS, Ledger, Member, enrol, wait_agreed, wait_connected
from desk import Desk
from lab.waiting import wait_until
from machine import Machine, report
from network import Network
from root import root

SERVER_PORT = 7480
# Of a job, one after another.
STATES = ["scheduled", "dispatched", "inProgress", "awaitingSignature"]
# Of anna's file system for the daemon's state, which runs full once.
STATE_MEGABYTES = 64


def package(name, directory=None):
    """The one package of that name in MUSTER_PACKAGES, or in another directory."""
    found = glob.glob(f"{directory or os.environ['MUSTER_PACKAGES']}/{name}_*.deb")
    assert len(found) == 1, f"one {name}_*.deb is wanted, and there are {found}"
    return found[0]


def change_settings(machine, changes):
    """In /etc/default/muster, as its comments say: what is not to be set has its # again."""
    file = machine.disk / "etc/default/muster"
    lines = file.read_text().splitlines()
    for name, value in changes.items():
        number = next(number for number, line in enumerate(lines) if line.lstrip("#").startswith(f"{name}="))
        lines[number] = f"{name}={value}" if value else f"#{name}="
    file.write_text("\n".join(lines) + "\n")


class Day:
    """A context manager: machines are there after it has begun, and nothing of it is left after its end."""

    def __enter__(self):
        # Made and removed by Tests/field.
        self.directory = pathlib.Path(os.environ["MUSTER_FIELD_DIRECTORY"])
        self.ledger = Ledger(self.directory / "ledger")
        self.machines = []
        try:
            self.network = Network()
            base = root(os.environ["MUSTER_PACKAGES"])
            self.server = self._machine("server", 10, base, "office")
            self.laptops = [
                self._machine("lea", 1, base, "house"),
                self._machine("anna", 2, base, "house", STATE_MEGABYTES),
                self._machine("ben", 3, base, "house"),
            ]
        except BaseException:
            self.end()
            raise
        self.lea, self.anna, self.ben = self.crew = [Member(laptop, self.ledger) for laptop in self.laptops]
        self.jobs, self.items = [], {}
        return self

    def __exit__(self, *_):
        self.end()

    def _machine(self, name, number, base, place, state_megabytes=None):
        machine = Machine(name, number, base, self.network, self.directory, place, state_megabytes)
        self.machines.append(machine)
        return machine

    def end(self):
        for machine in self.machines:
            machine.end()

    def report(self):
        report(self.machines)

    # The morning

    def install(self):
        """All at once, as on a morning in the office's yard."""

        def one(machine):
            machine.wait_running()
            machine.install(package("muster-channel" if machine is self.server else "muster"))
            if machine is not self.server:
                machine.run(["usermod", "--append", "--groups", "muster", CREW])

        with ThreadPoolExecutor(len(self.machines)) as pool:
            list(pool.map(one, self.machines))

    def configure(self, member, peers=()):
        """What a laptop of this company has besides its package's own settings, and a restart, which takes them."""
        peers = [f"{peer.machine.address}:{peer.machine.port('musterd')}" for peer in peers]
        server = f"https://{self.server.address}:{SERVER_PORT}"
        change_settings(
            member.machine, {"MUSTER_SERVER": server, "MUSTER_SERVER_INTERVAL": 1, "MUSTER_PEERS": ",".join(peers)})
        member.machine.run(["systemctl", "restart", "musterd"])
        member.wait_ready()

    def configure_server(self):
        """As the package leaves it, laptops reach it."""
        assert self.server.port("muster-channel") == SERVER_PORT

    def found(self):
        """Lea begins the fleet."""
        passphrase = self.lea.machine.disk / "srv/crew/passphrase"
        passphrase.write_text("a drawer of its own\n")
        self.lea.muster("fleet", "init", "--root", "/srv/crew/root.pem", "--passphrase-file", "/srv/crew/passphrase")

    def let_in(self, member, role="member"):
        enrol(self.lea, role, lambda code: member.machine.begin(["muster", "fleet", "join", code], user=CREW))

    def let_server_in(self):
        def join(code):
            inviter = f"{self.lea.machine.address}:{self.lea.machine.port('musterd')}"
            database = "/var/lib/muster-channel/channel.sqlite"
            command = ["muster-channel", "fleet", "join", code, "--inviter", inviter, "--database", database]
            return self.server.begin(command, user="muster-channel")

        enrol(self.lea, "server", join)

    def open_desk(self):
        """Somebody at the office, who will look what arrived."""

        def sign(request):
            (self.lea.machine.disk / "var/tmp/desk.request").write_text(request)
            return self.lea.muster("fleet", "sign", "/var/tmp/desk.request", "--role", "office")

        self.desk = Desk(self.directory, f"https://{self.server.address}:{SERVER_PORT}", sign)

    # Work

    def create_job(self, member, name, count=3):
        """A job with a few items, whose barcodes are its name and a number."""
        job = member.json("job", "create", "--name", name)["id"]
        self.items[job] = []
        for number in range(count):
            barcode = f"{name}-{number}"
            member.muster("item", "add", job, f"barcode={barcode}", "name=chair")
            self.items[job].append(barcode)
        self.jobs.append(job)
        return job

    def work(self, members=None, count=3):
        """Each of them, at the same time, in every job."""

        def one(member):
            for job in self.jobs:
                member.work(job, self.items[job], count)

        with ThreadPoolExecutor(len(self.crew)) as pool:
            list(pool.map(one, members or self.crew))

    def meet(self, members=None):
        """Everybody is connected to everybody."""
        members = members or self.crew
        for member in members:
            wait_connected(member, *(other for other in members if other is not member))

    def agree(self, members=None):
        for job in self.jobs:
            wait_agreed(members or self.crew, job)

    def is_connected_anywhere(self, member):
        """Whether somebody of the others says so."""
        return any(member.name in other.connected() for other in self.crew if other is not member)

    def ask(self, member, job):
        """Somebody asks the office for the next state of a job."""
        asked = sum(name == job for name, _ in self.ledger.requests)
        member.muster("job", "advance", job, STATES[asked + 1])
        self.ledger.request(job, STATES[asked + 1])

    def wait_carried_out(self, job):
        """Until the office has done all that was asked for, and everybody has heard of it."""
        state = STATES[sum(name == job for name, _ in self.ledger.requests)]
        for member in self.crew:
            wait_until(
                lambda: member.state(job) == {"published": state, "pending": None}, PATIENCE_SECONDS,
                f"{member.name} shows that the office says {state}")
