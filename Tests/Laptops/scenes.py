"""Scenes: programs that play in namespaces of their own, and print what was seen as JSON."""

import json
import os
import subprocess
import sys


def play(name, build_directory):
    """Plays the scene in that file, and returns what it saw.

    In a process namespace of its own too, so that nothing is left of it however it ends.
    """
    scene = os.path.join(os.path.dirname(__file__), name)
    apart = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    done = subprocess.run([*apart, sys.executable, scene, build_directory], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
