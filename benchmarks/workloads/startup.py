"""From the command to a typed character on the screen, beside an empty Textual app."""

import sys
import time
from collections.abc import Sequence

from benchmarks.extent import Extent
from benchmarks.figure import Figure
from benchmarks.home import KIMI_TUI, Home, new_home
from benchmarks.terminal import terminal

EMPTY_APP = (sys.executable, "-m", "benchmarks.baselines.empty_app")


def measure(extent: Extent) -> list[Figure]:
    """Wall time and CPU, the best of several rounds that alternate."""
    rounds = extent.of(10, 4, 1)
    with new_home() as home:
        runs = [(_run(EMPTY_APP, home, "ready"), _run([KIMI_TUI, "--demo"], home)) for _ in range(rounds)]
    return [
        Figure("start-up", f"{what} to a typed character", min(ours[at] for _, ours in runs), "s",
               min(empty[at] for empty, _ in runs), "empty app to its frame", most=1.6)
        for at, what in enumerate(("wall time", "CPU"))
    ]  # fmt: skip


def _run(command: Sequence[str], home: Home, text: str = "") -> tuple[float, float]:
    began = time.perf_counter()
    with terminal(command, env=home.env, cwd=home.work_dir) as program:
        if text:
            program.until(text)
        else:
            program.type_until_shown()
        return time.perf_counter() - began, program.cpu_s()
