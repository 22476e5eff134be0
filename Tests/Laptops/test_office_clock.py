"""An office whose wall clock is set back: nobody waits a day, and a laptop that was revoked is not let in for one."""

from scenes import play


def test_an_office_whose_clock_is_set_back(build_directory):
    seen = play("office_clock_scene.py", build_directory)
    assert seen["aheadSeconds"] > 80_000, "the clock was wrong, and that was seen"
    assert seen["pollStatus"] == 200 and 2.5 < seen["waitedSeconds"] < 6, seen
    (grace, _), (past, after), (young, before) = (seen["judged"][days] for days in ("60", "100", "-1"))
    assert grace == 200, "a laptop that comes late is let in"
    assert (past, young) == (401, 401) and "ran out" in after["detail"] and "does not hold yet" in before["detail"], seen
