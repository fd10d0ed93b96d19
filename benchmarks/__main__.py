"""Run the benchmarks and print a table of figures.

Usage: `python -m benchmarks [--short | --smoke] [--json FILE] [WORKLOAD ...]`.
"""

import argparse
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from benchmarks.figure import Figure, as_json, format_table
from benchmarks.scale import Scale

WORKLOADS = (
    "startup",
    "headless",
    "streaming",
    "long_session",
    "growth",
    "revert",
    "large_files",
    "workspaces",
    "checkpoint_views",
    "shell_steps",
    "line_origins",
    "check_ribbon",
    "html_page",
    "resident",
)
EXPLICIT = ("soak", "recall")
"""Workloads that only run if named explicitly."""


def main() -> int:
    """Run the selected workloads. Return 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    known = (*WORKLOADS, *EXPLICIT)
    parser.add_argument(
        "workloads",
        nargs="*",
        metavar="WORKLOAD",
        help=f"{', '.join(known)} (default: all except {' and '.join(EXPLICIT)})",
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--short", action="store_true", help="run smaller workloads: one or two minutes in total"
    )
    size.add_argument(
        "--smoke", action="store_true", help="only check that the workloads run, without targets"
    )
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="duration of the soak workload (default: 60)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE as JSON")
    options = parser.parse_args()
    if unknown := set(options.workloads) - set(known):
        parser.error(f"unknown workload: {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    scale = Scale("smoke" if options.smoke else "short" if options.short else "whole", options.minutes)
    figures: list[Figure] = []
    for name in options.workloads or WORKLOADS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        figures += import_module(f"benchmarks.workloads.{name}").measure(scale)
    if options.smoke:
        figures = [replace(it, target=None) for it in figures]
    print(format_table(figures))
    if options.json is not None:
        options.json.write_text(as_json(figures) + "\n")
    return int(any(it.is_met is False for it in figures))


if __name__ == "__main__":
    sys.exit(main())
