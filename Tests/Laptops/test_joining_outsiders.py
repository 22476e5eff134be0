"""Strangers around an invitation: they learn nothing, get nothing, and keep nobody from joining."""

import struct
import time

import pytest
from attacks import assert_kept, kept
from false_inviters import Between, Collector, Refuser
from invitations import (
    FOUND_SECONDS,
    LEFT,
    admit,
    anna,
    bert,
    certificates,
    code,
    invitation,
    invite,
    join,
    joining,
    let_in,
    newcomer,
    wait_joining,
)
from lab import never_during, wait_until
from newcomer import (
    ASK,
    ELSEWHERE,
    NEWCOMER_PROOF,
    REFUSAL,
    TERMS,
    WRONG_CODE,
    Flood,
    Newcomer,
    ask,
    inviter_proof,
    newcomer_proof,
    terms,
)
from solo import PATIENCE_SECONDS
from stranger import frame, wait_for_log


def test_who_stands_between_lets_nobody_in(solos, anna, code):
    with Between(anna) as between:
        bert = newcomer(solos, "bert", between.address)
        join(bert, code)
        assert wait_joining(bert, "failed")["reason"] == LEFT[0]
    assert (between.asked, between.answered) == ([ASK, NEWCOMER_PROOF], [TERMS, REFUSAL]), "it passed everything on"
    wait_for_log(anna, "a wrong code came")
    assert certificates(bert) == {} and invitation(anna, code)["state"] == "unused"
    assert Newcomer().prove(anna, code, is_wrong=True)[1] == (REFUSAL, (WRONG_CODE, 1)), "it has cost one try"


@pytest.mark.parametrize("who", ["alone", "beside the true one"])
def test_a_false_inviter_is_not_believed(solos, anna, code, who):
    """It collects proofs, and has the true inviter's terms."""
    conversation, (root, _, _) = Newcomer().ask(anna, code)
    conversation.close()
    with Collector(root, name="anna") as false:
        bert = newcomer(solos, "bert", false.address, *([anna.address] if who != "alone" else []))
        join(bert, code)
        wait_for_log(bert, "a laptop claims an invitation and does not know its code")
        assert len(false.proofs[0]) == 32
        if who == "alone":
            never_during(lambda: joining(bert)["state"] != "searching", 1.5, "bert believes it")
            assert certificates(bert) == {}
        else:
            admit(anna, code)
            wait_joining(bert, "joined")
            assert bert.get("/v1/fleet")["issuerID"] == anna.get("/v1/fleet")["deviceID"][:8]
    assert "a wrong code came" not in anna.log()


def test_nobody_says_no_for_the_inviter(solos, anna, code):
    """Whoever refuses has proved nothing, and may not end what the true inviter has begun."""
    conversation, (root, _, _) = Newcomer().ask(anna, code)
    conversation.close()
    with Refuser(root, name="anna") as false:
        bert = newcomer(solos, "bert", false.address, anna.address)
        join(bert, code)
        wait_until(lambda: false.proofs, FOUND_SECONDS, "it was asked, and has refused")
        admit(anna, code)
        wait_until(lambda: joining(bert)["state"] in ("joined", "failed"), PATIENCE_SECONDS, "joining ends")
        assert (joining(bert)["state"], joining(bert)["reason"]) == ("joined", None)


def joining_alone_and_among_guesses(solos, anna, number):
    """How long a laptop takes to join, and how long while a thousand guess, in seconds."""
    took = []
    for name, guesses in ((f"bert{number}", 0), (f"cleo{number}", 1_000)):
        daemon = newcomer(solos, name, anna.address)
        code = invite(anna)
        flood = Flood(anna, code[:4], guesses)
        wait_until(lambda: len(flood.refused) >= min(guesses, 16), PATIENCE_SECONDS, f"guesses come: {flood.other}")
        began = time.monotonic()
        let_in(anna, daemon, code)
        took.append(time.monotonic() - began)
        assert guesses == 0 or not flood.is_over, "they came all the while"
    wait_until(lambda: flood.is_over, 60, "all guesses were answered")
    assert len(flood.refused) >= 1_000 and set(flood.refused) == {(ELSEWHERE, 0)}
    assert flood.other == []
    assert "a wrong code came" not in anna.log() and invitation(anna, code)["state"] == "admitted"
    return took


def test_a_thousand_guesses_cost_nothing(solos, anna, measured):
    # Whoever guesses has the same processors here as who joins: of three rounds the calmest tells what the inviter adds.
    rounds = []
    for number in range(3):
        rounds.append(joining_alone_and_among_guesses(solos, anna, number))
        if rounds[-1][1] < rounds[-1][0] + 2:
            break
    alone, among = min(rounds, key=lambda took: took[1] - took[0])
    measured("joining by a code, and nobody guesses", alone, PATIENCE_SECONDS)
    measured("the same while a thousand names are guessed", among, alone + 2)


def test_without_an_open_invitation_nobody_is_heard(anna):
    before = kept(anna)
    with Newcomer().connect(anna) as conversation:
        conversation.say(ask("7K3M"))
        assert conversation.next() == (None, None) and conversation.kinds == []
    wait_for_log(anna, "a connection was refused")
    wait_for_log(anna, "It is in no fleet yet")
    assert_kept(anna, before)


def test_what_no_newcomer_says_closes_its_own_connection_only(anna, bert, code):
    name, before = code[:4], kept(anna)
    patient, given = Newcomer().ask(anna, code)
    unsound = {
        "oversized": [struct.pack(">I", 0xFFFFFFFF)],
        "a little oversized": [struct.pack(">I", (16 << 10) + 1)],
        "no protobuf": [frame(b"\xff" * 100)],
        "HTTP": [b"GET / HTTP/1.1\r\nHost: muster\r\n\r\n"],
        "nothing": [frame(b"")],
        "a long name": [ask("A" * 17)],
        "a control character": [ask(name, "an\x1b[2Jna")],
        "a short proof": [ask(name), newcomer_proof(bytes(31))],
        "a long proof": [ask(name), newcomer_proof(bytes(33))],
        "a proof first": [newcomer_proof(bytes(32))],
        "two questions": [ask(name), ask(name)],
        "the inviter's part": [terms(given[0])],
        "the inviter's proof": [ask(name), inviter_proof(bytes(32))],
        "six at once": [ask(name) * 6],
        "half a frame": [ask(name)[:6], None],
    }
    for what, said in unsound.items():
        with Newcomer().connect(anna) as conversation:
            for part in said:
                if part is None:
                    conversation.hang_up()
                else:
                    conversation.say(part)
            assert conversation.is_closed_within(5), what
            assert set(conversation.kinds) <= {TERMS}, what
    patient.say(newcomer_proof(bytes(32)))
    assert patient.next() == (REFUSAL, (WRONG_CODE, 2)), "it goes on, and nothing has cost a try before"
    assert_kept(anna, before)
    let_in(anna, bert, code)
    assert anna.log().count("a wrong code came") == 1
