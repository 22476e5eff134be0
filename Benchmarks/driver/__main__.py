"""The measures in order, the table, and the verdict."""

import argparse
import os
import pathlib
import signal
import sys
import traceback

from .lab import Lab, LabError
from .measures import (
    busy, catch_up, crowd, difference, drain, edit, enqueue, footprint, idle, jobs, memory, office, polls, protection,
    server_catch_up, sixteen, slow_disk, slow_link, storm,
)
from .report import Report

FULL = {
    "large": 100_000, "small": 1_000, "catch_ups": 3, "edits": 600, "differences": 9, "idle_seconds": 30, "shows": 20,
    "starts": 5, "devices": 16, "spread_edits": 200, "storm_devices": 48, "storm_edits": 50,
    "office_laptops": 500, "office_seconds": 60, "mutations": 10_000, "polls": 30_000, "million": 1_000_000,
    "protection_rounds": 40, "jobs": 5_000, "memory_edits": 288_000, "footprint_seconds": 600,
}
QUICK = {
    "large": 2_000, "small": 200, "catch_ups": 1, "edits": 60, "differences": 2, "idle_seconds": 2, "shows": 3,
    "starts": 1, "devices": 4, "spread_edits": 20, "storm_devices": 8, "storm_edits": 5,
    "office_laptops": 50, "office_seconds": 6, "mutations": 200, "polls": 500, "million": 20_000,
    "protection_rounds": 2, "jobs": 100, "memory_edits": 2_000, "footprint_seconds": 2,
}
MEASURES = {
    "catch-up": catch_up.measure, "edit": edit.measure, "difference": difference.measure, "idle": idle.measure,
    "sixteen": sixteen.measure, "storm": storm.measure, "enqueue": enqueue.measure, "drain": drain.measure,
    "server-catch-up": server_catch_up.measure, "polls": polls.measure, "office": office.measure,
    "busy": busy.measure, "jobs": jobs.measure, "slow-disk": slow_disk.measure, "memory": memory.measure,
    "slow-link": slow_link.measure, "protection": protection.measure, "crowd": crowd.measure,
    "footprint": footprint.measure,
}


def arguments():
    parser = argparse.ArgumentParser(prog="Benchmarks/run")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--office-seconds", type=int, metavar="SECONDS")
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("--only", action="append", choices=sorted(MEASURES))
    parser.add_argument("--binaries", type=pathlib.Path, required=True)
    parser.add_argument("--unprotected", type=pathlib.Path)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    return parser.parse_args()


def main():
    options = arguments()
    # An end from outside takes the same way out as an end from inside: everything started is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = Report(quick=options.quick)
    failed = False
    sizes = dict(QUICK if options.quick else FULL)
    if options.office_seconds:
        sizes["office_seconds"] = options.office_seconds
    with Lab(options.binaries, options.tools, sizes, options.unprotected) as lab:
        for name in options.only or MEASURES:
            print(f"measuring {name} …", file=sys.stderr, flush=True)
            try:
                MEASURES[name](lab, report)
            except (LabError, OSError, KeyError, ValueError) as error:
                # One measure that cannot run takes none of the others with it.
                failed = True
                report.note(f"{name} could not be measured: {error}")
                if os.environ.get("BENCHMARK_TRACE"):
                    traceback.print_exc()
    print(report.table())
    if options.json:
        options.json.write_text(report.json())
    if options.readme:
        report.write_into(pathlib.Path("README.md"))
    if failed:
        sys.exit(2)
    sys.exit(0 if options.quick or report.all_met() else 1)


main()
