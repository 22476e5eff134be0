"""A laptop that nobody knows joins the fleet by a code. What strangers make of it: test_joining_outsiders.py."""

import shutil
import signal

import pytest
from invitations import (
    CODE,
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
    join,
    joining,
    let_in,
    newcomer,
    path,
    read_code,
    wait_joining,
)
from lab import Stopwatch, finish, is_enrolled, never_during, wait_until
from newcomer import CERTIFICATES, CHARACTERS, INVITER_PROOF, REFUSAL, TRIES_USED_UP, WRONG_CODE, Newcomer, key_in
from newcomer import USED as ALREADY_USED
from probe import avahi_browse
from screen import Screen, picture_in, read
from solo import PATIENCE_SECONDS, wait_agreed
from steps import Crew, wait_together
from stranger import wait_for_log

# As a command ends that may do better later.
TRY_AGAIN = 75


def test_a_laptop_joins_by_code_and_has_the_jobs(anna, bert):
    job = anna.create_job()
    anna.add(job, name="lamp")
    inviting = begin(anna, "fleet", "invite", "--yes")
    code, printed = read_code(inviting)
    assert "█" not in printed, "a pipe gets no picture"
    done = bert.muster("fleet", "join", *code.lower().split("-"))
    assert done.returncode == 0, done
    assert f"Fleet        {anna.get('/v1/fleet')['fleetID']}" in done.stdout
    assert f"key words: {joining(bert)['keyWords']}" in done.stderr
    rest, errors = inviting.communicate(timeout=PATIENCE_SECONDS)
    assert (inviting.returncode, errors) == (0, "") and "is in the fleet now, as member." in rest
    wait_agreed([anna, bert], job)
    lamp = bert.add(job, name="lamp of bert")
    wait_until(lambda: lamp in anna.items(job), PATIENCE_SECONDS, "anna has what bert writes")
    wait_for_log(anna, "a laptop was let in")


def test_both_screens_show_the_same_and_only_a_yes_lets_in(anna, bert, code):
    join(bert, code)
    seen = wait_joining(bert, "waiting")
    assert seen["inviter"] == "anna"
    status = invitation(anna, code)
    assert status["state"] == "waiting" and status["code"] is None, "the code is told once"
    assert status["newcomer"]["name"] == "bert"
    assert status["newcomer"]["keyWords"] == seen["keyWords"]
    assert status["newcomer"]["deviceID"] == bert.get("/v1/fleet")["deviceID"]
    refused, problem = anna.ask("PUT", path(code), {"deviceID": "0" * 64})
    assert (refused, problem["code"]) == (422, "invalidValue"), problem
    never_during(lambda: is_enrolled(bert.state), 0.5, "bert is let in without a yes")
    assert invitation(anna, code)["state"] == "waiting" and "a laptop was let in" not in anna.log()
    admit(anna, code)
    wait_joining(bert, "joined")
    assert bert.get("/v1/fleet")["role"] == "member" and certificates(bert).keys() == {"fleet.pem"}
    wait_until(lambda: anna.connected() == ["bert"], PATIENCE_SECONDS, "they are connected")


def test_a_no_reaches_the_newcomer(anna, bert, code):
    join(bert, code)
    wait_joining(bert, "waiting")
    status, ended = anna.ask("DELETE", path(code))
    assert (status, ended["state"], ended["reason"]) == (200, "ended", WITHDRAWN)
    assert wait_joining(bert, "failed")["reason"] == WITHDRAWN
    device = ended["newcomer"]["deviceID"]
    assert anna.ask("PUT", path(code), {"deviceID": device})[0] == 422, "a no is a no"
    assert certificates(bert) == {} and "a laptop was let in" not in anna.log()


def test_a_typo_costs_nothing(anna, bert, code):
    before = anna.log()
    for place, right in enumerate(code):
        if right != "-":
            wrong = CHARACTERS[CHARACTERS.index(right) - 1]
            status, problem = bert.ask("POST", "/v1/fleet/join", {"code": code[:place] + wrong + code[place + 1 :]})
            assert status == 422 and "There is a mistake in the code" in problem["detail"], problem
    assert joining(bert)["state"] == "idle"
    assert anna.log() == before, "anna has seen nothing"
    let_in(anna, bert, code)


def test_two_wrong_codes_and_then_the_right_one(anna, bert, code):
    for left in (2, 1):
        assert Newcomer().prove(anna, code, is_wrong=True)[1] == (REFUSAL, (WRONG_CODE, left))
    assert invitation(anna, code)["state"] == "unused"
    let_in(anna, bert, code)
    assert anna.log().count("a wrong code came") == 2


def test_three_wrong_codes_end_the_invitation_for_everybody(anna, bert):
    inviting = begin(anna, "fleet", "invite")
    code, _ = read_code(inviting)
    answers = [Newcomer().prove(anna, code, is_wrong=True)[1] for _ in range(3)]
    assert answers == [(REFUSAL, reason) for reason in ((WRONG_CODE, 2), (WRONG_CODE, 1), (TRIES_USED_UP, 0))]
    status = invitation(anna, code)
    assert (status["state"], status["reason"]) == ("ended", USED_UP)
    wait_for_log(anna, "an attempt came for an invitation that is void")
    screens = {"the inviter's": inviting, "the newcomer's": begin(bert, "fleet", "join", code)}
    for whose, command in screens.items():
        printed, errors = command.communicate(timeout=PATIENCE_SECONDS)
        assert command.returncode == TRY_AGAIN and errors.endswith(f"muster: {USED_UP}\n"), (whose, printed, errors)
    assert joining(bert)["state"] == "failed" and certificates(bert) == {}


def test_a_code_works_once(solos, anna, bert, code):
    job = anna.create_job()
    let_in(anna, bert, code)
    wait_agreed([anna, bert], job)
    before = [(certificates(daemon), daemon.digest(job), daemon.vector(job)) for daemon in (anna, bert)]
    cleo = newcomer(solos, "cleo", anna.address)
    join(cleo, code)
    assert wait_joining(cleo, "failed")["reason"] == USED
    wait_for_log(anna, "an attempt came for an invitation that is void")
    assert certificates(cleo) == {} and cleo.get("/v1/jobs") == []
    assert before == [(certificates(daemon), daemon.digest(job), daemon.vector(job)) for daemon in (anna, bert)]
    assert anna.log().count("a laptop was let in") == 1 and invitation(anna, code)["newcomer"]["name"] == "bert"


def test_certificates_that_never_came_are_given_again(anna, code):
    cut_off = Newcomer()
    conversation, (kind, _) = cut_off.prove(anna, code)
    assert kind == INVITER_PROOF
    conversation.close()
    admit(anna, code)
    assert CERTIFICATES not in conversation.kinds, "they did not come"
    given = []
    for _ in range(2):
        conversation, (kind, _) = cut_off.prove(anna, code)
        assert kind == INVITER_PROOF
        given.append(conversation.next())
    assert given[0] == given[1] and given[0][0] == CERTIFICATES
    assert key_in(given[0][1][0]) == cut_off.key
    assert Newcomer().prove(anna, code)[1] == (REFUSAL, (ALREADY_USED, 0)), "another key gets none"
    assert anna.log().count("a laptop was let in") == 1


def test_the_inviter_is_killed_while_a_newcomer_waits(anna, bert, code):
    join(bert, code)
    wait_joining(bert, "waiting")
    anna.kill()
    assert wait_joining(bert, "searching")["inviter"] is None
    anna.start()
    assert anna.ask("GET", path(code))[0] in (404, 422), "the invitation went with the daemon"
    wait_for_log(anna, "a connection was refused")
    assert joining(bert)["state"] == "searching"
    assert bert.ask("DELETE", "/v1/fleet/join")[1]["state"] == "idle"
    assert certificates(bert) == {}


def test_ctrl_c_takes_the_invitation_back(anna):
    for _ in range(3):
        inviting = begin(anna, "fleet", "invite")
        code, printed = read_code(inviting)
        assert "Ctrl-C takes the invitation back" in printed and invitation(anna, code)["state"] == "unused"
        inviting.send_signal(signal.SIGINT)
        _, errors = inviting.communicate(timeout=PATIENCE_SECONDS)
        status = invitation(anna, code)
        assert (inviting.returncode, status["state"], status["reason"]) == (1, "ended", WITHDRAWN), "it is as it said"
        assert "the invitation was taken back" in errors


def test_at_a_terminal_a_camera_reads_the_code_and_a_person_says_yes(anna, bert, tmp_path):
    with Screen(anna, "fleet", "invite") as screen:
        shown = screen.read_until("Waiting for it")
        code = CODE.search(shown)[1]
        assert read(picture_in(shown), str(tmp_path)) == code
        join(bert, code)
        shown = screen.read_until("[y/N]").partition("Waiting for it")[2]
        assert "bert at 127.0.0.1" in shown and joining(bert)["keyWords"] in shown, shown
        assert certificates(bert) == {}
        screen.type("y\n")
        assert screen.wait() == 0 and "is in the fleet now, as member." in screen.shown
    wait_joining(bert, "joined")


@pytest.mark.parametrize("answer", ["n\n", "\x03"], ids=["no", "Ctrl-C"])
def test_at_a_terminal_a_person_says_no(anna, bert, answer):
    with Screen(anna, "fleet", "invite") as screen:
        code = CODE.search(screen.read_until("Waiting for it"))[1]
        join(bert, code)
        screen.read_until("[y/N]")
        screen.type(answer)
        assert screen.wait() == 1, screen.shown
    assert wait_joining(bert, "failed")["reason"] == WITHDRAWN
    assert invitation(anna, code)["state"] == "ended" and certificates(bert) == {}


def test_a_laptop_that_nobody_knows_joins_over_dns_sd(lab, build_directory, founded, measured):
    crew = Crew(lab, build_directory)
    anna, bert = crew.member("anna"), crew.member("bert")
    shutil.copytree(founded, anna.state, dirs_exist_ok=True)
    anna.start(), bert.launch()
    fleet, device = anna.json("fleet", "show")["fleetID"], bert.json("fleet", "show")["deviceID"]
    record = f"muster-{device[:8]}"
    seen = lambda: [service["txt"]["fleet"] for service in avahi_browse(anna.laptop) if service["name"] == record]
    wait_until(lambda: seen() == [""], PATIENCE_SECONDS, "anna's avahi sees a laptop without a fleet")

    inviting = anna.begin("fleet", "invite", "--yes")
    code, _ = read_code(inviting)
    began = Stopwatch()
    bert.muster("fleet", "join", code)
    measured("joining by a code over DNS-SD", began.seconds(), PATIENCE_SECONDS)
    joined = Stopwatch()
    assert "is in the fleet now" in finish([inviting])[0]
    wait_together([anna, bert])
    measured("who has just joined is connected", joined.seconds(), 3)
    wait_until(lambda: seen() == [fleet], PATIENCE_SECONDS, "the record says which fleet it is in")
    assert len(fleet) == 8
    assert bert.log_so_far().count("joining has ended") == 1
