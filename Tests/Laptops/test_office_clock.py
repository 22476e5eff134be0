"""An office whose wall clock is set back: nobody waits a day, and a token that was revoked does not hold for one."""

from scenes import play


def test_an_office_whose_clock_is_set_back(build_directory):
    seen = play("office_clock_scene.py", build_directory)
    assert seen["aheadSeconds"] > 80_000, "the clock was wrong, and that was seen"
    assert seen["pollStatus"] == 200 and 2.5 < seen["waitedSeconds"] < 6, seen
