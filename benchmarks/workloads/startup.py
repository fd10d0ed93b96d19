"""Time from the command to a typed character on the screen, compared with an empty Textual app."""

import sys
import time
from collections.abc import Sequence

from benchmarks.figure import Figure
from benchmarks.home import KIMI_TUI, Home, new_home
from benchmarks.scale import Scale
from benchmarks.terminal import terminal

EMPTY_APP = (sys.executable, "-m", "benchmarks.baselines.empty_app")


def measure(scale: Scale) -> list[Figure]:
    """Measure wall time and CPU, the best of several alternating rounds."""
    rounds = scale.choose(10, 4, 1)
    with new_home() as home:
        runs = [(_run(EMPTY_APP, home, "ready"), _run([KIMI_TUI, "--demo"], home)) for _ in range(rounds)]
    return [
        Figure("startup", f"{what} to a typed character", min(ours[at] for _, ours in runs), "s",
               min(empty[at] for empty, _ in runs), "empty app to its first frame", target=1.6)
        for at, what in enumerate(("wall time", "CPU"))
    ]  # fmt: skip


def _run(command: Sequence[str], home: Home, text: str = "") -> tuple[float, float]:
    began = time.perf_counter()
    with terminal(command, env=home.env, cwd=home.work_dir) as program:
        if text:
            program.wait_for(text)
        else:
            program.type_until_shown()
        return time.perf_counter() - began, program.cpu_s()
