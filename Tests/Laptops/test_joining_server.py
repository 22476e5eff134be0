"""The company's server joins the fleet by a code. How laptops do: test_joining.py. What breaks in the middle:
test_joining_server_faults.py."""

import glob
import os
import subprocess

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from false_inviters import Collector
from gateways import advance, server_flags, wait_published
from invitations import (
    CODE,
    LEFT,
    USED,
    USED_UP,
    WITHDRAWN,
    admit,
    anna,
    begin,
    bert,
    certificates,
    code,
    invitation,
    invite,
    join,
    let_in,
    newcomer,
    path,
    read_code,
    wait_joining,
)
from lab import finish, shared_fleet, wait_until
from newcomer import OTHER_KIND, REFUSAL, Newcomer, ask, mistaken
from office import Office
from screen import Screen
from server_joining import (
    BAD_DATA,
    FOR_A_LAPTOP,
    FOR_A_SERVER,
    TRY_AGAIN,
    UNAVAILABLE,
    Joining,
    is_out,
    joins,
    let_server_in,
    papers,
    server,
    servers_code,
    standing,
)
from solo import PATIENCE_SECONDS
from steps import Crew
from stranger import wait_for_log


@pytest.mark.parametrize("runs", [False, True], ids=["before it serves", "while it serves"])
def test_a_server_joins_by_code_and_serves_a_laptop_of_that_fleet(server, anna, runs):
    if runs:
        server.launch()
        wait_until(lambda: "belongs to no fleet" in server.log(), PATIENCE_SECONDS, "it serves nobody yet")
    inviting = begin(anna, "fleet", "invite", "--role", "server", "--yes")
    code, printed = read_code(inviting)
    assert f"On the server: muster-channel fleet join {code}" in printed
    done = server.muster_channel("fleet", "join", *code.lower().split("-"), "--inviter", anna.address)
    rest, errors = inviting.communicate(timeout=PATIENCE_SECONDS)
    assert (inviting.returncode, errors) == (0, "") and "is in the fleet now, as server." in rest
    wait_for_log(anna, "the server was let in")
    status, mine = standing(server), anna.get("/v1/fleet")
    assert (status["fleetID"], status["issuerID"]) == (mine["fleetID"], mine["deviceID"][:8])
    known = next(device for device in anna.get("/v1/fleet/devices") if device["role"] == "server")
    assert (known["deviceID"], known["name"]) == (status["deviceID"], os.uname().nodename)
    assert f"key words: {known['keyWords']}" in done.stderr
    assert status["fleetID"] in done.stdout and "as the company's server" in done.stderr
    if not runs:
        server.launch()
    assert anna.stop() == 0
    anna.start(*server_flags(server.url))
    job = anna.create_job()
    advance(anna, job, "scheduled")
    wait_published([anna], job, "scheduled")


def test_both_screens_show_the_same_words_and_that_it_is_the_server(server, anna):
    with Screen(anna, "fleet", "invite", "--role", "server") as screen:
        code = CODE.search(screen.read_until("Waiting for it"))[1]
        joining = joins(server, code, anna).until_proved()
        words = invitation(anna, code)["newcomer"]["keyWords"]
        assert f"This server's key words: {words}\n" in joining.said
        assert "anna invites it as the company's server" in joining.said
        shown = " ".join(screen.read_until("[y/N]").split())
        assert words in shown and "would be the company's server" in shown and "may it come in as server?" in shown
        assert is_out(server), "nobody has said yes"
        screen.type("y\n")
        assert screen.wait() == 0
    assert joining.end()[0] == 0 and not is_out(server)


def test_a_no_reaches_the_server(server, anna, servers_code):
    joining = joins(server, servers_code, anna).until_proved()
    assert anna.ask("DELETE", path(servers_code))[0] == 200
    assert joining.end() == (TRY_AGAIN, WITHDRAWN) and is_out(server)
    assert joins(server, servers_code, anna).end() == (TRY_AGAIN, WITHDRAWN), "it is void"


def test_an_invitation_is_for_a_laptop_or_for_a_server(server, anna, bert, code, servers_code):
    assert joins(server, code, anna).end() == (BAD_DATA, FOR_A_LAPTOP) and is_out(server)
    join(bert, servers_code)
    assert wait_joining(bert, "failed")["reason"] == FOR_A_SERVER and certificates(bert) == {}
    # By their own word they are what they are, whatever they would prove.
    for role, wrong in (("reader", servers_code), ("office", servers_code), ("server", code), ("proxy", code)):
        with Newcomer(role).connect(anna) as conversation:
            conversation.say(ask(wrong[:4]))
            assert conversation.next() == (REFUSAL, (OTHER_KIND, 0)), role
    assert "a wrong code came" not in anna.log()
    let_server_in(server, servers_code, anna)
    let_in(anna, bert, code)


@pytest.mark.parametrize("who", ["bert", "server"])
def test_no_key_is_a_laptops_and_a_servers(server, anna, bert, code, servers_code, who):
    """Whoever is known in the fleet as the one does not become the other, whatever it says of itself."""
    let_in(anna, bert, code)
    let_server_in(server, servers_code, anna)
    if who == "bert":
        with open(os.path.join(bert.state, "device.key"), "rb") as file:
            key, role = file.read(), "server"
    else:
        key, role = papers(server)[0].encode(), "member"
    liar = Newcomer(role, load_pem_private_key(key, None))
    with liar.connect(anna) as conversation:
        conversation.say(ask(invite(anna, role)[:4]))
        assert conversation.next() == (REFUSAL, (OTHER_KIND, 0))


@pytest.mark.parametrize("asked", ["a server", "a laptop"])
def test_nobody_is_shown_a_proof_for_a_role_that_is_not_its_own(solos, server, anna, code, asked):
    conversation, (root, _, _) = Newcomer().ask(anna, code)
    conversation.close()
    with Collector(root, "anna", role="office" if asked == "a server" else "server") as false:
        if asked == "a server":
            assert Joining(server, code, "--inviter", false.address).end() == (BAD_DATA, FOR_A_LAPTOP)
        else:
            cleo = newcomer(solos, "cleo", false.address)
            join(cleo, code)
            assert wait_joining(cleo, "failed")["reason"] == FOR_A_SERVER
    assert false.proofs == []


def test_wrong_codes_end_the_invitation_and_change_nothing(server, anna, servers_code):
    wrong = mistaken(servers_code)
    for sentence in [*LEFT, USED_UP]:
        assert joins(server, wrong, anna).end() == (TRY_AGAIN, sentence)
    assert invitation(anna, servers_code)["reason"] == USED_UP
    assert joins(server, servers_code, anna).end() == (TRY_AGAIN, USED_UP), "now the right one is void, too"
    assert is_out(server) and "was let in" not in anna.log()


def test_a_code_lets_one_server_in(server, build_directory, anna, servers_code):
    let_server_in(server, servers_code, anna)
    before = papers(server)
    with Office(build_directory) as other:
        assert joins(other, servers_code, anna).end() == (TRY_AGAIN, USED) and is_out(other)
    assert papers(server) == before and anna.log().count("was let in") == 1


def test_what_cannot_begin_makes_no_database(server, anna, servers_code):
    typo = ("1" if servers_code[0] != "1" else "2") + servers_code[1:]
    for words, status, sentence in (
        ([typo, "--inviter", anna.address], 65, "There is a mistake in the code, and nothing was tried with it"),
        (["7K3M"], 65, "A code has 16 characters, this one has 4"),
        ([servers_code, "--inviter", "anna"], 64, "'anna' is no address; write --inviter HOST:PORT"),
    ):
        done = subprocess.run(server.command("fleet", "join", *words), capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (status, "") and sentence in done.stderr, done
        assert not os.path.exists(server.store)
    assert invitation(anna, servers_code)["state"] == "unused"


def test_without_avahi_it_says_so_and_asks_for_an_address(server, anna, servers_code):
    nowhere = {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"}
    status, sentence = Joining(server, servers_code, **nowhere).end()
    assert status == UNAVAILABLE and "avahi-daemon does not answer" in sentence and "--inviter HOST:PORT" in sentence
    assert is_out(server)
    joining = Joining(server, servers_code, "--inviter", anna.address, **nowhere).until_proved()
    admit(anna, servers_code)
    assert joining.end()[0] == 0


def test_it_runs_where_avahis_library_is_not_installed(server, anna, servers_code):
    (library,) = {os.path.realpath(path) for path in glob.glob("/usr/lib/*/libdns_sd.so.1")}
    without = lambda command: ["unshare", "-m", "sh", "-c", f'mount --bind /dev/null {library} && exec "$@"', "sh", *command]
    status, sentence = Joining(server, servers_code, inside=without).end()
    assert status == UNAVAILABLE and "avahi's library is not installed" in sentence and "--inviter" in sentence, sentence
    joining = Joining(server, servers_code, "--inviter", anna.address, inside=without).until_proved()
    admit(anna, servers_code)
    assert joining.end()[0] == 0
    shown = subprocess.run(without(server.command("fleet", "show")), capture_output=True, text=True)
    assert shown.returncode == 0 and anna.get("/v1/fleet")["fleetID"] in shown.stdout, shown


def test_another_fleet_needs_a_word_and_the_same_one_renews(server, anna, servers_code):
    server.join(shared_fleet(os.path.dirname(server.command()[0])))
    before = papers(server)
    status, sentence = joins(server, servers_code, anna).end()
    assert status == BAD_DATA and "give --another-fleet if it is to change" in sentence and papers(server) == before
    assert invitation(anna, servers_code)["state"] == "unused", "it has proved nothing"
    let_server_in(server, servers_code, anna, "--another-fleet")
    first = papers(server)
    assert standing(server)["fleetID"] == anna.get("/v1/fleet")["fleetID"] and first[0] == before[0]
    let_server_in(server, invite(anna, "server"), anna)
    assert papers(server)[1] != first[1] and papers(server)[0] == before[0], "another certificate of the same key"


def test_nobody_invites_a_proxy_or_whom_they_may_not(anna):
    status, problem = anna.ask("POST", "/v1/fleet/invitations", {"role": "proxy"})
    assert status == 422 and "A proxy is let in by file" in problem["detail"]
    anna.stop()
    # Whoever is no issuer.
    os.remove(os.path.join(anna.state, "issuer.pem"))
    anna.start()
    status, problem = anna.ask("POST", "/v1/fleet/invitations", {"role": "server"})
    assert status == 403 and "may not let others in" in problem["detail"]


def test_a_server_finds_its_inviter_by_dns_sd(lab, build_directory, server):
    crew = Crew(lab, build_directory)
    anna = crew.member("anna")
    machine = lab.laptop("office")
    anna.launch()
    passphrase = os.path.join(anna.laptop.directory, "passphrase")
    with open(passphrase, "w", encoding="utf-8") as file:
        file.write("a drawer of its own\n")
    anna.muster("fleet", "init", "--root", f"{passphrase}.root", "--passphrase-file", passphrase)
    inviting = anna.begin("fleet", "invite", "--role", "server", "--yes")
    code, _ = read_code(inviting)
    joining = Joining(server, code, inside=machine.inside)
    assert joining.end()[0] == 0, joining.said
    assert "anna invites it" in joining.said and "is in the fleet now, as server" in finish([inviting])[0]
    assert standing(server)["fleetID"] == anna.json("fleet", "show")["fleetID"]
