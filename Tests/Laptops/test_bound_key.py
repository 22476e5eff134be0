"""The laptop's key bound to its machine (systemd/bind-device-key): what systemd does with it at a start is done here by the same
systemd-creds, with a machine's secret that the test has made."""

import os
import pathlib
import shutil
import subprocess

from lab import is_enrolled, wait_until
from revoking import identifier
from solo import PATIENCE_SECONDS, wait_agreed

BIND = str(pathlib.Path(__file__).parents[2] / "systemd" / "bind-device-key")
NAME = "muster.device-key"


class Machine:
    """A machine's secret, and what systemd keeps encrypted with it."""

    def __init__(self, directory, name):
        self.store = os.path.join(directory, f"{name}-credstore")
        self.bound = os.path.join(self.store, NAME)
        self._secret = os.path.join(directory, f"{name}-secret")
        self._directory = directory
        self._starts = 0

    @property
    def _environment(self):
        return {**os.environ, "SYSTEMD_CREDENTIAL_SECRET": self._secret}

    def bind(self, daemon, path=None):
        environment = {**self._environment, **({"PATH": path} if path else {})}
        key = os.path.join(daemon.state, "device.key")
        done = subprocess.run([BIND, key, self.store, "root"], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done
        return done.stderr

    def start(self, daemon, *flags):
        """As systemd does: first the key is bound, then the daemon gets it in a directory of its own."""
        said = self.bind(daemon)
        self._starts += 1
        credentials = os.path.join(self._directory, f"credentials-{daemon.name}-{self._starts}")
        os.mkdir(credentials, 0o700)
        if os.path.exists(self.bound):
            command = ["systemd-creds", "decrypt", f"--name={NAME}", self.bound, os.path.join(credentials, NAME)]
            subprocess.run(command, env=self._environment, check=True, capture_output=True)
        daemon.launch(*flags, environment={"CREDENTIALS_DIRECTORY": credentials})
        wait_until(daemon.answers, PATIENCE_SECONDS, f"{daemon.name} answers")
        return said


def key_of(daemon):
    return os.path.join(daemon.state, "device.key")


def test_a_bound_key_is_the_laptops_and_a_copy_of_its_directory_is_not(solos):
    machine, other = Machine(solos.directory, "own"), Machine(solos.directory, "other")
    anna, bert = solos("anna").start(), solos("bert").start()
    job = anna.create_job("Smith")
    device = identifier(bert)
    with open(key_of(bert), encoding="utf-8") as file:
        secret = file.read()
    assert bert.stop() == 0
    machine.start(bert, "--peer", anna.address)
    wait_until(lambda: bert.connected() == ["anna"], PATIENCE_SECONDS, "the laptops meet")
    wait_agreed([anna, bert], job)
    assert identifier(bert) == device and not os.path.exists(key_of(bert)), "the key is out of the directory"
    assert os.stat(machine.bound).st_mode & 0o077 == 0
    with open(machine.bound, "rb") as file:
        assert secret.splitlines()[1].encode() not in file.read()
    # Again, as at each start.
    bert.kill()
    assert machine.start(bert, "--peer", anna.address) == ""
    assert identifier(bert) == device and is_enrolled(bert.state)
    bert.kill()

    # Whoever has the directory has no key, with Muster or without.
    thief = solos("thief")
    os.rmdir(thief.state)
    shutil.copytree(bert.state, thief.state, ignore=shutil.ignore_patterns("lock"))
    other.start(thief, "--peer", anna.address)
    assert identifier(thief) != device and not is_enrolled(thief.state)
    thief.kill()
    other.bind(thief)
    assert os.path.exists(other.bound), "this machine has a secret of its own"
    # With what is bound, too: another machine does not open it, says so, and starts.
    shutil.rmtree(thief.state)
    shutil.copytree(bert.state, thief.state, ignore=shutil.ignore_patterns("lock"))
    shutil.rmtree(other.store)
    shutil.copytree(machine.store, other.store)
    said = other.start(thief, "--peer", anna.address)
    assert "bound to another machine" in said and "muster fleet join" in said, said
    assert identifier(thief) != device and os.path.exists(other.bound + ".unreadable")


def test_a_laptop_that_leaves_its_fleet_has_its_new_key_bound(solos):
    machine = Machine(solos.directory, "own")
    anna = solos("anna").start()
    assert anna.stop() == 0
    machine.start(anna)
    former = identifier(anna)
    assert anna.muster("fleet", "leave", "--yes").returncode == 0
    device = identifier(anna)
    assert device != former and os.path.exists(key_of(anna)), "it stands in the directory, and comes before the bound one"
    anna.kill()
    machine.start(anna)
    assert identifier(anna) == device and not os.path.exists(key_of(anna))


def test_a_key_that_cannot_be_bound_stays_where_it_is(solos):
    """Without systemd-creds, on a disk that takes nothing, and where a link stands in its place."""
    machine = Machine(solos.directory, "own")
    anna = solos("anna").start()
    device = identifier(anna)
    assert anna.stop() == 0
    tools = os.path.join(solos.directory, "tools")
    os.mkdir(tools)
    for tool in ("sh", "setpriv", "id", "test", "cat", "cmp", "rm", "mv", "sync", "mkdir", "dirname"):
        os.symlink(shutil.which(tool), os.path.join(tools, tool))
    assert machine.bind(anna, tools) == "" and os.path.exists(key_of(anna))
    # Nothing can be written there.
    with open(machine.store, "w", encoding="utf-8"):
        pass
    said = machine.bind(anna)
    assert "could not be bound" in said and os.path.exists(key_of(anna)), said
    os.remove(machine.store)
    machine.start(anna)
    assert identifier(anna) == device and not os.path.exists(key_of(anna))


def test_a_link_in_the_daemons_directory_leads_root_nowhere(solos):
    """What lies there is opened with the rights of the daemon's user."""
    machine = Machine(solos.directory, "own")
    state = os.path.join(solos.directory, "linked")
    os.mkdir(state)
    os.chmod(solos.directory, 0o755)
    os.chown(state, 65534, 65534)
    secret = os.path.join(solos.directory, "only-roots")
    with open(secret, "w", encoding="utf-8") as file:
        file.write("root's\n")
    os.chmod(secret, 0o600)
    os.symlink(secret, os.path.join(state, "device.key"))
    environment = {**os.environ, "SYSTEMD_CREDENTIAL_SECRET": os.path.join(solos.directory, "own-secret")}
    done = subprocess.run(
        [BIND, os.path.join(state, "device.key"), machine.store, "nobody"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and not os.path.exists(machine.bound), done
    with open(secret, encoding="utf-8") as file:
        assert file.read() == "root's\n"
