"""Networks without IPv4: laptops meet, by avahi and by address, and the server is asked."""

import json
import os

import pytest
from lab import Lab, shared_fleet, wait_until
from office import Office
from steps import PATIENCE_SECONDS, Crew, wait_agreed, wait_item, wait_together

PORT = 7473


@pytest.fixture
def sixth():
    """A lab whose laptops have no IPv4 address but that of their loopback."""
    with Lab(ipv6=True, ipv4=False) as lab:
        yield lab


@pytest.fixture
def crew(sixth, build_directory):
    return Crew(sixth, build_directory)


def addresses(laptop, family):
    """Of its interfaces that are no loopback."""
    interfaces = json.loads(laptop.ip("-j", f"-{family}", "addr", "show"))
    return [
        address["local"]
        for interface in interfaces
        if interface.get("ifname") != "lo"
        for address in interface.get("addr_info", [])
    ]


def meet_and_agree(anna, bert):
    wait_together([anna, bert])
    anna.muster("job", "create", "--name", "Home")
    wait_agreed([anna, bert], "Home", PATIENCE_SECONDS)
    bert.muster("item", "add", "Home", "name=lamp")
    wait_item(anna, "Home", "lamp", PATIENCE_SECONDS)


def test_laptops_find_each_other_where_there_is_no_ipv4(crew):
    anna, bert = crew.together("anna", "bert")
    for member in (anna, bert):
        assert addresses(member.laptop, 4) == [] and "fd77::" in " ".join(addresses(member.laptop, 6))
    meet_and_agree(anna, bert)
    (peer,) = anna.json("peers")
    assert peer["address"].startswith("[fd77::2]:") or peer["address"].startswith("[fe80::"), peer
    assert peer["address"].rsplit("]", 1)[0] in anna.muster("peers")


@pytest.mark.parametrize("is_link_local", [False, True])
def test_a_peer_is_named_by_its_sixth_address(crew, is_link_local):
    anna, bert = crew.member("anna", avahi=False), crew.member("bert", avahi=False)
    address = anna.laptop.address
    if is_link_local:
        address = wait_until(
            lambda: [one for one in addresses(anna.laptop, 6) if one.startswith("fe80:")], PATIENCE_SECONDS, "it has one"
        )[0] + "%eth0"
    anna.start("--no-discovery", "--listen", f"[{address}]:{PORT}")
    bert.start("--no-discovery", "--peer", f"[{address}]:{PORT}")
    meet_and_agree(anna, bert)
    (peer,) = bert.json("peers")
    assert peer["address"] == f"[{address}]:{PORT}", peer


def test_settings_of_a_file_name_sixth_addresses(crew):
    anna, bert = crew.member("anna", avahi=False), crew.member("bert", avahi=False)
    anna.start("--no-discovery")
    path = os.path.join(bert.laptop.directory, "muster.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"listen": f"[::]:{PORT}", "peers": [anna.address], "discovery": False}, file)
    bert.start("--config", path)
    meet_and_agree(anna, bert)


def test_a_server_is_asked_at_its_sixth_address(crew, build_directory):
    anna, bert = crew.member("anna", avahi=False), crew.member("bert", avahi=False)
    with Office(build_directory) as office:
        office.join(shared_fleet(build_directory))
        listen = f"[{anna.laptop.address}]:7480"
        program = anna.laptop.start(
            office.command("--listen", listen), environment={"STATE_DIRECTORY": office.directory})
        bert.start("--no-discovery", "--server", f"https://{listen}", "--server-interval", "1")
        # No default route leads there, nor anywhere else.
        assert bert.laptop.ip("-6", "route", "show", "default") == ""
        wait_until(lambda: "the server answers" in bert.log_so_far(), PATIENCE_SECONDS, "the server is asked")
        bert.muster("job", "create", "--name", "Home")
        wait_until(
            lambda: bert.json("status")["server"]["state"] == "reached" and bert.json("queue", "list") == [],
            PATIENCE_SECONDS, "the server has the job")
        program.stop()


def test_a_listener_of_both_families_takes_laptops_without_ipv6(lab, build_directory):
    crew = Crew(lab, build_directory)
    anna, bert = crew.member("anna", avahi=False), crew.member("bert", avahi=False)
    anna.start("--no-discovery", "--listen", f"[::]:{PORT}")
    bert.start("--no-discovery", "--peer", anna.address)
    meet_and_agree(anna, bert)
    (peer,) = anna.json("peers")
    assert peer["address"].startswith(f"{bert.laptop.address}:"), peer
