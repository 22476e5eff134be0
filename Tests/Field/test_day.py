"""A day in the field, step by step. A step that fails ends the day."""

import pytest
from crew import wait_agreed, wait_connected
from day import Day


@pytest.fixture(scope="module")
def day():
    with Day() as day:
        yield day


def test_machines_boot_in_any_order_and_take_the_packages(day):
    for machine in (day.laptops[2], day.server, day.laptops[0], day.laptops[1]):
        machine.boot()
    day.install()
    for member in day.crew:
        day.configure(member)
    assert len({machine.boot_id() for machine in day.machines}) == len(day.machines)


def test_laptops_and_server_join_by_a_code(day):
    day.found()
    day.let_server_in()
    day.let_in(day.anna)
    day.let_in(day.ben)
    day.meet()


def test_the_crew_works(day):
    job = day.create_job(day.anna, "morning")
    wait_agreed(day.crew, job)
    day.everybody_works(job)
    day.ben.ask(job, "dispatched")
    day.wait_carried_out(job, "dispatched")
    day.agree()
