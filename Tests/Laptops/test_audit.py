"""A job's history, months later: who wrote what, shown to somebody who has the file and trusts the fleet's root."""

import base64
import json
import os
import re
import sqlite3
import subprocess

import pytest
from authors import CHANNEL, SIGNATURE_BYTES, Server, digest, has_signed, name, server_name
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from gateways import advance, server_flags, wait_published
from lab import shared_fleet, surroundings
from office import Office
from relays import records
from solo import PATIENCE_SECONDS, Solos, wait_agreed

BROKEN, BAD_DATA = 1, 65
# What would clear a terminal, begin a line of its own, and turn the rest round.
ODD = "Box\x1b[2J\nproven: all\u202e"


class Past:
    """What a crew of two and the office wrote, and the file that is left of it."""

    def __init__(self, solos, office, directory):
        anna = solos("anna").start(*server_flags(office.url))
        bert = solos("bert").start("--peer", anna.address)
        self.job = anna.create_job("Elm Street")
        for things in ("Sofa", "Lamp", "Grand piano", ODD):
            anna.add(self.job, name=things)
        wait_agreed([anna, bert], self.job)
        bert.add(self.job, name="Table")
        wait_agreed([anna, bert], self.job)
        advance(anna, self.job, "dispatched")
        wait_published([anna, bert], self.job, "dispatched")
        wait_agreed([anna, bert], self.job)
        office.program.stop(PATIENCE_SECONDS)
        self.live = anna.muster("job", "audit", "Elm Street")
        self.unknown = anna.muster("job", "audit", "Oak Street")
        exported = anna.muster("job", "export", self.job, "--format", "history")
        assert exported.returncode == 0, exported
        self.text = exported.stdout
        self.fleet, self.root = (anna.get("/v1/fleet")[name] for name in ("fleetID", "rootID"))
        self.devices = {daemon.name: daemon.get("/v1/fleet")["deviceID"][:8] for daemon in (anna, bert)}
        self.replicas = {"anna": anna.replica(), "bert": bert.replica(), "the server": CHANNEL.hex()}
        anna.muster("job", "remove", self.job, "--yes")
        self.removed = anna.muster("job", "audit", self.job)
        for daemon in (anna, bert):
            assert daemon.stop() == 0
        self._anna = anna
        self._path = str(directory / "elm.history")

    def lines(self):
        return [json.loads(line) for line in self.text.splitlines()]

    def audit(self, text, *arguments):
        """Of a file with this text, when no daemon runs any more."""
        with open(self._path, "w", encoding="utf-8") as file:
            file.write(text)
        return subprocess.run(
            self._anna.command("job", "audit", self._path, *arguments), capture_output=True, text=True,
            env={**os.environ, "COLUMNS": "80"})


@pytest.fixture(scope="module")
def past(build_directory, tmp_path_factory):
    with Solos(build_directory) as solos, Office(build_directory) as office:
        office.join(shared_fleet(build_directory)).start()
        yield Past(solos, office, tmp_path_factory.mktemp("past"))


def test_a_person_sees_who_wrote_what(past):
    for done in (past.live, past.audit(past.text)):
        assert done.returncode == 0 and not done.stderr, done
        assert max(map(len, done.stdout.splitlines())) <= 80
        assert re.search(f"Fleet +{past.fleet}", done.stdout) and re.search("\nproven: [0-9]+ changes, ", done.stdout)
        for laptop in ("anna", "bert"):
            (row,) = [line for line in done.stdout.splitlines() if line.startswith(laptop)]
            assert "office" in row or "member" in row, row
        (row,) = [line for line in done.stdout.splitlines() if line.startswith("the server")]
        assert "server" in row.removeprefix("the server"), row


def test_a_script_gets_the_same(past):
    found = json.loads(past.audit(past.text, "--json").stdout)
    assert found["holds"] and found["job"] == past.job and found["fleetID"] == past.fleet
    journals = {journal["name"]: journal for journal in found["journals"]}
    assert {name: journal["replicaID"] for name, journal in journals.items()} == past.replicas
    assert journals["the server"]["role"] == "server"
    assert all(journal["standing"] == "proven" and journal["changes"] >= 2 for journal in journals.values())


def test_all_changes_are_listed_with_their_author(past):
    said = past.audit(past.text, "--changes").stdout.splitlines()
    for author, thing in (("anna", "Grand piano"), ("bert", "Table")):
        # What it calls itself anybody may; the key is its own.
        words = f"  {author} {past.devices[author]}  "
        assert [line for line in said if line.endswith(f"name = {thing}") and words in line], said


def test_nothing_that_somebody_wrote_reaches_the_terminal_as_it_is(past):
    said = past.audit(past.text, "--changes").stdout
    assert "Box\N{REPLACEMENT CHARACTER}[2J proven: all" in said, said
    assert not {"\x1b", "\u202e"} & set(said) and "\nproven: all" not in said


def test_others_can_check_it_without_muster(past):
    """As docs/audit.md says, with nothing but hashes, signatures and certificates."""
    first, *lines, last = past.lines()
    root = x509.load_der_x509_certificate(base64.b64decode(first["fleet"]))
    authors, heads = {}, {}
    for line in lines:
        if line["line"] == "author":
            key, nonce = base64.b64decode(line["key"]), line.get("nonce")
            known = name(key, bytes.fromhex(nonce)) if nonce else server_name(key)
            assert line["journal"] == (known if nonce else CHANNEL).hex()
            own, issuer = [x509.load_der_x509_certificate(base64.b64decode(one)) for one in line["certificates"]]
            issuer.public_key().verify(own.signature, own.tbs_certificate_bytes)
            root.public_key().verify(issuer.signature, issuer.tbs_certificate_bytes)
            assert own.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw) == key
            role = "OU=server" if not nonce else "OU=member"
            assert role in own.subject.rfc4514_string(), own.subject
            authors[known] = key
        else:
            journal = line["journal"]
            sequence, head = heads.get(journal, (0, bytes(32)))
            assert line["first"] == sequence + 1
            head = digest(records(base64.b64decode(line["changes"])), head)
            assert head.hex() == line["digest"]
            signature = base64.b64decode(line["signature"])
            known = bytes.fromhex(journal)
            key = authors[server_name(signature[SIGNATURE_BYTES:]) if known == CHANNEL else known]
            assert has_signed(key, signature, past.job, known, line["last"], head)
            heads[journal] = line["last"], head
    assert set(heads) == set(past.replicas.values()) and last["runs"] == len(lines) - len(authors)


def another_word(changes):
    return changes.replace(b"Grand piano", b"Broken lute")


def one_less(changes):
    return b"".join(record for record in records(changes) if b"Lamp" not in record)


@pytest.mark.parametrize("alter", [another_word, one_less])
def test_what_was_altered_is_named(past, alter):
    lines = past.lines()
    for line in lines:
        if line["line"] == "run" and line["journal"] == past.replicas["anna"]:
            changes = base64.b64decode(line["changes"])
            assert alter(changes) != changes
            line["changes"] = base64.b64encode(alter(changes)).decode()
    done = past.audit("".join(json.dumps(line) + "\n" for line in lines))
    assert done.returncode == BROKEN and not done.stderr
    (broken,) = [line for line in done.stdout.splitlines() if line.startswith("broken")]
    # What it calls itself stood in what was altered.
    assert past.devices["anna"] in broken and "is not what was signed" in broken, done.stdout
    assert "proven" not in done.stdout and "\nbert " in done.stdout


def test_what_nobody_has_signed_is_not_called_proven(past):
    """Nobody but a server of the fleet writes in the server's name."""
    first, *lines, last = past.lines()
    run = next(line for line in lines if line["line"] == "run" and line["journal"] != CHANNEL.hex())
    said = {**run, "journal": CHANNEL.hex()}
    forger = Server()
    signed = forger.sign(past.job, run["last"], bytes.fromhex(run["digest"]))
    whose = {**forger.document, "line": "author", "journal": CHANNEL.hex()}
    whose["key"] = base64.b64encode(bytes.fromhex(whose["key"])).decode()
    unsigned = {name: value for name, value in said.items() if name != "signature"}
    for told, standing in (
        ((unsigned,), "broken"),
        ((said,), "broken"),
        ((whose, {**said, "signature": base64.b64encode(signed).decode()}), "outsider"),
    ):
        done = past.audit("".join(json.dumps(line) + "\n" for line in (first, *told, {**last, "runs": 1})))
        assert done.returncode == BROKEN and "proven" not in done.stdout, done
        assert re.search(f"^the server .* {standing}|^{standing}.* the server", done.stdout, re.M), done.stdout
    done = past.audit("".join(json.dumps(line) + "\n" for line in (first, {**last, "runs": 0})))
    assert "proven" not in done.stdout and "Nothing in it is signed" in done.stdout, done


def test_without_a_fleet_only_the_laptop_is_shown(past):
    first, *lines = past.lines()
    del first["fleet"]
    done = past.audit("".join(json.dumps(line) + "\n" for line in (first, *lines)))
    assert done.returncode == 0 and re.search("\nsigned: [0-9]+ changes", done.stdout) and "No fleet vouches" in done.stdout, done


REFUSED = {
    "half of it": lambda text: text[: len(text) // 2],
    "without its end": lambda text: "".join(text.splitlines(keepends=True)[:-1]),
    "twice": lambda text: text * 2,
    "an export of the items": lambda _: '{"job":"x","items":[]}\n',
    "nothing": lambda _: "",
    "the half of its first line": lambda text: text[: text.index("\n") // 2],
    "something behind its end": lambda text: text + "x",
    "zeros behind its end": lambda text: text + 512 * "\0",
    "a line without an end": lambda _: "x" * (3 << 20),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_whole_history_is_refused(past, what):
    done = past.audit(REFUSED[what](past.text))
    assert done.returncode == BAD_DATA and not done.stdout, done
    (sentence,) = done.stderr.splitlines()
    assert "export" in sentence, sentence
    assert ("is empty" in sentence) == (what == "nothing"), sentence


def test_a_history_may_lack_its_last_newline(past):
    """An editor or a mail took it."""
    done = past.audit(past.text.removesuffix("\n"))
    assert done.returncode == 0 and "proven" in done.stdout, done


def test_a_file_that_is_not_there_is_told_where_no_daemon_is(build_directory, tmp_path):
    command = [os.path.join(build_directory, "muster"), "job", "audit", "smith.histroy", "--socket", str(tmp_path / "none.sock")]
    done = subprocess.run(command, capture_output=True, text=True, env=surroundings(), cwd=tmp_path)
    assert done.returncode == 69 and "There is no file 'smith.histroy'" in done.stderr, done


def test_another_fleet_is_not_the_one_that_was_meant(past):
    assert past.audit(past.text, "--fleet", past.fleet).returncode == 0
    assert past.root.startswith(past.fleet) and len(past.root) == 64
    assert past.audit(past.text, "--fleet", past.root).returncode == 0
    for wrong in (past.root[:-1] + "0123456789abcdef"[int(past.root[-1], 16) - 1], past.fleet[:7], ""):
        assert past.audit(past.text, "--fleet", wrong).returncode == BAD_DATA, wrong
    done = past.audit(past.text, "--fleet", "00000000")
    assert done.returncode == BAD_DATA and "00000000" in done.stderr, done


@pytest.mark.parametrize("what", ["another word", "no signature"])
def test_a_store_that_was_altered_is_told_of_by_name(solos, what):
    """As of a file: the table, and whose journal it is."""
    anna = solos("anna").start()
    job = anna.create_job("Elm Street")
    for name in ("Sofa", "Grand piano", "Lamp"):
        anna.add(job, name=name)
    assert anna.muster("job", "audit", job).returncode == 0 and anna.stop() == 0
    database = sqlite3.connect(anna.store)
    with database:
        rows = database.execute("SELECT rowid, bytes FROM segment ORDER BY last").fetchall()
        for row, changes in rows:
            if what == "another word":
                database.execute("UPDATE segment SET bytes = ? WHERE rowid = ?", (another_word(changes), row))
        if what == "no signature":
            database.execute("UPDATE segment SET signature = zeroblob(length(signature)) WHERE rowid = ?", rows[-1][:1])
    database.close()
    anna.start()
    done = anna.muster("job", "audit", job)
    assert done.returncode == BROKEN and not done.stderr, done
    (broken,) = [line for line in done.stdout.splitlines() if line.startswith("broken")]
    assert "\nLAPTOP" in done.stdout, done.stdout
    assert ("is not what was signed" if what == "another word" else "was not signed by its author") in broken, broken
    found = json.loads(anna.muster("job", "audit", job, "--json").stdout)
    assert not found["holds"] and "broken" in [journal["standing"] for journal in found["journals"]]


def test_jobs_without_a_history(past):
    for done, word in ((past.unknown, "job list"), (past.removed, "was removed")):
        assert done.returncode not in (0, BROKEN) and word in done.stderr, done
