"""Drives daemons through the measures of Benchmarks/run."""

import pathlib
import sys

# Ports that stay free, a fleet, and how journals are encoded and digested, are the laptop tests' as well.
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Tests" / "Laptops"))
