"""CPU time of a fresh process, as the kernel counts it."""

import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence


def cpu_seconds(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> float:
    """User and system time of one run of `command`, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def ratio(command: Sequence[str], baseline: Sequence[str], *, rounds: int = 7) -> float:
    """CPU time of `command` over that of `baseline`, run in turns: the least ratio of two runs side by side.

    Not of the least of each: a processor may be twice as fast for one run, and that may be any.
    """
    ratios = []
    for _ in range(rounds):
        theirs = cpu_seconds(baseline)
        ratios.append(cpu_seconds(command) / theirs)
    return min(ratios)


def python(statement: str) -> list[str]:
    """The command that runs `statement` in a fresh interpreter."""
    return [sys.executable, "-c", statement]
