"""Hours of work in one process: what its memory grows by, and which lines of the program hold that.

Each cycle is a conversation of a few prompts with tool calls and answers, which `/clear` ends. A second
program does the same with its allocations traced, since tracing takes memory of its own. It runs only when
it is named.
"""

import os
import signal
import sys
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.extent import Extent
from benchmarks.figure import Figure, median
from benchmarks.home import KIMI_TUI, model, new_home
from benchmarks.terminal import PATIENCE_S, Terminal, terminal

PROMPTS = 4
"""In a cycle."""
FEWEST = 5
"""Cycles, however short the time is."""
SETTLED = 0.2
"""The share of the time after which nothing should grow any more."""
SHOWN = 12
"""Lines of the program that are named."""
PLAN = (
    {"calls": [["Bash", {"command": "seq 400"}], ["ReadFile", {"path": "note.txt"}]]},
    {"calls": [["WriteFile", {"path": "out.txt", "content": "text\n" * 50}]]},
    {"words": 300},
    {"again": True},
)


def measure(extent: Extent) -> list[Figure]:
    """Memory early and late, and the growth by lines."""
    seconds = extent.of(60 * extent.minutes, 60.0, 0.0)
    with _worker() as (plain, _), _worker(traced=True) as (traced, snapshots):
        memory = _work(plain, traced, seconds, snapshots)
        grown = _grown(snapshots)
        _check_that_it_worked(snapshots.parent, PROMPTS * len(memory))
    early, late = memory[int(SETTLED * len(memory))], median(memory[-max(1, len(memory) // 10) :])
    worked = f"{PROMPTS * len(memory):,} prompts"
    return [
        Figure("soak", f"memory after {worked}", late, "MB", early, "after a fifth of them", most=1.1),
        *(Figure("soak", f"grew since then: {where}", size, "KB") for where, size in grown),
    ]


@contextmanager
def _worker(*, traced: bool = False) -> Iterator[tuple[Terminal, Path]]:
    """A program in a home of its own with a model of its own, and where its snapshots go."""
    with new_home() as home, model(PLAN) as (url, _):
        home.configure(url)
        (home.work_dir / "note.txt").write_text("tea\n" * 100)
        snapshots = home.path / "snapshots"
        snapshots.mkdir()
        command = [sys.executable, "-m", "benchmarks.traced"] if traced else [KIMI_TUI]
        env = {**home.env, "KIMI_TUI_SNAPSHOTS": str(snapshots)}
        with terminal([*command, "--yolo"], env=env, cwd=home.work_dir) as program:
            program.type_until_shown()
            program.type("\x15")
            program.rest()
            yield program, snapshots


def _work(plain: Terminal, traced: Terminal, seconds: float, snapshots: Path) -> list[float]:
    """Megabytes of the plain program after each cycle; the traced one takes a snapshot early and late."""
    began = time.monotonic()
    memory: list[float] = []
    while len(memory) < FEWEST or time.monotonic() - began < seconds:
        for program in (plain, traced):
            _cycle(program)
        memory.append(plain.memory_mb())
        is_settled = len(memory) >= SETTLED * FEWEST and time.monotonic() - began >= SETTLED * seconds
        if is_settled and not (snapshots / "0").exists():
            _take_snapshot(traced, snapshots / "0")
    _take_snapshot(traced, snapshots / "1")
    return memory


def _cycle(program: Terminal) -> None:
    for _ in range(PROMPTS):
        program.type("go\r")
        program.rest()
    program.type("/clear\r")
    program.rest()


def _take_snapshot(program: Terminal, path: Path) -> None:
    os.kill(program.pid, signal.SIGUSR1)
    deadline = time.monotonic() + PATIENCE_S
    while not path.exists():
        if time.monotonic() > deadline:
            raise TimeoutError("the traced program took no snapshot")
        time.sleep(0.1)


def _check_that_it_worked(home: Path, prompts: int) -> None:
    """Raises RuntimeError when turns are missing: what did nothing takes no memory."""
    recordings = home.glob("share/sessions/*/*/wire.jsonl")
    ended = sum(recording.read_text().count('"type":"TurnEnd"') for recording in recordings)
    if ended < prompts:
        raise RuntimeError(f"{prompts} prompts, and {ended} turns ended")


def _grown(snapshots: Path) -> Sequence[tuple[str, float]]:
    """The lines that hold more at the end than early, and how many kilobytes; most first."""
    early, late = (tracemalloc.Snapshot.load(str(snapshots / name)) for name in ("0", "1"))
    differences = late.compare_to(early, "lineno")
    total = sum(it.size_diff for it in differences) / 1024
    lines = [
        (
            f"{'/'.join(Path(it.traceback[0].filename).parts[-3:])}:{it.traceback[0].lineno}",
            it.size_diff / 1024,
        )
        for it in sorted(differences, key=lambda it: -it.size_diff)[:SHOWN]
    ]
    return [("all lines together", total), *lines]
