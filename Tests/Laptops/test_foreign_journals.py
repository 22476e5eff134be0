"""What nobody of the fleet has written is passed over, and the rest of what the same peer brings is welcome."""

import pytest
from authors import Author, digest
from lab import Fleet, never_during, wait_until
from relays import is_closed, things, town  # noqa: F401
from solo import PATIENCE_SECONDS
from stranger import Member, Stranger, delta

NOT_OF_THE_FLEET = "nobody whom the fleet lets write has written it"


@pytest.fixture(scope="module")
def other_fleet(build_directory):
    fleet = Fleet(build_directory)
    yield fleet
    fleet.end()


class Told:
    """Carl, to whom a member brings the first of two lies of somebody who is not of the fleet."""

    def __init__(self, town, other_fleet, who):
        self.author = {
            "no fleet": Author,
            "another fleet": lambda: Member(other_fleet).author(),
            "a reader": lambda: Member(town.carl.fleet, role="reader").author(),
        }[who]()
        self.lies = things("a lie", "a second lie")
        self._carl, self._logged = town.carl, len(town.carl.log())
        self.before = town.held()
        self.stranger = Stranger(town.carl).greet()
        assert self.stranger.say(delta(town.job, self.author, 1, 1, digest(self.lies[:1]), self.lies[0]))
        wait_until(
            lambda: self.said() and self.author.replica.hex() in self.said()[0], PATIENCE_SECONDS, town.carl.log())

    def said(self):
        """What carl's log has said since of what he does not take."""
        return [line for line in self._carl.log()[self._logged :].splitlines() if NOT_OF_THE_FLEET in line]

    def both(self, job, **tells):
        """The two lies as one run."""
        return delta(job, self.author, 1, 2, digest(self.lies), b"".join(self.lies), **tells)


@pytest.mark.parametrize("who", ["no fleet", "another fleet", "a reader"])
def test_what_nobody_of_the_fleet_has_written_is_passed_over(town, other_fleet, who):
    told = Told(town, other_fleet, who)
    whose = f"work of {told.author.device.hex()[:8]}, whom this fleet does not let write, came"
    assert f"{whose} once" in town.journals()
    assert town.held() == told.before
    # What others have written is welcome on the same connection, and the journal is not, however it goes on.
    own, written = told.stranger.author(), things(f"written by a member, {who}")
    assert told.stranger.say(delta(town.job, own, 1, 1, digest(written), written[0]))
    wait_until(lambda: f"written by a member, {who}" in town.names(), PATIENCE_SECONDS, "carl has that")
    assert told.stranger.say(told.both(town.job))
    wait_until(lambda: f"{whose} 2 times" in town.journals(), PATIENCE_SECONDS, "that is not taken either")
    assert len(told.said()) == 1, "the log says it once"
    never_during(lambda: "stranger" not in town.carl.connected(), 1, "the connection is closed")
    assert not set(("a lie", "a second lie")) & town.names()
    assert told.author.replica.hex() not in town.carl.vector(town.job)
    town.goes_on()
    told.stranger.close()


@pytest.mark.parametrize("who", ["no fleet", "another fleet"])
def test_what_follows_without_its_author_is_passed_over(town, other_fleet, who):
    """As honest laptops send it, which tell of an author once."""
    told = Told(town, other_fleet, who)
    told.stranger.say(told.both(town.job, tells=False))
    never_during(lambda: is_closed(town.carl, told.stranger), 2, "the connection is closed")
    assert town.held() == told.before
    told.stranger.close()
