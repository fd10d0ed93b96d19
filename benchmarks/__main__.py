"""Measure, and print a table: `python -m benchmarks [--short | --smoke] [--json FILE] [WORKLOAD ...]`."""

import argparse
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from benchmarks.extent import Extent
from benchmarks.figure import Figure, as_json, table

WORKLOADS = ("startup", "headless", "streaming", "long_session", "growth", "time_travel", "large_files")
LONG = ("soak",)
"""Those that run only when they are named."""


def main() -> int:
    """Run the workloads that were named; 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    known = (*WORKLOADS, *LONG)
    parser.add_argument(
        "workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(known)}; all but {LONG[0]} without"
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--short", action="store_true", help="smaller amounts: a minute or two in all")
    size.add_argument("--smoke", action="store_true", help="whether they still run; nothing is judged")
    parser.add_argument("--minutes", type=float, default=60.0, help="how long a soak lasts; 60 unless given")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    options = parser.parse_args()
    if unknown := set(options.workloads) - set(known):
        parser.error(f"there is no workload {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    extent = Extent("smoke" if options.smoke else "short" if options.short else "whole", options.minutes)
    figures: list[Figure] = []
    for name in options.workloads or WORKLOADS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        figures += import_module(f"benchmarks.workloads.{name}").measure(extent)
    if options.smoke:
        figures = [replace(it, most=None) for it in figures]
    print(table(figures))
    if options.json is not None:
        options.json.write_text(as_json(figures) + "\n")
    return int(any(it.is_met is False for it in figures))


if __name__ == "__main__":
    sys.exit(main())
