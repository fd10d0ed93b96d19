"""Shell steps in a large project: what its files add to a step, with private views or scans, and memory.

The program runs as a whole, in print mode. A step lasts from one request to the next, so it includes all that
the program does between two responses of the model. The same steps in an empty directory show what the files
add.
"""

import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.baselines import bare_disk
from benchmarks.figure import Figure, median
from benchmarks.home import KIMI_TUI, Home, new_home, serve_model
from benchmarks.project import make_project, sample_files
from benchmarks.scale import Scale

DONE = {"words": 20}
_ADDED_MS = 30
_MAX_WALKS = 1.3
_MAX_MB = 150
_RUN_FIRST_MS = 50
_MODEL_DELAY_S = 1.0
"""Delay of the first response, as with a fast model. The program prepares the first command meanwhile."""
_FIRST_STEPS = 2
"""Steps that aren't counted: they may wait for the first scan."""


def measure(scale: Scale) -> list[Figure]:
    """Measure steps that change one file each."""
    n_files, count = scale.choose((100_000, 16), (5_000, 10), (100, 4))
    with new_home() as home, new_home() as empty:
        home.work_dir.rmdir()
        make_project(home.work_dir, n_files)
        files = [str(file) for file in sample_files(home.work_dir, count)]
        for number in range(count):
            (empty.work_dir / f"{number}.py").write_text("# empty\n")
        small = [str(file) for file in sorted(empty.work_dir.iterdir())]
        views, scans = (
            (_run(empty, small, backend), _run(home, files, backend)) for backend in ("auto", "none")
        )
        walk = median([_walk_ms(home.work_dir) for _ in range(5)])
        run_first = [_first_command_ms(home) - _first_command_ms(empty) for _ in range(5)]
    return [*_figures(views, scans, walk, f"{n_files:,} files"), _run_first_figure(run_first)]


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of the program needed."""

    step_ms: float
    """Median duration of a step."""
    peak_mb: float
    """Largest resident memory of the program or of a command."""


def _run(home: Home, files: Sequence[str], backend: str) -> Run:
    """Run the program, which appends a line to each of `files`, one per step."""
    calls = [{"calls": [["Bash", {"command": f"echo '# changed' >> {file}"}]]} for file in files]
    with serve_model([*calls, DONE]) as (url, server):
        home.configure(url)
        with (home.path / "share" / "config.toml").open("a") as config:
            config.write(f'\n[workspaces]\nbackend = "{backend}"\n')
        used = home.run(KIMI_TUI, "--print", "--yolo", "--quiet", "-p", "work")
        assert server.stdout is not None
        times = [float(server.stdout.readline()) for _ in range(len(files) + 1)]
    steps = [(later - earlier) * 1e3 for earlier, later in pairwise(times)]
    return Run(median(steps[_FIRST_STEPS:]), used.ru_maxrss / 1024)


def _first_command_ms(home: Home) -> float:
    """Return how long a session's first command takes if it runs before it is allowed."""
    command = {"command": "python3 -c 'print(1)'"}
    with serve_model([{"delay": _MODEL_DELAY_S, "calls": [["Bash", command]]}, DONE]) as (url, server):
        home.configure(url)
        ran = subprocess.run(
            [KIMI_TUI, "--print", "--quiet", "-p", "work"],
            env=home.env,
            cwd=home.work_dir,
            capture_output=True,
            check=False,
        )
        if ran.returncode:
            raise RuntimeError(f"the program ended with {ran.returncode}")
        assert server.stdout is not None
        first, second = (float(server.stdout.readline()) for _ in range(2))
    return (second - first - _MODEL_DELAY_S) * 1e3


def _run_first_figure(added_ms: Sequence[float]) -> Figure:
    name = "what the files add to a session's first command, run first"
    return Figure("shell steps", name, median(added_ms), "ms", target=_RUN_FIRST_MS)


def _walk_ms(work_dir: Path) -> float:
    began = time.perf_counter()
    bare_disk.walk(work_dir)
    return (time.perf_counter() - began) * 1e3


def _figures(views: tuple[Run, Run], scans: tuple[Run, Run], walk: float, files: str) -> list[Figure]:
    in_empty, walking = "in a small directory", "a bare walk with stat"
    figures = []
    for how, (small, large) in (("private views", views), ("scans", scans)):
        name = f"step with {how}, {files}"
        figures.append(Figure("shell steps", name, large.step_ms, "ms", small.step_ms, in_empty))
        figures.append(Figure("shell steps", f"memory with {how}", large.peak_mb, "MB", target=_MAX_MB))
    added_by_views, added_by_scans = (large.step_ms - small.step_ms for small, large in (views, scans))
    return [
        *figures,
        Figure("shell steps", "what the files add with views", added_by_views, "ms", target=_ADDED_MS),
        Figure(
            "shell steps",
            "what the files add with scans",
            added_by_scans,
            "ms",
            walk,
            walking,
            target=_MAX_WALKS,
        ),
    ]
