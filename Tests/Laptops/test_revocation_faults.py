"""Disks that are full or damaged, laptops that part and meet: everybody knows the same of who was shut out."""

import os
import shutil

import pytest
from invitations import anna, newcomer
from lab import wait_until
from revoking import (
    CONFIGURATION,
    CUT_OFF_SECONDS,
    NOT_ALLOWED,
    Crew,
    as_signer,
    certify,
    crew,
    enlist,
    entries,
    identifier,
    kept,
    log_path,
    member_of,
    pem,
    revoke,
    revoked,
    root,
    wait_kept_alike,
    wait_revoked,
)
from solo import PATIENCE_SECONDS, wait_agreed
from test_full_disk import SmallDisk

# Where they stand in an entry.
TIME, SIGNATURE = slice(33, 41), slice(41, 105)

DAMAGES = {
    "cut off in the middle": lambda text: text[: len(text) // 2],
    "cut off before its last line": lambda text: text.rpartition("-----END")[0],
    "without a line": lambda text: "\n".join(text.split("\n")[:3] + text.split("\n")[4:]),
    "empty": lambda text: "",
    "zeros": lambda text: "\0" * len(text),
    "garbage": lambda text: "garbage\n" * 40,
    "garbage for its first letter": lambda text: "#" + text[1:],
    "something else": lambda text: text.replace("MUSTER REVOCATION", "CERTIFICATE"),
}


@pytest.fixture
def informed(crew):
    """A crew of which everybody knows that bert was revoked; cleo does not run."""
    crew.device = identifier(crew.bert)
    revoke(crew.anna, "bert")
    wait_revoked(crew.cleo, crew.device)
    wait_kept_alike(crew.anna, crew.cleo)
    return crew


def test_without_what_it_knew_a_laptop_does_not_start(informed):
    cleo = informed.cleo
    sound = kept(cleo)
    assert cleo.stop() == 0
    started = []
    for what, damage in DAMAGES.items():
        write(cleo, damage(sound.decode()))
        assert kept(cleo) != sound, what
        cleo.launch("--peer", informed.anna.address)
        ended = lambda: not cleo.program.is_running
        wait_until(lambda: ended() or cleo.answers(), PATIENCE_SECONDS, "it starts or ends")
        if ended():
            assert cleo.program.process.returncode == CONFIGURATION, (what, cleo.log())
            assert "revocations.pem cannot be read; put it back from another laptop of the fleet." in cleo.log(), what
        else:
            started.append(what)
            cleo.kill()
    assert not started, f"it starts with {started}"
    # As it was told to.
    shutil.copy(log_path(informed.anna), log_path(cleo))
    cleo.start("--peer", informed.anna.address)
    assert revoked(cleo) == {informed.device} and kept(cleo) == sound


def test_a_bit_that_has_tipped_shuts_out_no_honest_laptop(informed):
    """It does not start with that, or it is a laptop like any other."""
    anna, cleo = informed.anna, informed.cleo
    (entry,) = entries(cleo)
    assert cleo.stop() == 0
    write(cleo, pem(with_smaller_signature(entry)))
    cleo.launch("--peer", anna.address)
    ended_or_in = lambda: not cleo.program.is_running or anna.connected() == ["cleo"]
    wait_until(ended_or_in, PATIENCE_SECONDS, f"cleo is in: {cleo.log()}{anna.log()}")
    dave = informed.enlist("dave", anna)
    assert revoked(dave) == {informed.device}
    wait_kept_alike(anna, dave)


def with_smaller_signature(entry):
    """By one bit: of two that name the same time the smaller one counts."""
    flipped = bytearray(entry)
    place = next(place for place in range(SIGNATURE.start, SIGNATURE.stop) if flipped[place] & 1)
    flipped[place] ^= 1
    assert bytes(flipped) < entry
    return bytes(flipped)


def write(daemon, text):
    with open(log_path(daemon), "w", encoding="utf-8") as file:
        file.write(text)


@pytest.fixture
def cramped(solos, founded):
    """A crew; anna's disk is small."""
    anna = solos("anna")
    disk = SmallDisk(solos.directory, anna.state)
    try:
        shutil.copytree(founded, disk.inside, dirs_exist_ok=True)
        start_on(disk, anna)
        yield Crew(solos, anna), disk
    finally:
        anna.kill()
        disk.end()


def start_on(disk, daemon, *flags):
    daemon.launch(*flags, prefix=disk.prefix)
    wait_until(daemon.answers, PATIENCE_SECONDS, f"{daemon.name} answers")


def is_kept_on(disk):
    return os.path.exists(os.path.join(disk.inside, "revocations.pem"))


def test_on_a_full_disk_nothing_is_revoked_and_it_says_why(cramped):
    crew, disk = cramped
    disk.fill()
    done = crew.anna.muster("fleet", "revoke", "bert", "--yes")
    assert done.returncode != 0 and not is_kept_on(disk), "the fault is there"
    assert "disk" in done.stderr.lower(), done


def test_what_has_failed_on_a_full_disk_has_not_half_happened(cramped):
    """It is in force everywhere or nowhere."""
    crew, disk = cramped
    disk.fill()
    assert crew.anna.ask("POST", "/v1/fleet/revocations", {"device": "bert"})[0] >= 400 and not is_kept_on(disk)
    if revoked(crew.anna):
        crew.wait_without_bert()
    else:
        crew.wait_together()


def test_what_has_failed_on_a_full_disk_is_done_when_it_is_tried_again(cramped):
    crew, disk = cramped
    device = identifier(crew.bert)
    disk.fill()
    assert crew.anna.muster("fleet", "revoke", "bert", "--yes").returncode != 0 and not is_kept_on(disk)
    disk.free()
    assert crew.anna.muster("fleet", "revoke", "bert", "--yes").returncode == 0
    assert is_kept_on(disk), "it says that it is done"
    crew.wait_without_bert()
    crew.anna.kill()
    start_on(disk, crew.anna)
    assert revoked(crew.anna) == {device} == revoked(crew.cleo)


def test_who_hears_it_on_a_full_disk_keeps_to_it(solos, anna):
    """It is in force at once, and is told again after a start."""
    crew = Crew(solos, anna)
    dave = solos("dave")
    disk = SmallDisk(solos.directory, dave.state)
    try:
        start_on(disk, dave, "--peer", crew.bert.address, "--peer", crew.cleo.address)
        certify(anna, dave)
        wait_until(lambda: dave.connected() == ["bert", "cleo"], PATIENCE_SECONDS, "dave has both")
        disk.fill()
        device = identifier(crew.bert)
        revoke(anna, "bert")
        wait_until(lambda: dave.connected() == ["cleo"], CUT_OFF_SECONDS, f"dave has only cleo: {dave.log()}")
        assert not is_kept_on(disk), "the fault is there"
        dave.kill()
        start_on(disk, dave, "--peer", crew.cleo.address)
        wait_revoked(dave, device)
        disk.free()
    finally:
        dave.kill()
        disk.end()


class Parted:
    """Two that may let others in and do not know each other's address, and two more laptops, each with one of them."""

    def __init__(self, solos, anna, root):
        self.anna = anna
        self.lea = newcomer(solos, "lea")
        root.let_issue(self.lea)
        self.bert = enlist(solos, anna, "bert", anna.address)
        self.cleo = enlist(solos, self.anna, "cleo", self.lea.address)
        wait_until(lambda: anna.connected() == ["bert"], PATIENCE_SECONDS, "anna has bert only")
        wait_until(lambda: self.lea.connected() == ["cleo"], PATIENCE_SECONDS, "lea has cleo only")

    def meet(self):
        self.lea.make("/v1/peers", {"address": self.anna.address})
        together = lambda: "lea" in self.anna.connected() and "anna" in self.lea.connected()
        wait_until(together, PATIENCE_SECONDS, f"they meet: {self.lea.log()}")


def test_who_parts_revokes_and_meets_knows_all(solos, anna, root):
    parted = Parted(solos, anna, root)
    bert, other = identifier(parted.bert), os.urandom(32).hex()
    revoke(parted.lea, bert)
    revoke(anna, other)
    assert revoked(anna) == {other} and anna.connected() == ["bert"], "they are parted"
    parted.meet()
    for daemon in (anna, parted.lea, parted.cleo):
        wait_revoked(daemon, bert, other)
    wait_until(lambda: anna.connected() == ["lea"], CUT_OFF_SECONDS, "bert is cut off")
    wait_kept_alike(anna, parted.lea, parted.cleo)
    job = parted.lea.create_job()
    wait_agreed([anna, parted.lea, parted.cleo], job)


def test_of_two_revocations_of_one_laptop_everybody_keeps_the_same(solos, anna, root):
    parted = Parted(solos, anna, root)
    lea = parted.lea
    orders = {os.urandom(32).hex(): order for order in ([anna, lea], [lea, anna])}
    for device, order in orders.items():
        for issuer in order:
            revoke(issuer, device)
    earliest = [min(two, key=lambda entry: (entry[TIME], entry)) for two in zip(entries(anna), entries(lea))]
    assert revoked(anna) == revoked(lea) == set(orders) and kept(anna) != kept(lea), "they differ"
    parted.meet()
    for daemon in (anna, lea, parted.bert, parted.cleo):
        same = lambda: kept(daemon) == pem(*earliest).encode()
        wait_until(same, PATIENCE_SECONDS, f"{daemon.name} has the earlier ones: {daemon.log()}")
    lea.kill()
    lea.start("--peer", anna.address)
    wait_until(lambda: "lea" in anna.connected(), PATIENCE_SECONDS, "they meet again")
    assert kept(lea) == pem(*earliest).encode() == kept(anna)


def test_several_in_one_request_are_all_in_force(crew, root):
    anna, bert, cleo = crew.all
    signer = root.signer(anna)
    those = [signer.revocation(identifier(daemon)) for daemon in (bert, cleo)]
    anna.make("/v1/fleet/revocations", {"revocation": pem(*those)})
    assert revoked(anna) == {identifier(bert), identifier(cleo)}
    for daemon in crew.all:
        alone = lambda: daemon.connected() == []
        wait_until(alone, CUT_OFF_SECONDS, f"{daemon.name} has nobody: {daemon.connected()}")


def test_one_forged_among_several_changes_nothing(crew, root):
    anna, bert, _ = crew.all
    true = root.signer(anna).revocation(identifier(bert))
    forged = as_signer(member_of(anna), anna).revocation(identifier(crew.cleo))
    before = anna.get("/v1/fleet/devices")
    for those in ([forged, true], [true, forged]):
        status, answer = anna.ask("POST", "/v1/fleet/revocations", {"revocation": pem(*those)})
        assert status == 422 and NOT_ALLOWED in answer["detail"], answer
        assert anna.get("/v1/fleet/devices") == before and kept(anna) == b""
    crew.wait_together()


def test_what_is_no_revocation_is_refused(anna):
    for text in ("", "garbage", "-----BEGIN MUSTER REVOCATION-----\n-----END MUSTER REVOCATION-----\n"):
        status, answer = anna.ask("POST", "/v1/fleet/revocations", {"revocation": text})
        assert status == 422 and "It is no revocation" in answer["detail"], (text, status, answer)
    for wish in ({}, {"device": "bert", "revocation": "x"}, {"device": ""}):
        assert anna.ask("POST", "/v1/fleet/revocations", wish)[0] == 422, wish
    assert kept(anna) == b""
