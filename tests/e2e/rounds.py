"""The program ended again and again at random moments: `python -m tests.e2e.rounds [--rounds N] [--seed N]`.

Several processes play at the same time, each with a zygote of its own (`tests/e2e/zygote.py`).
A round that fails is told with what plays it again, and its folder is kept.
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

from tests.e2e.moments import any_round
from tests.e2e.program import Program


def main() -> int:
    """Play the rounds; 1 when one of them failed."""
    parser = argparse.ArgumentParser(prog="tests.e2e.rounds", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 1 << 30))
    parser.add_argument("--workers", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--only", type=int, metavar="NUMBER", help="play this round alone")
    parser.add_argument("--share", help=argparse.SUPPRESS)  # NUMBER/WORKERS: the rounds of one worker
    options = parser.parse_args()
    if options.only is not None:
        return _play([options.only], options.seed)
    if options.share:
        first, step = map(int, options.share.split("/"))
        return _play(range(first, options.rounds, step), options.seed)
    began = time.monotonic()
    shared = ["--rounds", str(options.rounds), "--seed", str(options.seed)]
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.rounds", *shared, "--share", f"{n}/{options.workers}"]
        )
        for n in range(options.workers)
    ]
    failed = sum(worker.wait() != 0 for worker in workers)
    ending = f"{failed} of {len(workers)} processes saw a round fail" if failed else "none failed"
    took = time.monotonic() - began
    print(f"{options.rounds} rounds in {took:.0f} s, seed {options.seed}: {ending}", flush=True)
    return int(bool(failed))


def _play(numbers: Iterable[int], seed: int) -> int:
    failures = 0
    for number in numbers:
        played = any_round(random.Random(f"{seed}:{number}"))
        folder = Path(tempfile.mkdtemp(prefix="kimi-tui-round-"))
        try:
            played.play(Program(folder))
        except Exception as error:  # each is a finding, and the rounds after it are played as well
            failures += 1
            again = f"python -m tests.e2e.rounds --seed {seed} --only {number}"
            print(f"round {number}, {played}: {error!r}\n  {folder}\n  {again}", flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
