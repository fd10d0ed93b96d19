"""Hours of work in one process: memory growth, and the lines of code that allocate it.

Each cycle is a conversation of a few prompts with tool calls and responses, ended by `/clear`. A second
program does the same with traced allocations, because tracing itself uses memory. Runs only if named
explicitly.
"""

import os
import signal
import sys
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.figure import Figure, median
from benchmarks.home import KIMI_TUI, new_home, serve_model
from benchmarks.scale import Scale
from benchmarks.terminal import TIMEOUT_S, Terminal, terminal

PROMPTS = 4
"""Prompts per cycle."""
MIN_CYCLES = 5
"""Minimum number of cycles."""
SETTLED = 0.2
"""Fraction of the time after which memory should no longer grow."""
MAX_LINES = 12
"""Maximum number of listed lines of code."""
PLAN = (
    {"calls": [["Bash", {"command": "seq 400"}], ["ReadFile", {"path": "note.txt"}]]},
    {"calls": [["WriteFile", {"path": "out.txt", "content": "text\n" * 50}]]},
    {"words": 300},
    {"again": True},
)


def measure(scale: Scale) -> list[Figure]:
    """Measure the memory early and late, and its growth by line of code."""
    seconds = scale.choose(60 * scale.minutes, 60.0, 0.0)
    with _worker() as (plain, _), _worker(traced=True) as (traced, snapshots):
        memory = _work(plain, traced, seconds, snapshots)
        grown = _memory_growth(snapshots)
        _check_turns(snapshots.parent, PROMPTS * len(memory))
    early, late = memory[int(SETTLED * len(memory))], median(memory[-max(1, len(memory) // 10) :])
    worked = f"{PROMPTS * len(memory):,} prompts"
    return [
        Figure(
            "soak", f"memory after {worked}", late, "MB", early, "after a fifth of the prompts", target=1.1
        ),
        *(Figure("soak", f"growth since then: {where}", size, "KB") for where, size in grown),
    ]


@contextmanager
def _worker(*, traced: bool = False) -> Iterator[tuple[Terminal, Path]]:
    """Run a program with its own home and model server.

    Yields its terminal and the directory of its snapshots.
    """
    with new_home() as home, serve_model(PLAN) as (url, _):
        home.configure(url)
        (home.work_dir / "note.txt").write_text("tea\n" * 100)
        snapshots = home.path / "snapshots"
        snapshots.mkdir()
        command = [sys.executable, "-m", "benchmarks.trace_memory"] if traced else [KIMI_TUI]
        env = {**home.env, "KIMI_TUI_SNAPSHOTS": str(snapshots)}
        with terminal([*command, "--yolo"], env=env, cwd=home.work_dir) as program:
            program.type_until_shown()
            program.type("\x15")
            program.wait_until_idle()
            yield program, snapshots


def _work(plain: Terminal, traced: Terminal, seconds: float, snapshots: Path) -> list[float]:
    """Run cycles and return the memory in MB after each.

    The traced program takes an early and a late snapshot.
    """
    began = time.monotonic()
    memory: list[float] = []
    while len(memory) < MIN_CYCLES or time.monotonic() - began < seconds:
        for program in (plain, traced):
            _cycle(program)
        memory.append(plain.memory_mb())
        is_settled = len(memory) >= SETTLED * MIN_CYCLES and time.monotonic() - began >= SETTLED * seconds
        if is_settled and not (snapshots / "0").exists():
            _take_snapshot(traced, snapshots / "0")
    _take_snapshot(traced, snapshots / "1")
    return memory


def _cycle(program: Terminal) -> None:
    for _ in range(PROMPTS):
        program.type("go\r")
        program.wait_until_idle()
    program.type("/clear\r")
    program.wait_until_idle()


def _take_snapshot(program: Terminal, path: Path) -> None:
    os.kill(program.pid, signal.SIGUSR1)
    deadline = time.monotonic() + TIMEOUT_S
    while not path.exists():
        if time.monotonic() > deadline:
            raise TimeoutError("the traced program didn't take a snapshot")
        time.sleep(0.1)


def _check_turns(home: Path, prompts: int) -> None:
    """Raise RuntimeError if turns are missing, because an idle program would need no memory."""
    recordings = home.glob("share/tui-sessions/*/*/wire.jsonl")
    ended = sum(recording.read_text().count('"type":"TurnEnd"') for recording in recordings)
    if ended < prompts:
        raise RuntimeError(f"{prompts} prompts, but only {ended} turns")


def _memory_growth(snapshots: Path) -> Sequence[tuple[str, float]]:
    """Return the lines of code whose memory grew, and by how many KB, largest first."""
    early, late = (tracemalloc.Snapshot.load(str(snapshots / name)) for name in ("0", "1"))
    differences = late.compare_to(early, "lineno")
    total = sum(it.size_diff for it in differences) / 1024
    lines = [
        (
            f"{'/'.join(Path(it.traceback[0].filename).parts[-3:])}:{it.traceback[0].lineno}",
            it.size_diff / 1024,
        )
        for it in sorted(differences, key=lambda it: -it.size_diff)[:MAX_LINES]
    ]
    return [("all lines", total), *lines]
