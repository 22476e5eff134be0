"""The morning: machines boot, laptops join, the crew works; laptops are suspended and wake up."""

import time

from crew import PATIENCE_SECONDS, wait_connected
from lab.waiting import wait_until

SUSPENDED_SECONDS = 8


def test_machines_boot_in_any_order_and_take_the_packages(day):
    for machine in (day.laptops[2], day.server, day.laptops[0], day.laptops[1]):
        machine.boot()
    day.install()
    for member in day.crew:
        day.configure(member)
        # Nobody is of its fleet yet.
        assert not member.machine.listens("musterd")
    day.configure_server()
    assert len({machine.boot_id() for machine in day.machines}) == len(day.machines)


def test_laptops_and_server_join_by_a_code(day):
    day.found()
    day.let_server_in()
    day.let_in(day.anna)
    day.let_in(day.ben)
    day.meet()
    day.open_desk()


def test_the_crew_works(day):
    for member, name in ((day.anna, "attic"), (day.ben, "cellar"), (day.lea, "garage")):
        day.create_job(member, name)
    day.attic, day.cellar, day.garage = day.jobs
    day.agree()
    day.work()
    day.ask(day.ben, day.attic)
    day.wait_carried_out(day.attic)
    day.agree()


def test_a_suspended_laptop_wakes_up(day):
    ben = day.ben.machine
    process = ben.main_process("musterd")
    ben.suspend()
    since = time.time()
    day.work([day.lea, day.anna])
    day.agree([day.lea, day.anna])
    wait_until(lambda: time.time() - since > SUSPENDED_SECONDS, PATIENCE_SECONDS, "time goes on")
    assert ben.group.is_frozen()
    ben.resume()
    assert day.ben.digest(day.attic) is not None
    day.agree()
    assert ben.main_process("musterd") == process
    day.work()
    day.agree()


def test_a_laptop_that_was_given_up_wakes_up(day):
    anna = day.anna.machine
    process = anna.main_process("musterd")
    anna.suspend()
    wait_connected(day.lea, day.ben)
    wait_connected(day.ben, day.lea)
    day.work([day.lea, day.ben])
    assert anna.group.is_frozen()
    anna.resume()
    day.meet()
    assert anna.main_process("musterd") == process
    day.work([day.anna])
    day.agree()
