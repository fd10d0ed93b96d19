"""`python -m benchmarks [--short] [--json FILE] [WORKLOAD ...]`: measure, and print a table."""

import argparse
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.figure import Figure, as_json, table

WORKLOADS = ("startup", "headless", "streaming", "long_session", "growth", "time_travel")


def main() -> int:
    """Run the workloads that were named; 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument(
        "workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)}; all without"
    )
    parser.add_argument("--short", action="store_true", help="smaller amounts: a minute or two in all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    options = parser.parse_args()
    if unknown := set(options.workloads) - set(WORKLOADS):
        parser.error(f"there is no workload {', '.join(sorted(unknown))}; there are {', '.join(WORKLOADS)}")
    figures: list[Figure] = []
    for name in options.workloads or WORKLOADS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        figures += import_module(f"benchmarks.workloads.{name}").measure(short=options.short)
    print(table(figures))
    if options.json is not None:
        options.json.write_text(as_json(figures) + "\n")
    return int(any(it.is_met is False for it in figures))


if __name__ == "__main__":
    sys.exit(main())
