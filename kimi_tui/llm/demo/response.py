"""Responses of the demo model to requests in its grammar."""

from collections.abc import Sequence
from typing import assert_never

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import ToolCall
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.llm.demo.grammar import (
    DemoAction,
    DemoAsk,
    DemoEdit,
    DemoListDirectory,
    DemoRead,
    DemoRequestPart,
    DemoRun,
    DemoSearch,
    DemoThink,
    DemoTodo,
    DemoWrite,
)
from kimi_tui.llm.demo.markdown import code_block, inline_code
from kimi_tui.llm.demo.phrases import Phrases
from kimi_tui.llm.demo.tools import DemoTools
from kimi_tui.llm.demo.turn import DemoToolResult, DemoTurn


@frozen
class DemoResponse:
    """One message of the demo model. Without calls, the turn ends."""

    thought: str
    text: str
    calls: tuple[ToolCall, ...] = ()


def respond_to_parts(
    turn: DemoTurn, parts: Sequence[DemoRequestPart], tools: DemoTools, phrases: Phrases
) -> DemoResponse:
    """Return the next step: a comment on the last results, then the next part with an available tool."""
    doable = [index for index, part in enumerate(parts) if tools.has(tools.tool_for(part.action))]
    step_count = len(turn.steps)
    begin = doable[min(step_count, len(doable)) - 1] + 1 if step_count and doable else 0
    end = doable[step_count] if step_count < len(doable) else len(parts)

    paragraphs = [
        describe_result(result, tools, phrases) for result in (turn.steps[-1] if turn.steps else ())
    ]
    if step_count and _must_stop(turn.steps[-1], tools):
        return DemoResponse(
            phrases.final_thought,
            _join_paragraphs(*paragraphs, _skipped_text(parts[begin:], phrases), phrases.signature),
        )
    paragraphs += [_missing_tool_text(part.action, part.text, tools, phrases) for part in parts[begin:end]]
    if end == len(parts):
        succeeded = doable and all(result.outcome == "done" for step in turn.steps for result in step)
        return DemoResponse(
            phrases.final_thought,
            _join_paragraphs(*paragraphs, phrases.finished if succeeded else "", phrases.signature),
        )
    part = parts[end]
    calls = tools.calls(part.action)
    thought = phrases.thought.format(
        number=end + 1,
        count=len(parts),
        part=inline_code(part.text),
        tool=inline_code(calls[0].function.name),
    )
    return DemoResponse(thought, _join_paragraphs(*paragraphs, _intention_text(part.action, phrases)), calls)


def describe_result(result: DemoToolResult, tools: DemoTools, phrases: Phrases) -> str:
    """Return a sentence about a call's result, with the first lines of its output."""
    tool = tools.canonical_name(result.tool)
    match result.outcome:
        case "rejected":
            return phrases.rejected.format(tool=inline_code(result.tool), note=_note_text(result, phrases))
        case "failed":
            failure = phrases.failed.format(tool=inline_code(result.tool), note=_note_text(result, phrases))
            return _join_paragraphs(failure, code_block(result.output) if result.output.strip() else "")
        case "done":
            sentence = _success_text(tool, phrases).format(
                what=inline_code(_subject(result)), tool=inline_code(result.tool)
            )
            return (
                _join_paragraphs(sentence, _output_text(result, phrases))
                if sentence.endswith((":", "："))
                else sentence
            )
        case _:
            assert_never(result.outcome)


def _must_stop(results: Sequence[DemoToolResult], tools: DemoTools) -> bool:
    """Return whether the following parts may depend on a change that failed or was rejected."""
    return any(
        result.outcome == "rejected"
        or (result.outcome == "failed" and tools.canonical_name(result.tool) in ("WriteFile", "EditFile"))
        for result in results
    )


def _skipped_text(parts: Sequence[DemoRequestPart], phrases: Phrases) -> str:
    return (
        "\n".join([phrases.skipped, "", *(f"- {inline_code(part.text)}" for part in parts)]) if parts else ""
    )


def _missing_tool_text(action: DemoAction, request_text: str, tools: DemoTools, phrases: Phrases) -> str:
    if isinstance(action, DemoAsk):
        options = "\n".join(f"- {inline_code(option)}" for option in action.options)
        return _join_paragraphs(
            phrases.question_without_tool.format(question=inline_code(action.question)), options
        )
    return phrases.missing_tool.format(
        tool=inline_code(tools.tool_for(action)), part=inline_code(request_text)
    )


def _intention_text(action: DemoAction, phrases: Phrases) -> str:
    match action:
        case DemoRead(paths=paths):
            return phrases.reading.format(what=phrases.conjunction.join(inline_code(path) for path in paths))
        case DemoEdit(path=path):
            return phrases.editing.format(what=inline_code(path))
        case DemoWrite(path=path):
            return phrases.writing.format(what=inline_code(path))
        case DemoRun(command=command):
            return phrases.running.format(what=inline_code(command))
        case DemoSearch(pattern=pattern):
            return phrases.searching.format(what=inline_code(pattern))
        case DemoListDirectory(path=path):
            return phrases.listing.format(what=inline_code(path))
        case DemoTodo():
            return phrases.setting_todos
        case DemoThink():
            return phrases.thinking
        case DemoAsk():
            return phrases.asking
        case _:
            assert_never(action)


def _success_text(tool: str, phrases: Phrases) -> str:
    sentences = {
        "ReadFile": phrases.read_done,
        "EditFile": phrases.edit_done,
        "WriteFile": phrases.write_done,
        "Bash": phrases.run_done,
        "Grep": phrases.search_done,
        "Glob": phrases.list_done,
        "LS": phrases.list_done,
        "SetTodoList": phrases.todo_done,
        "Think": phrases.think_done,
        "AskUserQuestion": phrases.question_done,
    }
    return sentences.get(tool, phrases.other_done)


def _subject(result: DemoToolResult) -> str:
    values = (result.arguments.get(key) for key in ("command", "directory", "path", "pattern"))
    if "output_mode" in result.arguments:
        return str(result.arguments.get("pattern"))
    return next((str(value) for value in values if value), ".")


def _output_text(result: DemoToolResult, phrases: Phrases) -> str:
    return code_block(result.output) if result.output.strip() else phrases.no_output


def _note_text(result: DemoToolResult, phrases: Phrases) -> str:
    return sanitize_line(result.note) or phrases.no_output


def _join_paragraphs(*paragraphs: str) -> str:
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
