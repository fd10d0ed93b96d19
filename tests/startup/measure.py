"""CPU time of a new process, as measured by the kernel."""

import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence


def cpu_seconds(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> float:
    """Run `command` and return its user and system time, including its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def ratio(command: Sequence[str], baseline: Sequence[str], *, rounds: int = 7) -> float:
    """Return the lowest ratio of the CPU time of `command` to that of `baseline` in alternating runs.

    It isn't the ratio of the two minimums, because a processor can be twice as fast during a single run.
    """
    ratios = []
    for _ in range(rounds):
        baseline_s = cpu_seconds(baseline)
        ratios.append(cpu_seconds(command) / baseline_s)
    return min(ratios)


def python(statement: str) -> list[str]:
    """Return the command that runs `statement` in a new interpreter."""
    return [sys.executable, "-c", statement]
