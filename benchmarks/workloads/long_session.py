"""A session of thousands of turns: time to resume, memory, typing, streaming and idle CPU."""

import sys
import time

from benchmarks.figure import Figure, median, percentile
from benchmarks.home import END_MARKER, KIMI_TUI, Home, new_home, serve_model
from benchmarks.scale import Scale
from benchmarks.terminal import Terminal, terminal
from benchmarks.workloads.streaming import END, KEY_PERIOD_S, PACE

KEYS = 60
FOCUS_OUT, FOCUS_IN = "\x1b[O", "\x1b[I"
FOCUS_ROUNDS = 3
ASKED = "touch a-new-file"
PLAN = [{"words": 20}, {"words": 20}, {"calls": [["Bash", {"command": ASKED}]]}]
"""The first responses create two sessions; the last one awaits approval."""
RESPONSE = {"words": 400, "end": END, "rate": PACE}


def measure(scale: Scale) -> list[Figure]:
    """Measure a long session, compared with one of 50 turns and an empty app."""
    turns, idle_s, rounds = scale.choose((5_000, 10, 4), (1_000, 3, 2), (60, 1, 1))
    with new_home() as few, new_home() as many, serve_model(PLAN) as (url, _):
        few.configure(url)
        few.make_session(50)
        many.configure(url)
        many.make_session(turns)
        opened = [(_open_session(few)[0], *_open_session(many)) for _ in range(rounds)]
        with terminal(
            [sys.executable, "-m", "benchmarks.baselines.empty_app"], env=few.env, cwd=few.work_dir
        ) as app:
            app.wait_for("ready")
            app.wait_until_idle()
            empty_mb = app.memory_mb()
        with terminal([KIMI_TUI, "--continue"], env=many.env, cwd=many.work_dir) as program:
            program.wait_for(END_MARKER)
            program.wait_until_idle()
            echoes = [_echo_latency(program) for _ in range(KEYS)]
            program.wait_until_idle()
            idle = _idle_cpu(program, idle_s)
            focus = median([_focus_s(program) for _ in range(FOCUS_ROUNDS)])
            program.type(FOCUS_OUT)
            unfocused = _idle_cpu(program, idle_s)
            program.type(FOCUS_IN + "go\r")
            program.wait_for(ASKED)
            waiting = _idle_cpu(program, idle_s)
    return [
        Figure("resume", f"{turns:,} turns until the history is shown", min(it[1] for it in opened), "s",
               min(it[0] for it in opened), "50 turns", target=1.3),
        Figure("resume", "memory after resuming", min(it[2] for it in opened), "MB", target=110),
        Figure("resume", "memory of an empty app", empty_mb, "MB"),
        Figure("resume", "key to echo after resuming, p95", percentile(echoes, 0.95) * 1e3, "ms", target=12),
        Figure("idle", f"CPU in {idle_s} s", idle * 1e3, "ms", target=0),
        Figure("idle", "the same without focus", unfocused * 1e3, "ms", target=0),
        Figure("idle", "the same while awaiting approval", waiting * 1e3, "ms", target=0),
        Figure("idle", "CPU of losing and gaining focus", focus * 1e3, "ms", target=50),
        *_stream_cost(turns),
    ]  # fmt: skip


def _echo_latency(program: Terminal) -> float:
    """Return the seconds until a key is echoed, at the pace of a fast typist."""
    time.sleep(KEY_PERIOD_S)
    return program.echo_s()


def _open_session(home: Home) -> tuple[float, float]:
    """Return the seconds until the end of the history is shown, and the memory in MB once idle."""
    began = time.perf_counter()
    with terminal([KIMI_TUI, "--continue"], env=home.env, cwd=home.work_dir) as program:
        program.wait_for(END_MARKER)
        duration = time.perf_counter() - began
        program.wait_until_idle()
        return duration, program.memory_mb()


def _focus_s(program: Terminal) -> float:
    before = program.run_s()
    for change in (FOCUS_OUT, FOCUS_IN):
        program.type(change)
        program.wait_until_idle(0.3)
    return program.run_s() - before


def _idle_cpu(program: Terminal, seconds: float) -> float:
    program.wait_until_idle()
    before = program.cpu_s()
    time.sleep(seconds)
    return program.cpu_s() - before


def _stream_cost(turns: int) -> list[Figure]:
    """Measure the cost of a response at the end of a long conversation, compared with a short one."""
    costs = []
    for count in (1, turns):
        with new_home() as home, serve_model([{"words": 20}, RESPONSE]) as (url, _):
            home.configure(url)
            home.make_session(count)
            with terminal([KIMI_TUI, "--continue"], env=home.env, cwd=home.work_dir) as program:
                program.wait_for(END_MARKER)
                program.wait_until_idle()
                start, cpu = program.written, program.cpu_s()
                program.type("go\r")
                program.wait_for(END, start=start)
                program.wait_until_idle()
                costs.append(program.cpu_s() - cpu)
    return [
        Figure(
            "streaming",
            f"CPU of a response after {turns:,} turns",
            costs[1],
            "s",
            costs[0],
            "after one turn",
            target=1.2,
        )
    ]
