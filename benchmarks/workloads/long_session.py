"""A session of thousands of turns: resuming it, its memory, typing in it, streaming into it; and idleness."""

import sys
import time

from benchmarks.extent import Extent
from benchmarks.figure import Figure, median, percentile
from benchmarks.home import KIMI_TUI, LAST_WORDS, Home, model, new_home
from benchmarks.terminal import Terminal, terminal
from benchmarks.workloads.streaming import END, KEY_PERIOD_S, PACE

KEYS = 60
FOCUS_OUT, FOCUS_IN = "\x1b[O", "\x1b[I"
FOCUS_ROUNDS = 3
ASKED = "touch a-new-file"
PLAN = [{"words": 20}, {"words": 20}, {"calls": [["Bash", {"command": ASKED}]]}]
"""Two sessions are made with the first answers; the last one waits for an approval."""
ANSWER = {"words": 400, "end": END, "rate": PACE}


def measure(extent: Extent) -> list[Figure]:
    """Beside a session of 50 turns and an empty app."""
    turns, idle_s, rounds = extent.of((5_000, 10, 4), (1_000, 3, 2), (60, 1, 1))
    with new_home() as few, new_home() as many, model(PLAN) as (url, _):
        few.configure(url)
        few.make_session(50)
        many.configure(url)
        many.make_session(turns)
        opened = [(_open(few)[0], *_open(many)) for _ in range(rounds)]
        with terminal(
            [sys.executable, "-m", "benchmarks.baselines.empty_app"], env=few.env, cwd=few.work_dir
        ) as app:
            app.until("ready")
            app.rest()
            empty_mb = app.memory_mb()
        with terminal([KIMI_TUI, "--continue"], env=many.env, cwd=many.work_dir) as program:
            program.until(LAST_WORDS)
            program.rest()
            echoes = [_typed(program) for _ in range(KEYS)]
            program.rest()
            idle = _idle(program, idle_s)
            focus = median([_focus_s(program) for _ in range(FOCUS_ROUNDS)])
            program.type(FOCUS_OUT)
            unfocused = _idle(program, idle_s)
            program.type(FOCUS_IN + "go\r")
            program.until(ASKED)
            waiting = _idle(program, idle_s)
    return [
        Figure("resume", f"{turns:,} turns until the history shows", min(it[1] for it in opened), "s",
               min(it[0] for it in opened), "50 turns", most=1.3),
        Figure("resume", "memory then", min(it[2] for it in opened), "MB", most=110),
        Figure("resume", "memory of an empty app", empty_mb, "MB"),
        Figure("resume", "key to echo then, p95", percentile(echoes, 0.95) * 1e3, "ms", most=12),
        Figure("idle", f"CPU in {idle_s} s", idle * 1e3, "ms", most=0),
        Figure("idle", "the same without the focus", unfocused * 1e3, "ms", most=0),
        Figure("idle", "the same while an approval waits", waiting * 1e3, "ms", most=0),
        Figure("idle", "CPU of losing and getting the focus", focus * 1e3, "ms", most=50),
        *_stream_cost(turns),
    ]  # fmt: skip


def _typed(program: Terminal) -> float:
    """Seconds to the echo of a key, as quick typists press them."""
    time.sleep(KEY_PERIOD_S)
    return program.echo_s()


def _open(home: Home) -> tuple[float, float]:
    """Seconds until the end of the history shows, and MB once all is quiet."""
    began = time.perf_counter()
    with terminal([KIMI_TUI, "--continue"], env=home.env, cwd=home.work_dir) as program:
        program.until(LAST_WORDS)
        took = time.perf_counter() - began
        program.rest()
        return took, program.memory_mb()


def _focus_s(program: Terminal) -> float:
    before = program.run_s()
    for change in (FOCUS_OUT, FOCUS_IN):
        program.type(change)
        program.rest(0.3)
    return program.run_s() - before


def _idle(program: Terminal, seconds: float) -> float:
    program.rest()
    before = program.cpu_s()
    time.sleep(seconds)
    return program.cpu_s() - before


def _stream_cost(turns: int) -> list[Figure]:
    """What an answer costs at the end of a long conversation, beside the same at the end of a short one."""
    costs = []
    for count in (1, turns):
        with new_home() as home, model([{"words": 20}, ANSWER]) as (url, _):
            home.configure(url)
            home.make_session(count)
            with terminal([KIMI_TUI, "--continue"], env=home.env, cwd=home.work_dir) as program:
                program.until(LAST_WORDS)
                program.rest()
                start, cpu = program.written, program.cpu_s()
                program.type("go\r")
                program.until(END, start=start)
                program.rest()
                costs.append(program.cpu_s() - cpu)
    return [
        Figure(
            "streaming",
            f"CPU of an answer after {turns:,} turns",
            costs[1],
            "s",
            costs[0],
            "after one turn",
            most=1.2,
        )
    ]
