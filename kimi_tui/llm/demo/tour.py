"""Guided tour of the demo model.

The tour creates a todo list, writes and edits a file with the user's approval, and runs the file. Then it
explains how to revert these changes, and how to use bisect and attempts.
"""

import os
from collections.abc import Callable

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import ToolCall
from kimi_tui.llm.demo.grammar import DemoEdit, DemoRun, DemoTodo, DemoWrite, TodoMark
from kimi_tui.llm.demo.markdown import code_block, inline_code
from kimi_tui.llm.demo.phrases import Phrases
from kimi_tui.llm.demo.response import DemoResponse
from kimi_tui.llm.demo.tools import DemoTools
from kimi_tui.llm.demo.turn import DemoToolResult, DemoTurn

_REQUIRED_TOOLS = ("WriteFile", "EditFile", "Bash")
_NAMES = ("hello.py", "hello_demo.py", *(f"hello_demo_{number}.py" for number in range(2, 10)))
_PROGRESS: tuple[TodoMark, ...] = ("done", "done", "done", "in_progress", "pending", "pending")
_ORIGINAL_LINE = "Hello from the kimi-tui demo!"
_EDITED_LINE = "Hello again! This line was edited with your approval."


@frozen
class _TourStep:
    name: str
    text: str
    calls: tuple[ToolCall, ...]


def respond_to_tour(turn: DemoTurn, tools: DemoTools, phrases: Phrases) -> DemoResponse:
    """Return the tour's next step. The tour ends if the user rejects a call, and never overwrites files."""
    missing = [tool for tool in _REQUIRED_TOOLS if not tools.has(tool)]
    if missing:
        names = phrases.conjunction.join(inline_code(tool) for tool in missing)
        return _final_response(phrases, phrases.tour_missing_tools.format(tools=names))
    name = _unused_name(turn, tools)
    blocker = _blocking_result(turn, tools)
    if blocker is not None:
        ending = phrases.tour_stopped.format(
            tool=inline_code(blocker.tool), note=blocker.note or phrases.no_output
        )
        return _final_response(phrases, ending, *_cleanup_text(turn, tools, name, phrases))
    steps = [step for step in _tour_steps(name, tools, phrases) if step.calls]
    if len(turn.steps) < len(steps):
        step = steps[len(turn.steps)]
        return DemoResponse(phrases.tour_thought.format(stage=step.name), step.text, step.calls)
    output = next((result.output for result in _results(turn, tools, "Bash")), "")
    return _final_response(
        phrases,
        phrases.tour_end.format(output=code_block(output)),
        phrases.tour_revert.format(file=inline_code(name)),
        phrases.tour_more.format(name=name),
        *_cleanup_text(turn, tools, name, phrases),
        phrases.connect,
    )


def _tour_steps(name: str, tools: DemoTools, phrases: Phrases) -> list[_TourStep]:
    file = inline_code(name)
    python = "python" if os.name == "nt" else "python3"
    listing = tools.call("LS", {"path": "."}) or tools.call("Glob", {"pattern": "hello*.py"})
    todo = _todo_call_factory(tools, phrases)
    first, second, third = phrases.tour_todos
    return [
        _TourStep("0", phrases.tour_begin, (*todo(0), *listing)),
        _TourStep(
            first,
            phrases.tour_write.format(file=file),
            tools.calls(DemoWrite(name, f'print("{_ORIGINAL_LINE}")\n')),
        ),
        _TourStep(
            second,
            phrases.tour_edit.format(file=file),
            (*todo(1), *tools.calls(DemoEdit(name, _ORIGINAL_LINE, _EDITED_LINE))),
        ),
        _TourStep(third, phrases.tour_run, (*todo(2), *tools.calls(DemoRun(f"{python} {name}")))),
        _TourStep("✓", "", todo(3)),
    ]


def _todo_call_factory(tools: DemoTools, phrases: Phrases) -> Callable[[int], tuple[ToolCall, ...]]:
    def call(done: int) -> tuple[ToolCall, ...]:
        marks = _PROGRESS[3 - done : 6 - done]
        return tools.calls(DemoTodo(tuple(zip(phrases.tour_todos, marks, strict=True))))

    return call


def _unused_name(turn: DemoTurn, tools: DemoTools) -> str:
    """Return a file name that isn't in the tour's directory listing."""
    listings = [*_results(turn, tools, "LS"), *_results(turn, tools, "Glob")]
    existing = " ".join(listing.output for listing in listings)
    return next((name for name in _NAMES if name not in existing), "hello_demo_10.py")


def _blocking_result(turn: DemoTurn, tools: DemoTools) -> DemoToolResult | None:
    """Return the result of a required call that failed or was rejected, if any."""
    results = turn.steps[-1] if turn.steps else ()
    return next(
        (r for r in results if r.outcome != "done" and tools.canonical_name(r.tool) in _REQUIRED_TOOLS), None
    )


def _cleanup_text(turn: DemoTurn, tools: DemoTools, name: str, phrases: Phrases) -> tuple[str, ...]:
    has_file = any(result.outcome == "done" for result in _results(turn, tools, "WriteFile"))
    return (phrases.tour_cleanup.format(name=name),) if has_file else ()


def _results(turn: DemoTurn, tools: DemoTools, tool: str) -> list[DemoToolResult]:
    return [result for step in turn.steps for result in step if tools.canonical_name(result.tool) == tool]


def _final_response(phrases: Phrases, *paragraphs: str) -> DemoResponse:
    return DemoResponse(phrases.final_thought, "\n\n".join(paragraphs))
