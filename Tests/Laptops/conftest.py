"""Fixtures for the tests with several laptops, and the table of what they measured."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))

from front import Front  # noqa: E402
from invitations import found  # noqa: E402
from lab import Lab, shared_fleet  # noqa: E402
from office import Office  # noqa: E402
from solo import Solos  # noqa: E402

CHECKOUT = os.path.normpath(os.path.join(os.path.dirname(__file__), "..", ".."))
measurements = []


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Lets the fixture below know whether the test has failed."""
    outcome = yield
    if call.when == "call":
        item.has_failed = outcome.get_result().failed


@pytest.fixture
def lab(request):
    """An empty lab, ended after the test. When the test has failed, what its programs said is printed."""
    with Lab() as lab:
        yield lab
        if getattr(request.node, "has_failed", False):
            for laptop in lab.laptops:
                for program in laptop.programs:
                    print(f"--- {laptop.name}, {program.name}\n{program.output()}{program.errors()}")


@pytest.fixture
def solos(build_directory):
    """Daemons on this machine's own loopback, ended after the test."""
    with Solos(build_directory) as solos:
        yield solos


@pytest.fixture
def office(build_directory):
    """A server of the fleet, that answers."""
    with Office(build_directory) as office:
        yield office.join(shared_fleet(build_directory)).start()


@pytest.fixture
def front(office):
    """What stands between a laptop and that server."""
    with Front(office) as front:
        yield front


@pytest.fixture(scope="session")
def founded(build_directory, tmp_path_factory):
    """The state of a laptop that has begun a fleet and may let others in, to be copied."""
    return found(build_directory, str(tmp_path_factory.mktemp("founded")))


@pytest.fixture(scope="session")
def build_directory():
    """Where the built programs are: MUSTER_BUILD, or the debug build of this checkout."""
    return os.environ.get("MUSTER_BUILD", os.path.join(CHECKOUT, ".build", "debug"))


@pytest.fixture
def measured(request):
    """Notes a latency in seconds, and asserts that it is below the limit."""

    def note(what, seconds, limit_seconds):
        measurements.append((what, seconds, limit_seconds))
        assert seconds < limit_seconds, f"{what} took {seconds:.3f} s, allowed are {limit_seconds} s"

    return note


def pytest_sessionfinish(session):
    """Two processes run the tests; a third one prints what they measured."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["measurements"] = measurements


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    measurements.extend(getattr(node, "workeroutput", {}).get("measurements", []))


def pytest_terminal_summary(terminalreporter):
    if not measurements:
        return
    terminalreporter.section("measured")
    for what, seconds, limit_seconds in measurements:
        terminalreporter.write_line(f"{seconds * 1000:7.0f} ms  (limit {limit_seconds * 1000:5.0f} ms)  {what}")
