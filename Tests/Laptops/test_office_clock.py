"""An office whose wall clock is set back: nobody waits a day, and a token that was revoked does not hold for one."""

import json
import os
import subprocess
import sys


def test_an_office_whose_clock_is_set_back(build_directory):
    scene = os.path.join(os.path.dirname(__file__), "office_clock_scene.py")
    done = subprocess.run(
        ["unshare", "--net", sys.executable, scene, build_directory], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["aheadSeconds"] > 80_000, "the clock was wrong, and that was seen"
    assert seen["pollStatus"] == 200 and 2.5 < seen["waitedSeconds"] < 6, seen
    assert seen["afterRevoking"] == 401, seen
