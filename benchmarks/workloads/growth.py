"""How costs grow with a conversation: opening, scrolling, searching and streaming at several lengths."""

import time

from benchmarks.figure import Figure, median
from benchmarks.home import KIMI_TUI, LAST_WORDS, model, new_home
from benchmarks.terminal import Terminal, terminal
from benchmarks.workloads.streaming import END, PACE

PAGE_UP = "\x1b[5~"
ANSWER = {"words": 150, "end": END, "rate": PACE}
MESSAGES_A_TURN = 4


def measure(*, short: bool) -> list[Figure]:
    """One figure a length and act; the target holds the longest against the shortest."""
    lengths = (0, 1_000) if short else (0, 1_000, 5_000, 20_000)
    costs = {messages: _costs(messages // MESSAGES_A_TURN) for messages in lengths}
    least = costs[lengths[0]]
    return [
        Figure("growth", f"{act} with {messages:,} messages", cost, "ms", least[act], "an empty conversation")
        for messages in lengths
        for act, cost in costs[messages].items()
    ]


def _costs(turns: int) -> dict[str, float]:
    """Milliseconds: of the wall for opening, of CPU for the rest."""
    with new_home() as home, model([{"words": 20}, ANSWER]) as (url, _):
        home.configure(url)
        home.make_session(turns)
        began = time.perf_counter()
        with terminal([KIMI_TUI, "--continue"], env=home.env, cwd=home.work_dir) as program:
            program.until(LAST_WORDS)
            opened = time.perf_counter() - began
            program.rest()
            scrolled = median([_cpu_ms(program, PAGE_UP) for _ in range(4)])
            start, cpu = program.written, program.cpu_s()
            program.type("go\r")
            program.until(END, start=start)
            program.rest()
            return {"open": opened * 1e3, "a page up": scrolled, "an answer": (program.cpu_s() - cpu) * 1e3}


def _cpu_ms(program: Terminal, keys: str) -> float:
    before = program.cpu_s()
    program.type(keys)
    program.rest(0.3)
    return (program.cpu_s() - before) * 1e3
