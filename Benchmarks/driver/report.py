"""Figures, the table of them for people, and the same for scripts."""

import json
import os
import pathlib
import platform
import re
import sqlite3
import subprocess
import time

BEGIN, END = "<!-- benchmarks -->", "<!-- /benchmarks -->"


class Report:
    def __init__(self, quick):
        self.quick = quick
        self.figures = []
        self.notes = []
        self.machine = machine()

    def add(self, name, value, unit, *, limit, goal=None, baseline=None, ratio=None, met=None, detail=None):
        """A figure; met when it is at most its limit, unless told otherwise."""
        self.figures.append(
            {
                "name": name.strip(), "label": name, "value": value, "unit": unit, "limit": limit,
                "goal": goal or written(limit, unit), "baseline": baseline, "ratio": ratio,
                "met": value <= limit if met is None else met, "detail": detail,
            })

    def note(self, sentence):
        self.notes.append(sentence)

    def all_met(self):
        return bool(self.figures) and all(figure["met"] for figure in self.figures)

    def table(self):
        """At most 80 columns wide."""
        lines = [f"{'':38}{'figure':>10}{'goal':>11}{'baseline':>10}{'ratio':>6}     "]
        for figure in self.figures:
            baseline = "" if figure["baseline"] is None else written(figure["baseline"], figure["unit"])
            ratio = "" if figure["ratio"] is None else f"{figure['ratio']:.2f}"
            verdict = "" if self.quick else "pass" if figure["met"] else "MISS"
            value = written(figure["value"], figure["unit"])
            lines.append(f"{figure['label']:38}{value:>10}{figure['goal']:>11}{baseline:>10}{ratio:>6} {verdict:4}")
        place = self.machine
        lines.append("")
        lines.append(f"{place['processor']}, {place['cores']} cores, Linux {place['kernel']}"[:80])
        lines.append(f"SQLite {place['sqlite']}, {place['distribution']}, {place['time']}, {place['revision']}"[:80])
        lines += self.notes
        if self.quick:
            lines.append("A quick run: small inventories, few repetitions, nothing judged.")
        return "\n".join(line.rstrip() for line in lines)

    def json(self):
        figures = [{key: value for key, value in figure.items() if key != "label"} for figure in self.figures]
        document = {"machine": self.machine, "quick": self.quick, "figures": figures, "notes": self.notes}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def write_into(self, readme):
        text = readme.read_text()
        if BEGIN not in text or END not in text:
            raise SystemExit(f"{readme} has no place for the table: it needs {BEGIN} and {END}.")
        head, tail = text.split(BEGIN)[0], text.split(END)[1]
        readme.write_text(f"{head}{BEGIN}\n```\n{self.table()}\n```\n{END}{tail}")


def written(value, unit):
    digits = 0 if value >= 1000 else 1 if value >= 100 else 2
    return f"{value:,.{digits}f} {unit}".strip()


def machine():
    information = pathlib.Path("/proc/cpuinfo").read_text()
    name = re.search(r"model name\s*:\s*(.*)", information)
    release = pathlib.Path("/etc/os-release").read_text() if os.path.exists("/etc/os-release") else ""
    distribution = re.search(r'PRETTY_NAME="?([^"\n]*)', release)
    revision = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return {
        "processor": name[1] if name else platform.machine(),
        "cores": os.cpu_count(),
        "kernel": platform.release().split("-")[0],
        "sqlite": sqlite3.sqlite_version,
        "distribution": distribution[1] if distribution else platform.system(),
        "revision": revision or "no revision",
        "time": time.strftime("%Y-%m-%d"),
    }
