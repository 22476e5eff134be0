"""The whole day of three laptops and one household: the office opens the job, the crew works without the internet, the
customer signs, in the evening the office gets it all, and one laptop is stolen."""

import os

import fleet
import paperwork
import recording
from company import Office
from lab import CrewMember, finish, never_during
from paperwork import JOB
from telling import CHECKOUT, SCREEN_COLUMNS, agree, last

DATA = "Examples/data/household-inventory.csv"
ROWS = 140
CUT_SECONDS = 2


def tell(teller, lab, build_directory):
    # The inventory is named as somebody in the checkout would.
    os.chdir(CHECKOUT)
    teller.title("One day: three laptops, one household, and the office")
    office = Office(lab, build_directory)
    crew = anna, bert, cleo = [
        CrewMember(lab.laptop(name), build_directory, columns=SCREEN_COLUMNS) for name in ("anna", "bert", "cleo")
    ]
    paperwork.the_crew_meets_at_the_depot(teller, office, crew)
    paperwork.the_crew_becomes_a_fleet(teller, lab, office, crew)
    opening = paperwork.the_office_opens_the_job(teller, office, crew)
    paperwork.the_crew_drives_off(teller, office, crew)
    watched = recording.of(anna, "job", "watch", JOB)
    the_household_is_imported(teller, crew)
    all_work_at_once(teller, crew)
    removed, renamed = cleo_goes_to_the_basement(teller, anna, bert, cleo)
    cleo_comes_back(teller, crew, removed, renamed)
    signed = paperwork.the_customer_signs(teller, office, crew)
    paperwork.bert_finds_the_internet(teller, office, crew)
    paperwork.the_office_has_it_all(teller, office, crew, [opening, *signed.tokens], signed.digest)
    watched.stop()
    fleet.one_is_stolen(teller, crew, JOB, signed.digest)
    the_day_ends(teller, office, crew)


def the_household_is_imported(teller, crew):
    anna, cleo = crew[0], crew[2]
    teller.chapter("Anna imports the household")
    teller.screen(anna, "import", JOB, DATA, "--key", "barcode")
    teller.until(lambda: agree(crew, JOB), "all three have the household")
    teller.must(cleo.json("job", "show", JOB)["items"] == ROWS, f"Cleo has all {ROWS} items")
    teller.screen(cleo, "job", "summary", JOB, only=rooms_and_totals)


def all_work_at_once(teller, crew):
    teller.chapter("All three work at the same time")
    anna, bert, cleo = crew
    barcodes = [item["fields"]["barcode"] for item in anna.json("item", "list", JOB)]
    work = []
    for number in range(6):
        work.append(anna.begin("item", "set", JOB, barcodes[number], f"room=Truck, row {number + 1}"))
        work.append(bert.begin("item", "add", JOB, f"name=Box {number + 1} of the attic", "category=carton-medium"))
        work.append(cleo.begin("item", "note", JOB, barcodes[number], f"wrapped, sticker {number + 1}"))
    at_once = sum(process.poll() is None for process in work)
    finish(work)
    teller.must(at_once > len(crew), f"of {len(work)} edits on three laptops {at_once} were under way at the same moment")
    teller.until(lambda: agree(crew, JOB), "all three agree")
    items = {item["id"]: item for item in cleo.json("item", "list", JOB)}
    moved = [item for item in items.values() if item["fields"].get("room", "").startswith("Truck, row")]
    boxes = [item for item in items.values() if item["fields"].get("name", "").endswith("of the attic")]
    wrapped = [item for item in items.values() if any(note.startswith("wrapped") for note in item["notes"])]
    kept = (len(moved), len(boxes), len(wrapped)) == (6, 6, 6)
    teller.must(kept, "every one of the edits is there: 6 rooms of Anna, 6 boxes of Bert, 6 remarks of Cleo")
    teller.screen(bert, "job", "log", JOB, only=last(6))


def cleo_goes_to_the_basement(teller, anna, bert, cleo):
    """Returns the ids of the item that is removed, and of the one whose barcode changes on two laptops."""
    teller.chapter("Cleo goes to the basement, without a network")
    # By whole names: the list is in the order of random ids, and a 'Table lamp' would be both.
    items = anna.json("item", "list", JOB)
    named = lambda name: next(item for item in items if item["fields"]["name"] == name)
    table, lamp = named("Coffee table"), named("Floor lamp")
    cleo.laptop.cut()
    teller.say("Cleo's cable is cut, and everybody goes on.", mark="✂")

    teller.say(f"Anna removes the {table['fields']['name']!r}; down there Cleo adds two remarks and a photo to it.")
    finish([
        anna.begin("item", "remove", JOB, table["id"]),
        cleo.begin("item", "note", JOB, table["id"], "left leg scratched before we came"),
        cleo.begin("item", "set", JOB, table["id"], "photo=IMG_2041.jpg"),
        cleo.begin("item", "note", JOB, table["id"], "customer has seen the scratch"),
    ])
    teller.say(f"Bert and Cleo give the {lamp['fields']['name']!r} a new barcode at nearly the same time.")
    finish([
        bert.begin("item", "set", JOB, lamp["id"], "barcode=2000000009001"),
        cleo.begin("item", "set", JOB, lamp["id"], "barcode=2000000009002"),
    ])
    teller.say("Bert records a box in the garage, Cleo three in the basement.")
    boxes = [bert.begin("item", "add", JOB, "name=Box of the garage", "category=carton-large")]
    boxes += [cleo.begin("item", "add", JOB, f"name=Box {number} of the basement") for number in (1, 2, 3)]
    finish(boxes)

    never_during(lambda: agree([anna, cleo], JOB), CUT_SECONDS, "Anna and Cleo agree through a cut cable")
    names = {member.name: names_of(member) for member in (anna, cleo)}
    teller.must("Box of the garage" not in names["cleo"], "Cleo does not know of Bert's box in the garage")
    teller.must("Box 1 of the basement" not in names["anna"], "Anna does not know of Cleo's boxes in the basement")
    shown = {item["id"] for item in cleo.json("item", "list", JOB)}
    teller.must(table["id"] in shown, "Cleo still sees what Anna has removed")
    return table["id"], lamp["id"]


def cleo_comes_back(teller, crew, removed, renamed):
    teller.chapter("Cleo comes back")
    anna, bert, cleo = crew
    cleo.laptop.heal()
    teller.until(lambda: agree(crew, JOB), "all three agree again")
    for member in crew:
        names = names_of(member)
        if not {"Box of the garage", "Box 1 of the basement"} <= set(names):
            raise AssertionError(f"{member.name} lacks a box that was recorded during the cut.")
    teller.must(True, "everybody has every box that was recorded meanwhile")
    shown = {item["id"] for member in crew for item in member.json("item", "list", JOB)}
    teller.must(removed not in shown, "what Anna removed is gone on every laptop, also where it was edited after that")
    log = teller.screen(bert, "job", "log", JOB, "--item", removed, only=last(5))
    remarks = ("left leg scratched before we came", "customer has seen the scratch")
    notes = [change.get("note") for change in bert.json("job", "log", JOB, "--item", removed)]
    teller.must(log and all(remark in notes for remark in remarks), "its remarks are kept in the log: a claim may hang on them")

    teller.screen(anna, "job", "conflicts", JOB)
    for member in crew:
        edits = member.json("job", "conflicts", JOB)["edits"]
        found = [{value["value"] for value in [edit["winner"], *edit["losers"]]} for edit in edits if edit["field"] == "barcode"]
        items = [edit["item"] for edit in edits if edit["field"] == "barcode"]
        if found != [{"2000000009001", "2000000009002"}] or items != [renamed]:
            raise AssertionError(f"{member.name} lists other conflicts of barcodes than the one there is: {edits}")
    teller.must(True, "each laptop lists the conflict of the two barcodes, with both values and both authors")


def the_day_ends(teller, office, crew):
    teller.chapter("The day ends")
    teller.screen(crew[1], "job", "show", JOB)
    codes = [member.daemon.stop() for member in crew]
    teller.must(codes == [0, 0, 0], "each daemon has stopped when asked, with exit code 0")
    teller.must(office.program.stop() == 0, "so has the office's server")


def names_of(member):
    return [item["fields"].get("name") for item in member.json("item", "list", JOB)]


def rooms_and_totals(lines):
    """The summary without its long table of categories."""
    start = next(index for index, line in enumerate(lines) if line.startswith("CATEGORY"))
    end = next(index for index, line in enumerate(lines) if index > start and not line)
    return lines[:start] + lines[end + 1 :]
