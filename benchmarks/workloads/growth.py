"""How costs grow with a conversation: opening, scrolling, searching, streaming, compacting, going back."""

from benchmarks.extent import Extent
from benchmarks.figure import Figure, median
from benchmarks.home import KIMI_TUI, LAST_WORDS, ROOT, model, new_home
from benchmarks.plot import curves
from benchmarks.terminal import Terminal, terminal
from benchmarks.workloads.streaming import END, PACE

PAGE_UP, FIND, CLEAR = "\x1b[5~", "\x06", "\x15"
WANTED = "zebra"
"""No text of the benchmarks has it, so that all of them are searched."""
OF_THE_ANSWER = 2
"""The checkpoint before the second prompt that was really sent; what is made between has none."""
CURVES = ROOT / "benchmarks" / "curves.svg"
ANSWER = {"words": 150, "end": END, "rate": PACE}
MESSAGES_A_TURN = 4


def measure(extent: Extent) -> list[Figure]:
    """One figure a length and act; the target holds the longest against the shortest."""
    lengths = extent.of((0, 1_000, 5_000, 20_000), (0, 1_000), (0, 40))
    costs = {messages: _costs(messages // MESSAGES_A_TURN) for messages in lengths}
    if extent.size == "whole":
        acts = {act: [costs[length][act] for length in lengths] for act in costs[lengths[0]]}
        CURVES.write_text(
            curves("What an act costs over the messages of a conversation", lengths, acts, unit="ms")
        )
    least = costs[lengths[0]]
    return [
        Figure("growth", f"{act} with {messages:,} messages", cost, "ms", least[act], "an empty conversation")
        for messages in lengths
        for act, cost in costs[messages].items()
    ]


def _costs(turns: int) -> dict[str, float]:
    """Milliseconds of CPU."""
    with new_home() as home, model([{"words": 20}, ANSWER]) as (url, _):
        home.configure(url)
        home.make_session(turns)
        with terminal([KIMI_TUI, "--continue"], env=home.env, cwd=home.work_dir) as program:
            program.until(LAST_WORDS)
            opened = program.cpu_s()
            program.rest()
            scrolled = median([_cpu_ms(program, PAGE_UP) for _ in range(4)])
            start, cpu = program.written, program.cpu_s()
            program.type("go\r")
            program.until(END, start=start)
            program.rest()
            answered = (program.cpu_s() - cpu) * 1e3
            went_back = _cpu_ms(program, f"/revert {OF_THE_ANSWER} conversation\r") + _cpu_ms(program, "\r")
            compacted = _cpu_ms(program, CLEAR + "/compact\r")
            program.type(FIND)
            program.rest(0.3)
            searched = _cpu_ms(program, WANTED)
            return {
                "open": opened * 1e3,
                "a page up": scrolled,
                "an answer": answered,
                "a search": searched,
                "going back a turn": went_back,
                "a compaction": compacted,
            }


def _cpu_ms(program: Terminal, keys: str) -> float:
    before = program.cpu_s()
    program.type(keys)
    program.rest(0.3)
    return (program.cpu_s() - before) * 1e3
