"""Networks: another subnet, a bad link, access points that keep laptops apart, no way to the office."""

from crew import PATIENCE_SECONDS, wait_connected
from lab.waiting import wait_until

# A bad mobile connection.
DELAY_MILLISECONDS, LOSS_PERCENT, KILOBITS = 150, 10, 1_000


def test_a_laptop_goes_to_the_cafe_and_comes_back(day):
    anna = day.anna.machine
    anna.move("cafe")
    wait_until(lambda: anna.pings(day.server), PATIENCE_SECONDS, "the café has the internet")
    assert not anna.pings(day.lea.machine)
    day.work()
    day.ask(day.anna, day.garage)
    # By way of the server.
    day.wait_carried_out(day.garage)
    day.agree()
    wait_connected(day.anna)
    anna.move("house")
    wait_until(lambda: anna.pings(day.lea.machine), PATIENCE_SECONDS, "anna is in the house again")
    day.meet()
    day.work()
    day.agree()


def test_a_link_is_slow_and_loses_packets(day):
    ben = day.ben.machine
    day.network.impair(ben, "house", DELAY_MILLISECONDS, LOSS_PERCENT, KILOBITS)
    assert ben.round_trip_milliseconds(day.lea.machine) >= 2 * DELAY_MILLISECONDS
    day.work()
    ben.run(["systemctl", "restart", "musterd"])
    day.ben.wait_ready()
    day.work()
    day.ask(day.ben, day.cellar)
    day.wait_carried_out(day.cellar)
    day.agree()
    passed, lost = day.network.repair(ben, "house")
    assert passed > 100 and lost > 5, f"{passed} frames passed, {lost} were lost"
    day.meet()


def test_an_access_point_lets_nobody_reach_anybody(day):
    names = [member.name for member in day.crew]
    day.network.isolate(names, True)
    for member in day.crew:
        assert member.machine.pings(day.server)
        assert not any(member.machine.pings(other.machine) for other in day.crew if other is not member)
    day.work()
    day.ask(day.lea, day.attic)
    day.wait_carried_out(day.attic)
    day.agree()
    day.network.isolate(names, False)
    day.meet()


def test_an_access_point_passes_no_multicast_on(day):
    day.network.mute([member.name for member in day.crew], True)
    day.network.cut("server")
    # Whoever has found somebody before goes on knowing the address; after this nobody knows anybody.
    for member in day.crew:
        member.machine.shut_down()
    for member in day.crew:
        member.machine.boot()
    for member in day.crew:
        member.machine.wait_running()
        member.wait_ready()
    for member in day.crew:
        wait_until(member.machine.neighbours, PATIENCE_SECONDS, f"{member.name} is announced")
        assert member.machine.neighbours() == {member.service}
        assert member.connected() == []
    day.work()
    for member in day.crew:
        day.configure(member, peers=[other for other in day.crew if other is not member])
    day.meet()
    day.work()
    day.agree()
    day.network.mute([member.name for member in day.crew], False)
    day.network.heal("server")
    for member in day.crew:
        day.configure(member)
    day.meet()


def test_the_way_to_the_office_goes_and_comes(day):
    day.network.cut("server")
    assert not day.lea.machine.pings(day.server)
    day.ask(day.ben, day.attic)
    day.ask(day.anna, day.cellar)
    day.work()
    day.agree()
    for member in day.crew:
        wait_until(lambda: member.state(day.attic)["pending"], PATIENCE_SECONDS, f"{member.name} shows what waits")
    day.network.heal("server")
    day.wait_carried_out(day.attic)
    day.wait_carried_out(day.cellar)
