"""The chapters of the day that the office has a part in: it opens the job, the crew moves it along and the customer signs
without a way to the office, and whoever finds the internet first is the way for all."""

import collections

import fleet
from telling import beginning_with, check_and_compare

JOB = "Smith, 12 Elm Street"
JOB_ID = "elm-street-12"
SIGNER = "J. Smith"


def the_crew_meets_at_the_depot(teller, office, crew):
    teller.chapter("The crew opens its laptops, at the depot")
    office.start()
    for member in crew:
        office.connect(member.laptop)
        member.launch("--server", office.url)
    teller.say("There is a way to the office's server, and nobody is sure of anybody: no laptop is in a fleet.")
    strange = lambda: all("belongs to no fleet" in server_finding(member) for member in crew)
    teller.until(strange, "no laptop says a word to the server")


def the_crew_becomes_a_fleet(teller, lab, office, crew):
    teller.chapter("Anna's laptop begins a fleet, and lets the others in")
    fleet.begin(teller, lab, crew[0])
    teller.say("The office's server is let in by file: laptops of a fleet speak to no other one. So are the office's programs.")
    fleet.let_in_the_office(teller, lab, crew[0], office)
    apart = not any(member.connected() for member in crew)
    teller.must(apart, "no laptop talks to another one: Bert's and Cleo's are in no fleet")
    teller.say("Without --yes Anna's screen would show the newcomer's key words, too, and ask her whether they are the same.")
    for member in crew[1:]:
        fleet.let_in(teller, crew[0], member)
    everybody = {member.name for member in crew}
    found = lambda: all(set(member.connected()) == everybody - {member.name} for member in crew)
    teller.until(found, "the laptops have found each other, and nobody has typed an address")
    teller.screen(crew[0], "peers")


def the_office_opens_the_job(teller, office, crew):
    """Returns the token of the request that opens it."""
    teller.chapter("The office opens the job")
    teller.say(f"The office's server, muster-channel, runs at {office.url}. A program of the office opens a job for the crew.")
    token = office.open_job(JOB_ID, JOB, "pickup")
    job = show_job(teller, office)
    teller.must(job["state"] == "scheduled" and job["items"] == 0, "the office has the job, and nothing in it yet")
    teller.until(lambda: shown_states(crew) == [("scheduled", None)] * 3, "all three have the job from the office")
    teller.screen(crew[2], "job", "list")
    return token


def the_crew_drives_off(teller, office, crew):
    teller.chapter("The crew drives off, and has no internet any more")
    office.machine.cut()
    for member in crew:
        office.disconnect(member.laptop)
    teller.say("The office's cable is cut, and no laptop has a route to it.", mark="✂")
    teller.until(lambda: all(finds_no_route(member) for member in crew), "each laptop has noticed")
    anna, bert, _ = crew
    teller.screen(anna, "job", "advance", JOB, "dispatched")
    teller.until(lambda: shown_states([bert]) == [("scheduled", "dispatched")], "Bert sees it")
    teller.screen(bert, "job", "advance", JOB, "inProgress")
    waiting = [("scheduled", "inProgress")] * 3
    teller.until(lambda: shown_states(crew) == waiting, "all three show what the office said, and what is asked of it")
    teller.screen(crew[2], "job", "show", JOB, only=beginning_with("Job", "State"))


Signed = collections.namedtuple("Signed", "digest tokens")


def the_customer_signs(teller, office, crew):
    """Returns the digest that was signed, and the tokens of all that was asked for."""
    teller.chapter("The customer signs")
    anna, bert, cleo = crew
    anna.muster("job", "advance", JOB, "awaitingSignature")
    digest = check_and_compare(teller, crew, JOB)
    teller.say("Cleo's screen shows the customer what is signed for:")
    teller.screen(cleo, "job", "summary", JOB, only=lambda lines: lines[-6:])
    summaries = [member.json("job", "summary", JOB) for member in crew]
    same = all(summary == summaries[0] for summary in summaries) and summaries[0]["digest"] == digest
    teller.must(same, "all three show the same summary, with the digest of what all three export")
    teller.screen(anna, "job", "sign-off", JOB, "--name", SIGNER, "--digest", digest)
    teller.screen(anna, "job", "advance", JOB, "completed")
    waiting = lambda: shown_states(crew) == [("scheduled", "completed")] * 3 and all(
        (signature_of(member) or {}).get("isPending") for member in crew
    )
    teller.until(waiting, "all three show the job as signed and completed, and as not confirmed yet")
    teller.screen(bert, "job", "show", JOB, only=beginning_with("Job", "State", "Signed", "Items", "Digest"))
    teller.screen(anna, "queue", "list")
    job = office.get(f"/v1/jobs/{JOB_ID}")
    knows_nothing = job["state"] == "scheduled" and job["items"] == 0 and job["pending"] == []
    teller.must(knows_nothing, "the office still has the job as scheduled, without items, and knows of no request")
    return Signed(digest, [entry["token"] for entry in anna.json("queue", "list")])


def bert_finds_the_internet(teller, office, crew):
    teller.chapter("Bert's laptop finds the internet")
    anna, bert, cleo = crew
    office.machine.heal()
    office.connect(bert.laptop)
    teller.say("The office's cable is whole again, and Bert's laptop, and no other, gets a route to it.")
    confirmed = lambda member: lambda: shown_states([member]) == [("completed", None)]
    teller.until(confirmed(bert), "Bert has the office's word: completed")
    for member in (anna, cleo):
        teller.until(confirmed(member), f"{member.name.capitalize()} has learned it from a peer")
    teller.must(finds_no_route(anna) and finds_no_route(cleo), "Anna and Cleo had no way to the office meanwhile")
    teller.screen(bert, "queue", "log")
    for member in crew:
        if member.json("queue", "list"):
            raise AssertionError(f"something still waits for the server at {member.name}.")
    teller.screen(anna, "queue", "list")


def the_office_has_it_all(teller, office, crew, tokens, digest):
    teller.chapter("What the office has got")
    vectors = lambda: [journals_of(office), *(member.json("job", "show", JOB)["vector"] for member in crew)]
    teller.until(lambda: all(one == vectors()[0] for one in vectors()[1:]), "office and crew hold the same, as far as their journals go")
    job = show_job(teller, office)
    entries = [entry for entry in office.channel(JOB_ID) if entry["outcomes"]]
    teller.say("The requests that it has carried out, with the numbers of its journal's entries:")
    teller.show(f"{entry['id']:3}  {described(entry)}" for entry in entries)
    decided = [(outcome["token"], outcome["verdict"]) for entry in entries for outcome in entry["outcomes"]]
    once = decided == [(token, "accepted") for token in tokens]
    teller.must(once, f"each of the {len(tokens)} requests was carried out once, in the order of asking")
    numbers = [number for entry in office.channel(JOB_ID) for number in range(entry["id"], entry["last"] + 1)]
    teller.must(numbers == list(range(1, len(numbers) + 1)), "the entries of its journal are numbered without a gap")

    items = [item["id"] for item in office.items(JOB_ID)]
    once = len(items) == len(set(items)) == job["items"]
    here = sorted(item["id"] for item in crew[0].json("item", "list", JOB))
    teller.must(once and sorted(items) == here, f"it has each of the {len(items)} items, and each once")
    digests = {member.digest(JOB) for member in crew} | {job["digest"]}
    teller.must(digests == {digest}, "its digest is what the three laptops export and what the customer saw")
    for signature in map(signature_of, crew):
        expected = {"name": SIGNER, "digest": digest, "serverDigest": digest, "isPending": False}
        if signature != expected:
            raise AssertionError(f"a laptop shows the signature {signature}, not {expected}.")
    teller.must(True, "it held that very inventory when the signature came, and every laptop knows it")
    logs = [member.json("job", "log", JOB) for member in crew]
    teller.must(all(log == logs[0] for log in logs), f"the {len(logs[0])} lines of the job's log are the same everywhere")


def show_job(teller, office):
    """What somebody at the office sees of the job, and returns that."""
    job = office.get(f"/v1/jobs/{JOB_ID}")
    curl = ["curl", "-k", "--pinnedpubkey", "…", "--cert", "office.pem", "--key", "office.key"]
    teller.command("office", [*curl, f"{office.url}/v1/jobs/{JOB_ID}"])
    teller.show(f"{name:7} {job[name]}" for name in ("id", "name", "state", "items", "digest"))
    return job


def described(entry):
    published = entry["published"]
    if "signature" in published:
        return f"signed by {SIGNER}"
    return published["state"]


def shown_states(members):
    """What the office has said of the job, and what is asked of it, on each of the laptops that have the job."""
    states = []
    for member in members:
        jobs = {job["id"]: job["state"] for job in member.json("job", "list")}
        if JOB_ID in jobs:
            states.append((jobs[JOB_ID]["published"], jobs[JOB_ID]["pending"]))
    return states


def signature_of(member):
    return member.json("job", "show", JOB)["signature"]


def finds_no_route(member):
    return "no route" in server_finding(member)


def server_finding(member):
    # The doctor ends with 1 when something is not well.
    checks = member.json_whatever("doctor")["checks"]
    return next(check["finding"] for check in checks if check["id"] == "server")


def journals_of(office):
    """How far the office holds each journal, its own among them."""
    vector = office.get(f"/v1/jobs/{JOB_ID}/vector")
    return {entry["replica"]: entry["sequence"] for entry in vector["entries"]}
