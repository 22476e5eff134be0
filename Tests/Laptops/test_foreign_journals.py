"""What nobody of the fleet has written is passed over, and the rest of what the same peer brings is welcome."""

import pytest
from authors import Author, digest
from lab import Fleet, never_during, wait_until
from relays import is_closed, things, town  # noqa: F401
from solo import PATIENCE_SECONDS
from stranger import Member, Stranger, delta

NOT_OF_THE_FLEET = "nobody of the fleet has written it"


@pytest.fixture(scope="module")
def other_fleet(build_directory):
    fleet = Fleet(build_directory)
    yield fleet
    fleet.end()


def outsider(other_fleet, who):
    return Author() if who == "no fleet" else Member(other_fleet).author()


@pytest.mark.parametrize("who", ["no fleet", "another fleet"])
def test_what_nobody_of_the_fleet_has_written_is_passed_over(town, other_fleet, who):
    author, lies = outsider(other_fleet, who), things("a lie", "a second lie")
    logged = len(town.carl.log())
    before = town.held()
    stranger = Stranger(town.carl).greet()
    assert stranger.say(delta(town.job, author, 1, 1, digest(lies[:1]), lies[0]))
    said = lambda: [line for line in town.carl.log()[logged:].splitlines() if NOT_OF_THE_FLEET in line]
    wait_until(lambda: said() and author.replica.hex() in said()[0], PATIENCE_SECONDS, town.carl.log())
    assert f"work of {author.device.hex()[:8]}, which nobody of this fleet has let in, came once" in town.journals()
    assert town.held() == before
    # What others have written is welcome on the same connection, and the journal is not, however it goes on.
    own, written = stranger.author(), things(f"written by a member, {who}")
    assert stranger.say(delta(town.job, own, 1, 1, digest(written), written[0]))
    wait_until(lambda: f"written by a member, {who}" in town.names(), PATIENCE_SECONDS, "carl has that")
    assert stranger.say(delta(town.job, author, 1, 2, digest(lies), b"".join(lies)))
    wait_until(
        lambda: f"{author.device.hex()[:8]}, which nobody of this fleet has let in, came 2 times" in town.journals(),
        PATIENCE_SECONDS, "that is not taken either")
    assert len(said()) == 1, "the log says it once"
    never_during(lambda: "stranger" not in town.carl.connected(), 1, "the connection is closed")
    assert not {"a lie", "a second lie"} & town.names() and author.replica.hex() not in town.carl.vector(town.job)
    town.goes_on()
    stranger.close()


@pytest.mark.parametrize("who", ["no fleet", "another fleet"])
def test_what_follows_without_its_author_is_passed_over(town, other_fleet, who):
    """As honest laptops send it, which tell of an author once."""
    author, lies = outsider(other_fleet, who), things("a lie", "a second lie")
    logged = len(town.carl.log())
    before = town.held()
    stranger = Stranger(town.carl).greet()
    stranger.say(delta(town.job, author, 1, 1, digest(lies[:1]), lies[0]))
    wait_until(lambda: NOT_OF_THE_FLEET in town.carl.log()[logged:], PATIENCE_SECONDS, "it is not taken")
    stranger.say(delta(town.job, author, 1, 2, digest(lies), b"".join(lies), tells=False))
    never_during(lambda: is_closed(town.carl, stranger), 2, "the connection is closed")
    assert town.held() == before
    stranger.close()
