"""Ends the program at random moments, many times: `python -m tests.e2e.rounds [--rounds N] [--seed N]`.

Several processes run rounds in parallel, each with its own zygote (`tests/e2e/zygote.py`).
A failed round prints the command that repeats it, and its directory is kept.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from tests.e2e.program import Program
from tests.e2e.scenarios import random_round


def main() -> int:
    """Run the rounds. Return 1 if any of them failed."""
    parser = argparse.ArgumentParser(prog="tests.e2e.rounds", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 1 << 30))
    parser.add_argument("--workers", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--only", type=int, metavar="NUMBER", help="run only this round")
    parser.add_argument("--share", help=argparse.SUPPRESS)  # NUMBER/WORKERS: the rounds of one worker
    options = parser.parse_args()
    if options.only is not None:
        return _play([options.only], options.seed)
    if options.share:
        first, step = map(int, options.share.split("/"))
        return _play(range(first, options.rounds, step), options.seed)
    started_at = time.monotonic()
    shared = ["--rounds", str(options.rounds), "--seed", str(options.seed)]
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.rounds", *shared, "--share", f"{n}/{options.workers}"]
        )
        for n in range(options.workers)
    ]
    failed = sum(worker.wait() != 0 for worker in workers)
    outcome = f"failures in {failed} of {len(workers)} processes" if failed else "no failures"
    duration = time.monotonic() - started_at
    print(f"{options.rounds} rounds in {duration:.0f} s, seed {options.seed}: {outcome}", flush=True)
    return int(bool(failed))


def _play(numbers: Iterable[int], seed: int) -> int:
    failures = 0
    for number in numbers:
        current_round = random_round(random.Random(f"{seed}:{number}"))
        directory = Path(tempfile.mkdtemp(prefix="kimi-tui-round-"))
        try:
            current_round.run(Program(directory))
        except Exception as error:  # report every failure, and continue with the next round
            failures += 1
            command = f"python -m tests.e2e.rounds --seed {seed} --only {number}"
            print(f"round {number}, {current_round}: {error!r}\n  {directory}\n  {command}", flush=True)
        else:
            shutil.rmtree(directory, ignore_errors=True)
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
