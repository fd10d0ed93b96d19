"""Print mode: a prompt with one tool call, and two hundred shell calls in one turn."""

import sys
from collections.abc import Sequence
from itertools import pairwise

from benchmarks.figure import Figure, median
from benchmarks.home import KIMI_TUI, Home, new_home, serve_model
from benchmarks.scale import Scale

READ = {"calls": [["ReadFile", {"path": "note.txt"}]]}
SHELLS = [{"calls": [["Bash", {"command": f"true {n}"}]]} for n in range(200)]
"""Different commands, because repeated identical calls are stopped."""
DONE = {"words": 20}


def measure(scale: Scale) -> list[Figure]:
    """Measure the CPU time of the program and its children."""
    return [*_one_call(rounds=scale.choose(8, 3, 1)), *_shell_calls(scale.choose(200, 60, 12))]


def _one_call(rounds: int) -> list[Figure]:
    ours, bare = [], []
    for _ in range(rounds):
        with new_home() as home, serve_model([READ, DONE]) as (url, _server):
            home.configure(url)
            (home.work_dir / "note.txt").write_text("tea\n")
            ours.append(_cpu_s([KIMI_TUI, "--print", "--quiet", "-p", "read the note"], home))
            bare.append(_cpu_s([sys.executable, "-m", "benchmarks.baselines.sse_reader", url, "2"], home))
    return [
        Figure("headless", "CPU of a prompt with one tool call", min(ours), "s", min(bare), "bare SSE reader")
    ]


def _shell_calls(count: int) -> list[Figure]:
    with new_home() as home, serve_model([*SHELLS[:count], DONE]) as (url, server):
        home.configure(url)
        cpu = _cpu_s([KIMI_TUI, "--print", "--yolo", "--quiet", "-p", "work"], home)
        bare = _cpu_s([sys.executable, "-c", _SPAWNS, str(count)], home)
        assert server.stdout is not None
        request_times = [float(server.stdout.readline()) for _ in range(count)]
    steps = [later - earlier for earlier, later in pairwise(request_times)]
    tenth = max(1, count // 10)
    early, late = median(steps[tenth : 2 * tenth]) * 1e3, median(steps[-tenth:]) * 1e3
    return [
        Figure("shell calls", f"CPU of {count} calls in one turn", cpu, "s", bare, f"{count} bare spawns"),
        Figure("shell calls", "late step", late, "ms", early, "early step", target=1.3),
    ]


_SPAWNS = "import subprocess, sys\nfor _ in range(int(sys.argv[1])): subprocess.run(['bash', '-c', 'true'])"


def _cpu_s(command: Sequence[str], home: Home) -> float:
    used = home.run(*command)
    return used.ru_utime + used.ru_stime
