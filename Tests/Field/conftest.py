"""What the day needs: a root, packages, networks; and how long each of its steps took."""

import os
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "Laptops"), str(TESTS / "Field")]


def pytest_configure(config):
    if "MUSTER_PACKAGES" not in os.environ:
        raise pytest.UsageError("MUSTER_PACKAGES has to name the directory of the packages; Tests/field sets it.")


@pytest.fixture(scope="session")
def day():
    """One day for all steps, which follow each other in the order of the files."""
    from day import Day

    with Day() as day:
        yield day


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Lets the next steps know that one has failed: the day is one story."""
    outcome = yield
    if call.when != "teardown" and outcome.get_result().failed:
        item.session.failed_step = item.name
        if "day" in item.funcargs:
            item.funcargs["day"].report()


def pytest_runtest_logreport(report):
    """The day as it goes, with its times."""
    if report.when == "call" or report.failed:
        print(f"\n{report.duration:6.1f} s  {report.outcome}  {report.nodeid.rpartition('::')[2]} ", end="", flush=True)


def pytest_runtest_setup(item):
    failed = getattr(item.session, "failed_step", None)
    if failed:
        pytest.skip(f"the day ended at {failed}")
