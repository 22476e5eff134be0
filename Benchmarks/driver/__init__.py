"""Drives daemons through the measures of Benchmarks/run."""
