"""Costs of common actions over the length of a conversation."""

from benchmarks.figure import Figure, median
from benchmarks.home import END_MARKER, KIMI_TUI, ROOT, new_home, serve_model
from benchmarks.plot import render_curves
from benchmarks.scale import Scale
from benchmarks.terminal import Terminal, terminal
from benchmarks.workloads.streaming import END, PACE

PAGE_UP, FIND, CLEAR = "\x1b[5~", "\x06", "\x15"
SEARCH_TERM = "zebra"
"""Not in any benchmark text, so that everything is searched."""
SECOND_CHECKPOINT = 2
"""Checkpoint before the second prompt that was actually sent. Generated turns have no checkpoints."""
CURVES = ROOT / "benchmarks" / "curves.svg"
RESPONSE = {"words": 150, "end": END, "rate": PACE}
MESSAGES_A_TURN = 4


def measure(scale: Scale) -> list[Figure]:
    """Return a figure for each length and action, relative to an empty conversation."""
    lengths = scale.choose((0, 1_000, 5_000, 20_000), (0, 1_000), (0, 40))
    costs = {messages: _costs(messages // MESSAGES_A_TURN) for messages in lengths}
    if scale.size == "whole":
        costs_by_action = {
            action: [costs[length][action] for length in lengths] for action in costs[lengths[0]]
        }
        CURVES.write_text(
            render_curves(
                "CPU time by number of messages in the conversation", lengths, costs_by_action, unit="ms"
            )
        )
    least = costs[lengths[0]]
    return [
        Figure(
            "growth",
            f"{action} with {messages:,} messages",
            cost,
            "ms",
            least[action],
            "an empty conversation",
        )
        for messages in lengths
        for action, cost in costs[messages].items()
    ]


def _costs(turns: int) -> dict[str, float]:
    """Return the milliseconds of CPU time by action."""
    with new_home() as home, serve_model([{"words": 20}, RESPONSE]) as (url, _):
        home.configure(url)
        home.make_session(turns)
        with terminal([KIMI_TUI, "--continue"], env=home.env, cwd=home.work_dir) as program:
            program.wait_for(END_MARKER)
            opened = program.cpu_s()
            program.wait_until_idle()
            scrolled = median([_cpu_ms(program, PAGE_UP) for _ in range(4)])
            start, cpu = program.written, program.cpu_s()
            program.type("go\r")
            program.wait_for(END, start=start)
            program.wait_until_idle()
            answered = (program.cpu_s() - cpu) * 1e3
            reverted = _cpu_ms(program, f"/revert {SECOND_CHECKPOINT} conversation\r") + _cpu_ms(
                program, "\r"
            )
            compacted = _cpu_ms(program, CLEAR + "/compact\r")
            program.type(FIND)
            program.wait_until_idle(0.3)
            searched = _cpu_ms(program, SEARCH_TERM)
            return {
                "open": opened * 1e3,
                "page up": scrolled,
                "response": answered,
                "search": searched,
                "revert one turn": reverted,
                "compaction": compacted,
            }


def _cpu_ms(program: Terminal, keys: str) -> float:
    before = program.cpu_s()
    program.type(keys)
    program.wait_until_idle(0.3)
    return (program.cpu_s() - before) * 1e3
