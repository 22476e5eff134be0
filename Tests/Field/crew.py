"""The people of the day: what each does at a laptop, and the ledger of what they were told is kept."""

import json
import random
import re
import threading

from lab.answers import Answers
from lab.waiting import wait_until

CODE = re.compile(r"\b([0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4})\b")
PATIENCE_SECONDS = 60
CREW = "crew"


class Ledger:
    """Every edit that `muster` has acknowledged with exit 0, and every one that was tried; in a file outside of the machines."""

    def __init__(self, path):
        self._file = open(path, "a", encoding="utf-8", buffering=1)
        self._lock = threading.Lock()
        self.acknowledged, self.tried, self.requests = set(), set(), []

    def note(self, is_acknowledged, job, text):
        with self._lock:
            (self.acknowledged if is_acknowledged else self.tried).add((job, text))
            self._file.write(json.dumps([is_acknowledged, job, text]) + "\n")

    def request(self, job, state):
        with self._lock:
            self.requests.append((job, state))
            self._file.write(json.dumps(["request", job, state]) + "\n")

    def of(self, job):
        """Acknowledged remarks of a job, and all that anybody has tried to write."""
        acknowledged = {text for name, text in self.acknowledged if name == job}
        return acknowledged, acknowledged | {text for name, text in self.tried if name == job}


class Member(Answers):
    """One person at one laptop, who is in the group of the daemon's socket and no administrator."""

    def __init__(self, machine, ledger):
        self.machine, self.name, self.ledger = machine, machine.name, ledger
        self._count = 0
        self._writer = None
        self._random = random.Random(machine.name)

    # The command

    def try_muster(self, *arguments):
        return self.machine.try_run(["muster", *arguments], user=CREW)

    def muster(self, *arguments):
        return self.machine.run(["muster", *arguments], user=CREW)

    def json(self, *arguments):
        return json.loads(self.muster(*arguments, "--json"))

    @property
    def service(self):
        """The name under which its daemon is announced."""
        return f"muster-{self.json('status')['deviceID'][:8]}"

    def answers(self):
        return self.try_muster("status").returncode == 0

    def wait_ready(self):
        wait_until(self.answers, PATIENCE_SECONDS, f"the daemon of {self.name} answers")
        return self

    def state(self, job):
        """What the office has said of the job, and what it is asked for."""
        done = self.try_muster("job", "show", job, "--json")
        return json.loads(done.stdout)["state"] if done.returncode == 0 else None

    def export(self, job):
        return self.muster("job", "export", job)

    # Work

    def remark(self, job, item):
        """Writes one remark; raises when it is not acknowledged."""
        self._count += 1
        text = f"{self.name} {self._count}"
        self.ledger.note(False, job, text)
        self.muster("item", "note", job, item, text)
        self.ledger.note(True, job, text)
        return text

    def work(self, job, items, count):
        for _ in range(count):
            self.remark(job, self._random.choice(items))

    # Work without end, until the power goes

    def begin_writing(self, job, items):
        """Writes one remark after another inside the machine, and tells each that was acknowledged."""
        self._count += 1
        label = f"{self.name} {self._count}"
        script = (
            'n=0; while :; do n=$((n + 1)); echo "try $1 $n"; '
            'muster item note "$2" "$3" "$1 $n" >/dev/null || exit; echo "done $1 $n"; done')
        process = self.machine.begin(["sh", "-c", script, "sh", label, job, self._random.choice(items)], user=CREW)
        self._writer = Writer(process, lambda is_done, text: self.ledger.note(is_done, job, text))
        return self._writer


class Writer:
    """Remarks that are written inside a machine, read outside."""

    def __init__(self, process, note):
        self.process, self.count, self.tried = process, 0, 0
        self._note = note
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            word, _, text = line.rstrip("\n").partition(" ")
            if not line.endswith("\n"):
                return
            self._note(word == "done", text)
            self.count += word == "done"
            self.tried += word == "try"

    def wait_for(self, count):
        wait_until(lambda: self.count >= count or self.process.poll() is not None, PATIENCE_SECONDS, "remarks are written")
        assert self.process.poll() is None, f"the writer has ended: {self.process.stderr.read()}"

    def stop(self):
        """While its machine runs; what is under way may or may not be done."""
        self.process.terminate()
        self.end()

    def end(self):
        """After its machine has gone. Returns how many remarks were acknowledged."""
        self.process.wait(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)
        return self.count


def enrol(inviter, role, join):
    """By a code: `join` takes it, starts the command that joins, and returns its process."""
    inviting = inviter.machine.begin(["muster", "fleet", "invite", "--role", role, "--yes"], user=CREW)
    printed = ""
    while not CODE.search(printed):
        line = inviting.stdout.readline()
        assert line, f"the invitation has ended: {printed}{inviting.communicate()}"
        printed += line
    joining = join(CODE.search(printed)[1])
    for process in (joining, inviting):
        output, errors = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0, f"{process.args} ended with {process.returncode}: {output}{errors}"


def wait_agreed(members, job):
    """Until all hold the same of a job."""

    def agreed():
        digests = {member.digest(job) for member in members}
        return len(digests) == 1 and None not in digests

    names = ", ".join(member.name for member in members)
    wait_until(agreed, PATIENCE_SECONDS, f"{names} hold the same of {job}")


def wait_connected(member, *others):
    names = sorted(other.name for other in others)
    wait_until(lambda: member.connected() == names, PATIENCE_SECONDS, f"{member.name} is connected to {names} and nobody else")
