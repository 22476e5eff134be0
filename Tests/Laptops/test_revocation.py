"""A laptop is shut out of the fleet for good. What its thief makes of it: test_revocation_attacks.py, and what breaks:
test_revocation_faults.py."""

from invitations import anna, invitation, invite, join, let_in, newcomer, path
from lab import Stopwatch, never_during, wait_until
from revoking import (
    CUT_OFF_SECONDS,
    REFUSED,
    certify,
    crew,
    enlist,
    entries,
    forget_revocations,
    identifier,
    kept,
    member_of,
    revoke,
    revoked,
    root,
    wait_kept_alike,
    wait_revoked,
)
from solo import PATIENCE_SECONDS, wait_agreed
from stranger import wait_for_log

# As sysexits.h has it: what was given is wrong.
DATA, NOT_PERMITTED = 65, 77


def test_a_revoked_laptop_is_cut_off_by_everybody(crew, measured):
    anna, bert, cleo = crew.all
    before = bert.add(crew.job, name="before")
    wait_agreed(crew.all, crew.job)
    device = identifier(bert)
    began = Stopwatch()
    done = anna.muster("fleet", "revoke", "bert", "--yes")
    assert done.returncode == 0 and "revoked" in done.stdout, done
    for daemon, rest in ((anna, ["cleo"]), (cleo, ["anna"]), (bert, [])):
        cut_off = lambda: daemon.connected() == rest
        wait_until(cut_off, PATIENCE_SECONDS, f"{daemon.name} has only {rest}: {daemon.log()}")
    measured("a revoked laptop has no connection", began.seconds(), CUT_OFF_SECONDS)

    status, answer = bert.ask("POST", f"/v1/jobs/{crew.job}/items", {"fields": {"name": "after"}})
    assert status == 403 and "was revoked" in answer["detail"], answer
    lamp = cleo.add(crew.job, name="lamp of cleo")
    wait_agreed([anna, cleo], crew.job)
    never_during(bert.connected, 1, "bert comes to the others")
    assert {before, lamp} <= set(anna.items(crew.job)) and lamp not in bert.items(crew.job)
    assert revoked(cleo) == revoked(anna) == {device}, "cleo has heard it"
    wait_kept_alike(anna, cleo)
    listed = cleo.muster("fleet", "list").stdout.splitlines()
    assert [line for line in listed if "bert" in line and "revoked" in line], listed
    shown = bert.muster("fleet", "show").stdout
    assert "Revoked" in shown and bert.get("/v1/fleet")["isRevoked"], shown
    for daemon in (anna, cleo):
        assert "a connection was refused" not in daemon.log(), "bert has tried none"


def test_who_was_away_hears_it_before_anything_else(crew):
    """Although whoever has signed it is away by now."""
    anna, bert, cleo = crew.all
    dave = crew.enlist("dave", anna, cleo)
    device = identifier(bert)
    assert dave.stop() == 0
    bert.kill()
    revoke(anna, "bert")
    wait_revoked(cleo, device)
    assert anna.stop() == 0
    assert kept(dave) == b"" == kept(bert), "neither has heard of it"

    dave.start("--peer", cleo.address, "--peer", bert.address)
    wait_until(lambda: dave.connected() == ["cleo"], PATIENCE_SECONDS, "dave is back")
    assert revoked(dave) == {device}, "before they were connected"
    bert.start("--peer", dave.address)
    wait_for_log(dave, "a connection was refused")
    wait_for_log(dave, REFUSED)
    never_during(lambda: bert.connected() or "bert" in dave.connected(), 0.5, "bert is connected")


def test_it_outlasts_that_everybody_is_killed(crew):
    anna, bert, cleo = crew.all
    device = identifier(bert)
    revoke(anna, device)
    assert [daemon.kill() for daemon in crew.all] == [-9] * 3
    forget_revocations(bert)
    anna.start()
    assert revoked(anna) == {device} and entries(anna)
    bert.start("--peer", anna.address)
    wait_for_log(anna, REFUSED)
    cleo.start("--peer", anna.address, "--peer", bert.address)
    wait_revoked(cleo, device)
    alone = lambda: (anna.connected(), bert.connected(), cleo.connected()) == (["cleo"], [], ["anna"])
    wait_until(alone, PATIENCE_SECONDS, f"bert has nobody: {bert.log()}")
    never_during(lambda: bert.connected(), 0.5, "bert is connected")


def test_whom_a_revoked_issuer_has_let_in_is_shut_out_too(solos, anna, root, measured):
    lea = newcomer(solos, "lea", anna.address)
    root.let_issue(lea)
    assert lea.get("/v1/fleet")["isIssuer"]
    tom = enlist(solos, lea, "tom", anna.address)
    cleo = enlist(solos, anna, "cleo", anna.address, tom.address)
    job = anna.create_job()
    wait_agreed([anna, lea, tom, cleo], job)
    wait_until(lambda: anna.connected() == ["cleo", "lea", "tom"], PATIENCE_SECONDS, "anna has all")
    wait_until(lambda: cleo.connected() == ["anna", "tom"], PATIENCE_SECONDS, "cleo has tom")
    began = Stopwatch()
    revoke(anna, "lea")
    for daemon, rest in ((anna, ["cleo"]), (cleo, ["anna"])):
        wait_until(lambda: daemon.connected() == rest, PATIENCE_SECONDS, f"{daemon.name} has only {rest}")
    measured("whom a revoked issuer has let in has no connection", began.seconds(), CUT_OFF_SECONDS)
    wait_for_log(anna, REFUSED)
    never_during(lambda: anna.connected() != ["cleo"], 0.5, "lea or tom is connected")
    key = identifier(tom)
    assert tom.muster("fleet", "leave", "--yes").returncode == 0
    assert identifier(tom) != key, "it may have been shut out without his hearing of it"
    certify(anna, tom)
    wait_until(lambda: "tom" in anna.connected(), PATIENCE_SECONDS, f"tom is let in by anna: {tom.log()}")
    item = tom.add(job, name="of tom")
    wait_until(lambda: item in anna.items(job), PATIENCE_SECONDS, "anna has what tom writes")


def test_a_revoked_issuer_lets_nobody_in_and_shuts_nobody_out(solos, anna, root):
    lea = newcomer(solos, "lea", anna.address)
    root.let_issue(lea)
    wait_until(lambda: anna.connected() == ["lea"], PATIENCE_SECONDS, "anna has lea")
    code = invite(lea)
    revoke(anna, "lea")
    wait_revoked(lea, identifier(lea))
    request = {"request": anna.get("/v1/fleet")["request"], "role": "member"}
    for path, wish in (
        ("certificates", request),
        ("invitations", {"role": "member"}),
        ("revocations", {"device": identifier(anna)}),
    ):
        status, answer = lea.ask("POST", f"/v1/fleet/{path}", wish)
        assert status == 422 and "This laptop was revoked" in answer["detail"], (path, answer)
    assert revoked(lea) == {identifier(lea)} and revoked(anna) == revoked(lea)
    bert = newcomer(solos, "bert", lea.address)
    join(bert, code)
    never_during(lambda: bert.get("/v1/fleet/join")["state"] == "joined", 1, "bert is let in")
    assert "a laptop was let in" not in lea.log()


def test_with_the_root_any_laptop_revokes(crew, root, tmp_path):
    anna, bert, cleo = crew.all
    before = [daemon.get("/v1/fleet/devices") for daemon in crew.all]
    done = bert.muster("fleet", "revoke", "cleo", "--yes")
    assert done.returncode == NOT_PERMITTED and "This laptop may not revoke" in done.stderr, done
    wrong = tmp_path / "wrong"
    wrong.write_text("another drawer\n")
    done = bert.muster("fleet", "revoke", "cleo", "--yes", *root.options[:3], str(wrong))
    assert done.returncode == DATA and "passphrase" in done.stderr, done
    assert [daemon.get("/v1/fleet/devices") for daemon in crew.all] == before and kept(bert) == b""

    done = bert.muster("fleet", "revoke", "cleo", "--yes", *root.options)
    assert done.returncode == 0, done
    for daemon, rest in ((anna, ["bert"]), (bert, ["anna"]), (cleo, [])):
        wait_until(lambda: daemon.connected() == rest, PATIENCE_SECONDS, f"{daemon.name} has only {rest}")
    assert revoked(anna) == revoked(bert) == {identifier(cleo)}
    wait_kept_alike(anna, bert)


def test_a_revoked_laptop_leaves_and_joins_again_with_another_key(crew):
    anna, bert, cleo = crew.all
    former = identifier(bert)
    revoke(anna, "bert")
    wait_until(lambda: bert.get("/v1/fleet")["isRevoked"], PATIENCE_SECONDS, "bert has heard it")
    done = bert.muster("fleet", "leave", "--yes")
    assert done.returncode == 0, done
    assert identifier(bert) != former and not bert.get("/v1/fleet")["isRevoked"]
    cleo_adds = cleo.add(crew.job, name="while bert was out")
    let_in(anna, bert, invite(anna))
    wait_agreed(crew.all, crew.job)
    assert cleo_adds in bert.items(crew.job)
    item = bert.add(crew.job, name="of the new bert")
    wait_until(lambda: item in cleo.items(crew.job), PATIENCE_SECONDS, "cleo has what the new bert writes")
    wait_revoked(bert, former)
    # He knows of all that are revoked, too.
    wait_kept_alike(anna, bert)
    bert.kill()
    bert.start("--peer", anna.address)
    wait_until(lambda: "bert" in anna.connected(), PATIENCE_SECONDS, "he is let in again")


def test_who_leaves_and_comes_back_knows_all_revocations(crew):
    """Nobody but itself has forgotten them."""
    anna, bert, cleo = crew.all
    bert.kill()
    device = identifier_of(anna, "bert")
    revoke(anna, device)
    wait_revoked(cleo, device)
    assert cleo.muster("fleet", "leave", "--yes").returncode == 0
    assert kept(cleo) == b"" and revoked(cleo) == set(), "it has forgotten them"
    certify(anna, cleo)
    wait_until(lambda: cleo.connected() == ["anna"], PATIENCE_SECONDS, f"cleo is back: {cleo.log()}")
    wait_revoked(cleo, device)
    bert.start("--peer", cleo.address)
    wait_for_log(cleo, REFUSED)
    assert bert.connected() == []


def test_who_was_away_while_it_was_revoked_finds_the_way_back(crew):
    """It has heard nothing, since nobody talks to it: it leaves and joins by a code, as its person is told to."""
    anna, bert, _ = crew.all
    bert.kill()
    device = identifier_of(anna, "bert")
    revoke(anna, device)
    bert.start("--peer", anna.address)
    wait_for_log(anna, REFUSED)
    assert bert.muster("fleet", "leave", "--yes").returncode == 0
    code = invite(anna)
    join(bert, code)
    newcomer = wait_until(lambda: invitation(anna, code)["newcomer"], PATIENCE_SECONDS, "bert waits to be let in")
    status, answer = anna.ask("PUT", path(code), {"deviceID": newcomer["deviceID"]})
    assert status == 200, f"{answer}; bert is told {bert.get('/v1/fleet/join')}"
    wait_until(lambda: "bert" in anna.connected(), PATIENCE_SECONDS, f"bert is let in: {bert.log()}")
    assert identifier(bert) != device


def test_a_typo_revokes_nobody(crew):
    anna, bert, cleo = crew.all
    keys = {}
    while True:
        member = member_of(anna)
        prefix = member.device.hex()[:1]
        if prefix in keys:
            break
        keys[prefix] = member.device.hex()
    alike = {keys[prefix], member.device.hex()}
    before = anna.get("/v1/fleet/devices")
    done = anna.muster("fleet", "revoke", "brt", "--yes")
    assert done.returncode == DATA and "No laptop is known as 'brt': see 'muster fleet list'" in done.stderr, done
    for nothing in ("", "0" * 63, "0" * 65):
        done = anna.muster("fleet", "revoke", nothing, "--yes")
        assert done.returncode == DATA and "No laptop is known as" in done.stderr, done
    done = anna.muster("fleet", "revoke", prefix, "--yes")
    assert done.returncode == DATA and f"Several laptops are known as '{prefix}'" in done.stderr, done
    assert all(device[:8] in done.stderr for device in alike), done
    # A beginning that one laptop alone has is no slip if it is long enough; of three letters nobody can tell.
    done = anna.muster("fleet", "revoke", identifier(bert)[:3], "--yes")
    assert done.returncode == DATA and " known as " in done.stderr, done
    for own in ("anna", identifier(anna), identifier(anna).upper()):
        done = anna.muster("fleet", "revoke", own, "--yes")
        assert done.returncode == DATA and "This laptop does not revoke itself" in done.stderr, done
    done = anna.muster("fleet", "revoke", "bert")
    assert done.returncode != 0 and "--yes" in done.stderr, "nobody is there to ask"
    assert anna.get("/v1/fleet/devices") == before and kept(anna) == b""
    crew.wait_together()


def test_a_typo_beside_the_root_revokes_nobody(anna, root):
    """It would sign whatever it is given: the laptop itself, too, which knows of no other."""
    for typo in ("", "brt", identifier(anna)[:8], "anna", identifier(anna)):
        done = anna.muster("fleet", "revoke", typo, "--yes", *root.options)
        assert not anna.get("/v1/fleet")["isRevoked"], f"'{typo}' has revoked the laptop itself: {done}"
        assert done.returncode == DATA and kept(anna) == b"", done


def identifier_of(daemon, name):
    """As one laptop knows it of another one, which does not run."""
    (device,) = [known["deviceID"] for known in daemon.get("/v1/fleet/devices") if known["name"] == name]
    return device
