"""A musterd on the machine's own loopback, without a laptop around it: for tests of the store and of hostile peers."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile

from authors import has_signed
from lab import Program, ask, free_port, is_enrolled, shared_fleet, wait_until

PATIENCE_SECONDS = 20


class Solo:
    """One musterd with its state directory and its socket, started and ended as often as one likes."""

    def __init__(self, directory, build_directory, name, state=None):
        self.name = name
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.state = state or os.path.join(directory, f"{name}-state")
        self.socket = os.path.join(directory, f"{name}.sock")
        self.program = None
        self._directory = directory
        self._build_directory = build_directory
        self._starts = 0
        os.makedirs(self.state, exist_ok=True)

    @property
    def store(self):
        return os.path.join(self.state, "muster.sqlite")

    def launch(self, *flags, prefix=(), environment=None):
        """Starts it and returns itself at once. Its settings come from the environment, as from a unit file."""
        settings = {
            "MUSTER_STATE_DIR": self.state,
            "MUSTER_SOCKET": self.socket,
            "MUSTER_LISTEN": self.address,
            "MUSTER_DISCOVERY": "false",
            "MUSTER_HOST_NAME": self.name,
        }
        command = [*prefix, os.path.join(self._build_directory, "musterd"), *flags]
        self._starts += 1
        name = f"{self.name}-{self._starts}"
        self.program = Program(name, command, self._directory, {**settings, **(environment or {})})
        return self

    def start(self, *flags, prefix=(), environment=None):
        """Starts it and returns itself when it answers and is in the fleet."""
        self.launch(*flags, prefix=prefix, environment=environment)
        wait_until(self.answers, PATIENCE_SECONDS, f"{self.name} answers")
        if not self.is_enrolled:
            self.enrol()
        return self

    @property
    def is_enrolled(self):
        return is_enrolled(self.state)

    @property
    def fleet(self):
        return shared_fleet(self._build_directory)

    def enrol(self):
        """Lets it into the fleet; it runs."""
        self.fleet.enrol(self.socket)

    def answers(self):
        assert self.program.is_running, f"{self.name} has ended: {self.log()}"
        try:
            return self.ask("GET", "/v1/status")[0] == 200
        except OSError:
            return False

    def ask(self, method, path, body=None):
        """One request on a connection of its own."""
        return ask(self.socket, method, path, body)

    def get(self, path):
        status, answer = self.ask("GET", path)
        assert status == 200, f"GET {path} on {self.name} gave {status}: {answer}"
        return answer

    def make(self, path, body):
        """POST that has to succeed."""
        status, answer = self.ask("POST", path, body)
        assert status in (200, 201, 202), f"POST {path} on {self.name} gave {status}: {answer}"
        return answer

    def create_job(self, name="Home"):
        return self.make("/v1/jobs", {"name": name, "kind": "inventory"})["id"]

    def add(self, job, **fields):
        return self.make(f"/v1/jobs/{job}/items", {"fields": fields})["id"]

    def items(self, job):
        """The items of a job by their ids; none while the job is not there."""
        status, items = self.ask("GET", f"/v1/jobs/{job}/items")
        return {item["id"]: item for item in items} if status == 200 else {}

    def vector(self, job):
        status, answer = self.ask("GET", f"/v1/jobs/{job}")
        return answer["vector"] if status == 200 else None

    def digest(self, job):
        status, answer = self.ask("GET", f"/v1/jobs/{job}")
        return answer["digest"] if status == 200 else None

    def replica(self):
        return self.get("/v1/status")["replicaID"]

    def connected(self):
        return sorted(peer["name"] for peer in self.get("/v1/peers") if peer["state"] == "connected")

    def muster(self, *arguments):
        """Runs `muster …` to its end, whatever comes of it, as a person sees it at a terminal of 80 columns."""
        return subprocess.run(
            self.command(*arguments), capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"})

    def command(self, *arguments):
        """The words of `muster …` for this daemon."""
        return [os.path.join(self._build_directory, "muster"), *arguments, "--socket", self.socket]

    def memory_bytes(self):
        """What is resident of the process."""
        with open(f"/proc/{self.program.pid}/statm", encoding="utf-8") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def processor_seconds(self):
        with open(f"/proc/{self.program.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def log(self):
        """What the daemon has said since it was started."""
        return self.program.errors() + self.program.output()

    def stop(self):
        return self.program.stop(PATIENCE_SECONDS)

    def kill(self):
        return self.program.kill()


class Solos:
    """A context manager: the daemons made by it are ended after it."""

    def __init__(self, build_directory):
        self.directory = tempfile.mkdtemp(prefix="muster-solo-")
        self._build_directory = build_directory
        self.all = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for daemon in self.all:
            if daemon.program:
                daemon.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __call__(self, name, state=None):
        daemon = Solo(self.directory, self._build_directory, name, state)
        self.all.append(daemon)
        return daemon

    @property
    def fleet(self):
        return shared_fleet(self._build_directory)


def wait_agreed(daemons, job, deadline_seconds=PATIENCE_SECONDS):
    """Waits until all have the same of a job, and returns its digest."""

    def agreed():
        digests = {daemon.digest(job) for daemon in daemons}
        return digests.pop() if len(digests) == 1 and None not in digests else None

    return wait_until(agreed, deadline_seconds, f"{[daemon.name for daemon in daemons]} agree")


def journals(daemon):
    """Checks the store of a daemon that does not run, on a copy: the file is sound, every journal is whole and its
    author has signed it. Returns {(job number, replica): (sequence, digest)}."""
    with tempfile.TemporaryDirectory(prefix="muster-copy-") as directory:
        for suffix in ("", "-wal"):
            if os.path.exists(daemon.store + suffix):
                shutil.copy(daemon.store + suffix, os.path.join(directory, "copy" + suffix))
        database = sqlite3.connect(os.path.join(directory, "copy"))
        try:
            sound = database.execute("PRAGMA integrity_check").fetchall()
            assert sound == [("ok",)], sound
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'journal'").fetchall():
                return {}
            rows = database.execute("SELECT job, replica, sequence, digest FROM journal").fetchall()
            heads = {(job, bytes(replica).hex()): (sequence, digest) for job, replica, sequence, digest in rows}
            # Of a removed job only what lies beyond the removal is left; the rest waits under a number that is no job's.
            removals = database.execute("SELECT job, replica, sequence, digest FROM removal").fetchall()
            ends = {(job, bytes(replica).hex()): (sequence, digest) for job, replica, sequence, digest in removals}
            reached = {name: end for name, end in ends.items() if name in heads}
            assert reached.keys() == ends.keys(), "what was removed is known to be held"
            stray = """SELECT job FROM segment
                WHERE job NOT IN (SELECT number FROM job) AND job NOT IN (SELECT number FROM garbage)"""
            assert database.execute(stray).fetchall() == [], "what no job has waits to be freed"
            query = """SELECT job, replica, first, last, digest, signature,
                    (SELECT id FROM job WHERE number = segment.job),
                    (SELECT key FROM author WHERE replica = segment.replica)
                FROM segment WHERE job IN (SELECT number FROM job) ORDER BY job, replica, last"""
            signed, servers = {}, [key for (key,) in database.execute("SELECT key FROM author WHERE nonce = x''")]
            for job, replica, first, last, digest, signature, id, key in database.execute(query):
                name = (job, bytes(replica).hex())
                before = reached.get(name, (0, 0))[0]
                assert first == before + 1, f"a segment of {name} begins with {first} after {before}"
                reached[name] = (last, digest)
                said = (signature, id, replica, last, digest)
                signed[name] = any(has_signed(one, *said) for one in ([key] if any(replica) else servers))
            assert all(signed.values()), "what each journal ends with is signed"
            assert reached == heads, "journals end where their last segment ends"
            return heads
        finally:
            database.close()


def rows_left(database):
    """What is stored under numbers that no job has any more: it waits to be freed."""
    count = lambda table: f"(SELECT count(*) FROM {table} WHERE job NOT IN (SELECT number FROM job))"
    query = f"SELECT {count('item')} + {count('segment')} + {count('barcode')} + (SELECT count(*) FROM garbage)"
    return database.execute(query).fetchone()[0]


def is_freed(daemon):
    with contextlib.closing(sqlite3.connect(f"file:{daemon.store}?mode=ro", uri=True)) as database:
        return rows_left(database) == 0
