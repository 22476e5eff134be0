"""Addresses that people name: dialled at once and after a restart, told why they are not reached, taken back."""

import json

import pytest
from lab import free_port, wait_until
from solo import PATIENCE_SECONDS, Solo


@pytest.fixture
def pair(tmp_path, build_directory):
    solos = [Solo(str(tmp_path), build_directory, name).start() for name in ("anna", "bert")]
    yield solos
    for solo in solos:
        solo.stop()


def said(solo, *arguments, fails=False):
    outcome = solo.muster(*arguments)
    assert (outcome.returncode != 0) == fails, (arguments, outcome)
    return outcome.stdout if not fails else " ".join(outcome.stderr.split())


def test_an_address_is_dialled_at_once_and_after_a_crash_until_it_is_removed(pair):
    anna, bert = pair
    assert bert.address in said(anna, "peers", "add", bert.address)
    wait_until(lambda: anna.connected() == ["bert"], PATIENCE_SECONDS, "they meet")
    anna.kill()
    anna.start()
    wait_until(lambda: anna.connected() == ["bert"], PATIENCE_SECONDS, "they meet again")
    assert bert.address in said(anna, "peers", "remove", bert.address)
    wait_until(lambda: anna.connected() == [], PATIENCE_SECONDS, "the connection has ended")
    assert anna.get("/v1/peers") == []
    anna.stop()
    anna.start()
    assert anna.get("/v1/peers") == [], "it was dialled again"
    assert "was not added" in said(anna, "peers", "remove", bert.address, fails=True)


def test_who_does_not_answer_is_shown_with_the_reason(pair):
    anna, _ = pair
    nobody = f"127.0.0.1:{free_port()}"
    said(anna, "peers", "add", nobody)
    def reason():
        return [peer["reason"] for peer in anna.get("/v1/peers") if peer["state"] == "unreachable"]
    wait_until(lambda: reason() == ["Connection refused."], PATIENCE_SECONDS, "it is told why")
    said(anna, "peers", "add", "nobody.invalid")
    wait_until(lambda: any("nobody.invalid" in text for text in reason()), PATIENCE_SECONDS, "the name is not known")


def test_one_of_the_settings_is_taken_out_there(pair):
    anna, bert = pair
    anna.stop()
    anna.start("--peer", bert.address)
    wait_until(lambda: anna.connected() == ["bert"], PATIENCE_SECONDS, "they meet")
    refusal = said(anna, "peers", "remove", bert.address, fails=True)
    assert "settings" in refusal and refusal.count(". ") == 0, refusal
    assert anna.connected() == ["bert"]


@pytest.mark.parametrize("address", ["bert:", "bert:0", "fe80::1:7473", "a b", "[bert]:1"])
def test_what_is_no_address_gets_one_sentence(pair, address):
    anna, _ = pair
    refusal = said(anna, "peers", "add", address, fails=True)
    assert "HOST:PORT" in refusal and refusal.count("muster: ") == 1, refusal
    assert anna.get("/v1/peers") == []


def test_the_own_address_is_none_of_the_loopback(pair):
    anna, _ = pair
    # It listens on this machine only.
    assert json.loads(said(anna, "peers", "address", "--json")) == []
