"""What is lost can be replaced: the laptop that lets others in, the root's file, its passphrase."""

import os
import re
import subprocess

import pytest
from invitations import invite, let_in, newcomer
from lab import wait_until
from solo import PATIENCE_SECONDS, wait_agreed

RECOVERY_CODE = re.compile(r"^  ([0-9A-Z]{4}(?:-[0-9A-Z]{4}){7})$", re.MULTILINE)


@pytest.fixture
def drawer(solos, tmp_path):
    """A laptop that has begun a fleet, and what then lies in the drawers."""
    return Drawer(newcomer(solos, "anna"), tmp_path)


class Drawer:
    def __init__(self, founder, directory):
        self.founder = founder
        self.root, self._directory = os.path.join(directory, "root.pem"), directory
        self.passphrase = self.file("passphrase", "a drawer of its own")
        said = done(founder, "fleet", "init", "--root", self.root, "--passphrase-file", self.passphrase)
        self.recovery_code = RECOVERY_CODE.search(said).group(1)

    def file(self, name, text):
        path = os.path.join(self._directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        return path

    def make_issuer(self, daemon, root=None, passphrase=None):
        """With the root, on the laptop itself."""
        request = self.file("request", done(daemon, "fleet", "request"))
        pem = done(
            daemon, "fleet", "sign", request, "--role", "lead", "--root", root or self.root, "--passphrase-file",
            passphrase or self.passphrase)
        done(daemon, "fleet", "install", self.file("signed.pem", pem))
        assert daemon.get("/v1/fleet")["isIssuer"]


def done(daemon, *command):
    outcome = daemon.muster(*command)
    assert outcome.returncode == 0, outcome
    return outcome.stdout


def test_the_issuer_is_lost_and_the_root_makes_another(solos, drawer):
    """Whoever the lost one had let in needs a new invitation, and has it from the new one."""
    anna = drawer.founder
    tom = newcomer(solos, "tom", anna.address)
    let_in(anna, tom, invite(anna))
    job = tom.create_job()
    wait_agreed([anna, tom], job)
    lost = anna.get("/v1/fleet")["deviceID"]
    anna.kill()
    lea = newcomer(solos, "lea", tom.address)
    drawer.make_issuer(lea)
    wait_agreed([lea, tom], job)
    done(lea, "fleet", "revoke", lost, "--root", drawer.root, "--passphrase-file", drawer.passphrase, "--yes")
    wait_until(lambda: lea.connected() == [], PATIENCE_SECONDS, "tom was let in by the lost one")
    check = lambda: [check for check in tom.get("/v1/doctor")["checks"] if check["id"] == "fleet"][0]
    wait_until(lambda: check()["outcome"] == "fail", PATIENCE_SECONDS, "tom's doctor says so")
    assert "whoever let this laptop in was revoked" in check()["finding"]
    done(tom, "fleet", "leave", "--yes")
    tom.make("/v1/peers", {"address": lea.address})
    let_in(lea, tom, invite(lea))
    item = tom.add(job, name="after the loss")
    wait_agreed([lea, tom], job)
    assert item in lea.items(job)


@pytest.mark.parametrize("what", ["the file", "the passphrase"])
def test_the_root_is_made_anew_from_paper(solos, drawer, what):
    code, fresh = drawer.file("code", drawer.recovery_code.lower()), os.path.join(os.path.dirname(drawer.root), "2.pem")
    other = drawer.file("other passphrase", "another drawer")
    if what == "the file":
        os.unlink(drawer.root)
    anna = drawer.founder
    said = done(anna, "fleet", "recover", "--root", fresh, "--code-file", code, "--passphrase-file", other)
    assert anna.get("/v1/fleet")["fleetID"] in said
    bert = newcomer(solos, "bert", anna.address)
    drawer.make_issuer(bert, fresh, other)
    job = bert.create_job()
    wait_agreed([anna, bert], job)
    cleo = newcomer(solos, "cleo", anna.address, bert.address)
    let_in(bert, cleo, invite(bert))
    wait_agreed([anna, bert, cleo], job)
    # The new file can shut out as the first one could.
    device = cleo.get("/v1/fleet")["deviceID"]
    done(anna, "fleet", "revoke", device, "--root", fresh, "--passphrase-file", other, "--yes")
    wait_until(lambda: cleo.connected() == [], PATIENCE_SECONDS, "cleo is shut out")
    assert sorted(anna.connected()) == ["bert"]


def test_a_code_with_a_mistake_or_of_another_fleet_makes_no_root(solos, drawer, tmp_path):
    anna = drawer.founder
    wrong = drawer.recovery_code[:-1] + ("0" if drawer.recovery_code[-1] != "0" else "1")
    strange = "0000-0000-0000-0000-0000-0000-0000-0000"
    for code, word in ((wrong, "mistake"), (strange, "take the other paper"), ("7K3M", "32 characters")):
        fresh = str(tmp_path / "none.pem")
        outcome = anna.muster(
            "fleet", "recover", "--root", fresh, "--code-file", drawer.file("code", code), "--passphrase-file",
            drawer.passphrase)
        assert outcome.returncode == 65 and word in outcome.stderr, outcome
        assert not os.path.exists(fresh)


def test_keys_certificates_and_the_root_are_their_owners_alone(solos, tmp_path):
    """Wherever they come to be, also where everybody's new files are open to all."""
    open_to_all = ("sh", "-c", 'umask 0 && exec "$@"', "sh")
    passphrase = tmp_path / "passphrase"
    passphrase.write_text("a drawer of its own\n")

    def begun(name, *flags):
        daemon = solos(name).launch(*flags, prefix=open_to_all)
        wait_until(daemon.answers, PATIENCE_SECONDS, f"{name} answers")
        assert modes(daemon) == {"device.key": 0o600}
        return daemon

    def write(daemon, *command):
        words = daemon.command(*command, "--passphrase-file", str(passphrase))
        done = subprocess.run(words, capture_output=True, text=True, umask=0)
        assert done.returncode == 0, done
        return done.stdout

    anna = begun("anna")
    code = RECOVERY_CODE.search(write(anna, "fleet", "init", "--root", str(tmp_path / "root.pem"))).group(1)
    assert modes(anna) == dict.fromkeys(["device.key", "fleet.pem", "issuer.pem"], 0o600)
    (tmp_path / "code").write_text(code + "\n")
    write(anna, "fleet", "recover", "--root", str(tmp_path / "again.pem"), "--code-file", str(tmp_path / "code"))
    for name in ("root.pem", "again.pem"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600, name
    bert, cleo = (begun(name, "--peer", anna.address) for name in ("bert", "cleo"))
    for daemon in (bert, cleo):
        let_in(anna, daemon, invite(anna))
        assert modes(daemon) == dict.fromkeys(["device.key", "fleet.pem"], 0o600)
    done(anna, "fleet", "revoke", cleo.get("/v1/fleet")["deviceID"], "--yes")
    for daemon in (anna, bert):
        wait_until(lambda: modes(daemon).get("revocations.pem") == 0o600, PATIENCE_SECONDS, f"{modes(daemon)}")
    key = key_of(bert)
    done(bert, "fleet", "leave", "--yes")
    assert key_of(bert) != key and modes(bert)["device.key"] == 0o600, modes(bert)


def modes(daemon):
    """Of what says in the state directory who this laptop is, and who belongs to its fleet."""
    names = [name for name in os.listdir(daemon.state) if name.endswith((".key", ".pem"))]
    return {name: os.stat(os.path.join(daemon.state, name)).st_mode & 0o777 for name in names}


def key_of(daemon):
    with open(os.path.join(daemon.state, "device.key"), "rb") as file:
        return file.read()
