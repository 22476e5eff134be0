"""Programs of a lab: started as direct children, ended by process id."""

import ctypes
import json
import os
import signal
import subprocess

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
CRASHES = (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV, signal.SIGTRAP)
CRASH_CHARACTERS = 8000


def _die_with_the_lab():
    """Runs in the child: the kernel kills it when the lab is gone, even after `kill -9` of the lab.

    (The signal comes when the *thread* that started the child ends: start programs from a thread that lives on.)
    """
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def surroundings():
    """The environment without what is meant for the tests: a daemon refuses settings that it does not know."""
    return {name: os.environ[name] for name in os.environ if not name.startswith("MUSTER_")}


def run(command, **options):
    """Runs a command to its end; raises with its output when it fails. Returns what it printed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed with {done.returncode}:\n{done.stdout}")
    return done.stdout


class Program:
    """A running program. Its output is in two files; lines of JSON in the first are its events."""

    def __init__(self, name, command, directory, environment=None, stdin=subprocess.DEVNULL):
        self.name = name
        self.output_path = os.path.join(directory, f"{name}.out")
        self.error_path = os.path.join(directory, f"{name}.err")
        with open(self.output_path, "wb") as output, open(self.error_path, "wb") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=output,
                stderr=errors,
                env={**surroundings(), **(environment or {})},
                # A group of its own: control-C at the terminal reaches the lab, and the lab decides.
                start_new_session=True,
                preexec_fn=_die_with_the_lab,
            )

    @property
    def pid(self):
        return self.process.pid

    @property
    def is_running(self):
        return self.process.poll() is None

    def output(self):
        with open(self.output_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def errors(self):
        with open(self.error_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def events(self, kind=None, **fields):
        """The events so far, oldest first: all, or those of one kind whose fields have these values."""
        lines = self.output().split("\n")[:-1]
        events = [json.loads(line) for line in lines if line.startswith("{")]
        return [
            event
            for event in events
            if kind in (None, event.get("event")) and all(event.get(key) == fields[key] for key in fields)
        ]

    def asleep(self):
        """How often each thread has left the processor, when all of them sleep; None when one is awake.

        Two looks that give the same have found a program that did nothing in between.
        """
        threads = f"/proc/{self.pid}/task"
        switches = {}
        try:
            for thread in os.listdir(threads):
                with open(f"{threads}/{thread}/status", encoding="utf-8") as file:
                    status = dict(line.split(":", 1) for line in file if ":" in line)
                if status["State"].split()[0] != "S":
                    return None
                switches[thread] = status["voluntary_ctxt_switches"], status["nonvoluntary_ctxt_switches"]
        except (FileNotFoundError, ProcessLookupError):
            # A thread has ended meanwhile.
            return None
        return switches

    def signal(self, number):
        if self.is_running:
            self.process.send_signal(number)

    def stop(self, deadline_seconds=5):
        """Asks it to end, insists after the deadline, and returns its exit status."""
        self.signal(signal.SIGTERM)
        try:
            status = self.process.wait(deadline_seconds)
        except subprocess.TimeoutExpired:
            return self.kill()
        if -status in CRASHES:
            # What a test would otherwise delete with its directory: the only trace of what is rare.
            print(f"{self.name} crashed with signal {-status}:\n{self.errors()[-CRASH_CHARACTERS:]}")
        return status

    def kill(self):
        """Ends it as a power cut would."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        return self.process.wait()
