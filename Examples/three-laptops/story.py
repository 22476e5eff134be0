"""Tells the stories named on the command line, or all. `run` in this directory prepares everything and calls it."""

import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "Tests", "Laptops"))
# Running the story leaves nothing behind in the checkout.
sys.dont_write_bytecode = True

import collection  # noqa: E402
import household  # noqa: E402
from lab import Lab  # noqa: E402
from telling import Teller  # noqa: E402

STORIES = {"household": household.tell, "collection": collection.tell}


def main():
    wanted = sys.argv[1:] or list(STORIES)
    start = time.monotonic()
    try:
        for name in wanted:
            with Lab() as lab:
                STORIES[name](Teller(), lab, os.environ["MUSTER_BUILD"])
    except (AssertionError, RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"\nthree-laptops: the story '{name}' went wrong: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nthree-laptops: stopped.", file=sys.stderr)
        return 130
    print(f"\nAll is well that ends well: all laptops of a fleet held the same, after {time.monotonic() - start:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
