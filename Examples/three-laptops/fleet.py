"""How laptops become one fleet, by codes and without the internet, and how one that is stolen is shut out of it."""

import contextlib
import os
import re

from lab import finish, never_during
from telling import beginning_with

CODE = re.compile(r"^  ([0-9A-Z]{4}(?:-[0-9A-Z]{4}){3})$", re.MULTILINE)
NEXT_JOB = "Jones, 4 Oak Lane"
SOFA = "2000000000091"
SHUT_OUT_SECONDS = 2


def begin(teller, lab, founder):
    """The first laptop makes the fleet's root, which a company would have on a USB stick, and may let others in."""
    # Names without a directory: where the story keeps its files is nobody's concern, and may be a long word.
    with contextlib.chdir(lab.directory):
        _write("passphrase", "a drawer of its own\n")
        teller.screen(founder, "fleet", "init", "--root", "fleet-root.pem", "--passphrase-file", "passphrase")


def let_in_the_office(teller, lab, issuer, office):
    """The server joins by two files, as from an administrator's desk: what it says it signs from then on."""
    with contextlib.chdir(lab.directory):
        request, papers = "server.request", "server.pem"
        _write(request, office.muster_channel("fleet", "request"))
        teller.command("office", ["muster-channel", "fleet", "request"], into=request)
        signing = ["fleet", "sign", request, "--role", "server"]
        _write(papers, issuer.muster(*signing))
        teller.command(issuer.name, ["muster", *signing], into=papers)
        installed = office.muster_channel("fleet", "install", os.path.abspath(papers))
        teller.command("office", ["muster-channel", "fleet", "install", papers])
        teller.show(beginning_with("Server", "Fleet", "Let in by")(installed.splitlines()))
        asking, signing = "office.request", ["fleet", "sign", "office.request", "--role", "office"]
        _write(asking, office.request())
        teller.command("office", ["openssl", "req", "-new", "-subj", "/CN=office", "-key", "office.key"], into=asking)
        _write(office.papers, issuer.muster(*signing))
        teller.command(issuer.name, ["muster", *signing], into="office.pem")
    # Its papers are looked for every two seconds.
    teller.until(office.answers, "the office's server takes connections, from whoever is in the fleet")


def _write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def let_in(teller, inviter, newcomer):
    """A laptop that nobody knows joins by a code, which one person reads to the other."""
    inviting = inviter.begin("fleet", "invite", "--yes")
    printed = read_until(inviting, "Waiting for it")
    code = CODE.search(printed)[1]
    teller.command(inviter.name, ["muster", "fleet", "invite", "--yes"])
    teller.show(printed.strip("\n").split("\n"))
    joining = newcomer.try_muster("fleet", "join", code)
    if joining.returncode != 0:
        raise RuntimeError(f"{newcomer.name} could not join: {joining.stderr}")
    teller.command(newcomer.name, ["muster", "fleet", "join", code])
    teller.show(joining.stderr.splitlines())
    teller.show(beginning_with("Fleet", "Role", "Valid until")(joining.stdout.splitlines()))
    teller.say(f"And on {inviter.name.capitalize()}'s screen, where it waited:")
    teller.show(finish([inviting])[0].splitlines())


def read_until(process, words):
    """What a command has printed up to the line with these words; it goes on."""
    printed = ""
    while words not in printed:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(process.args)} has ended: {process.communicate()[1]}")
        printed += line
    return printed


def one_is_stolen(teller, crew, job, signed):
    """`signed` is the digest of the job, which nobody has changed since."""
    teller.chapter("Cleo's laptop is stolen")
    anna, bert, cleo = crew
    teller.say("Somebody has taken it out of the truck. It runs, and is near enough to talk to the others.")
    teller.must(cleo.connected() == ["anna", "bert"], "it is connected to Anna's and to Bert's")
    teller.screen(anna, "fleet", "revoke", "cleo", "--yes")
    apart = lambda: [member.connected() for member in crew] == [["bert"], ["anna"], []]
    teller.until(apart, "all its connections are closed, and Anna and Bert have theirs")
    teller.screen(bert, "fleet", "list")
    teller.screen(cleo, "fleet", "show", only=beginning_with("Laptop", "Fleet", "Revoked"))

    teller.screen(bert, "job", "create", "--name", NEXT_JOB, "--kind", "pickup")
    teller.until(lambda: NEXT_JOB in jobs_of(anna), "Anna has the next job")
    teller.refused(cleo, "item", "note", job, SOFA, "fetches a good price")
    passes = lambda: NEXT_JOB in jobs_of(cleo) or {anna.digest(job), bert.digest(job)} != {signed}
    never_during(passes, SHUT_OUT_SECONDS, "something passes to the stolen laptop, or from it")
    for member in (anna, cleo):
        teller.screen(member, "job", "list")
    teller.must(cleo.digest(job) == signed, "the stolen laptop has not heard of the next job, and writes nothing any more")
    for member in (anna, bert):
        boxes = [item for item in member.json("item", "list", job) if item["fields"]["name"].endswith("of the basement")]
        if len(boxes) != 3:
            raise AssertionError(f"{member.name} has {len(boxes)} of Cleo's 3 boxes of the basement.")
    teller.must(True, "what Cleo wrote before stays: her 3 boxes of the basement are on both, in what the customer signed")


def jobs_of(member):
    return [job["name"] for job in member.json("job", "list")]
