"""The demo model's guided tour: a plan, a new file, an edit and a command, each with the user's
consent, and a way back for the user to go."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from kimi_tui.base.message import ToolCall
from kimi_tui.llm.demo_answer import Answer
from kimi_tui.llm.demo_grammar import Edit, Run, Todo, TodoMark, Write
from kimi_tui.llm.demo_markdown import block, code
from kimi_tui.llm.demo_tools import DemoTools
from kimi_tui.llm.demo_turn import Result, Turn
from kimi_tui.llm.demo_words import Words

_ACTS = ("WriteFile", "EditFile", "Bash")
_NAMES = ("hello.py", "hello_demo.py", *(f"hello_demo_{number}.py" for number in range(2, 10)))
_PROGRESS: tuple[TodoMark, ...] = ("done", "done", "done", "in_progress", "pending", "pending")
_FIRST = "Hello from the kimi-tui demo!"
_SECOND = "Hello again: this line was edited with your consent."


@dataclass(frozen=True, slots=True)
class _Stage:
    name: str
    text: str
    calls: tuple[ToolCall, ...]


def answer_to_tour(turn: Turn, tools: DemoTools, words: Words) -> Answer:
    """The tour's next step. It goes no further than the user allows, and writes only where no file is."""
    lacking = [tool for tool in _ACTS if not tools.has(tool)]
    if lacking:
        names = words.and_between.join(code(tool) for tool in lacking)
        return _last(words, words.tour_impossible.format(tools=names))
    name = _free_name(turn, tools)
    stopper = _stopper(turn, tools)
    if stopper is not None:
        ending = words.tour_stopped.format(tool=code(stopper.tool), note=stopper.note or words.empty)
        return _last(words, ending, *_clean_up(turn, tools, name, words))
    stages = [stage for stage in _stages(name, tools, words) if stage.calls]
    if len(turn.steps) < len(stages):
        stage = stages[len(turn.steps)]
        return Answer(words.tour_thought.format(stage=stage.name), stage.text, stage.calls)
    printed = next((result.output for result in _results(turn, tools, "Bash")), "")
    return _last(
        words,
        words.tour_end.format(output=block(printed)),
        words.tour_back.format(file=code(name)),
        *_clean_up(turn, tools, name, words),
        words.connect,
    )


def _stages(name: str, tools: DemoTools, words: Words) -> list[_Stage]:
    file = code(name)
    python = "python" if os.name == "nt" else "python3"
    look = tools.call("LS", {"path": "."}) or tools.call("Glob", {"pattern": "hello*.py"})
    todo = _todo_caller(tools, words)
    first, second, third = words.tour_todos
    return [
        _Stage("0", words.tour_begin, (*todo(0), *look)),
        _Stage(first, words.tour_write.format(file=file), tools.calls(Write(name, f'print("{_FIRST}")\n'))),
        _Stage(
            second, words.tour_edit.format(file=file), (*todo(1), *tools.calls(Edit(name, _FIRST, _SECOND)))
        ),
        _Stage(third, words.tour_run, (*todo(2), *tools.calls(Run(f"{python} {name}")))),
        _Stage("✓", "", todo(3)),
    ]


def _todo_caller(tools: DemoTools, words: Words) -> Callable[[int], tuple[ToolCall, ...]]:
    def call(done: int) -> tuple[ToolCall, ...]:
        marks = _PROGRESS[3 - done : 6 - done]
        return tools.calls(Todo(tuple(zip(words.tour_todos, marks, strict=True))))

    return call


def _free_name(turn: Turn, tools: DemoTools) -> str:
    """A name that the tour's look at the folder did not find."""
    looks = [*_results(turn, tools, "LS"), *_results(turn, tools, "Glob")]
    taken = " ".join(look.output for look in looks)
    return next((name for name in _NAMES if name not in taken), "hello_demo_10.py")


def _stopper(turn: Turn, tools: DemoTools) -> Result | None:
    """The call that the tour can't go on without, and that did not succeed."""
    results = turn.steps[-1] if turn.steps else ()
    return next((r for r in results if r.outcome != "done" and tools.known_as(r.tool) in _ACTS), None)


def _clean_up(turn: Turn, tools: DemoTools, name: str, words: Words) -> tuple[str, ...]:
    written = any(result.outcome == "done" for result in _results(turn, tools, "WriteFile"))
    return (words.tour_clean.format(name=name),) if written else ()


def _results(turn: Turn, tools: DemoTools, tool: str) -> list[Result]:
    return [result for step in turn.steps for result in step if tools.known_as(result.tool) == tool]


def _last(words: Words, *paragraphs: str) -> Answer:
    return Answer(words.thought_of_end, "\n\n".join(paragraphs))
