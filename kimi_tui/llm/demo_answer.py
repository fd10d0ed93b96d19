"""What the demo model says and does next for a request in its grammar."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from kimi_tui.base.message import ToolCall
from kimi_tui.base.terminal import plain_line
from kimi_tui.llm.demo_grammar import Act, Ask, Edit, ListFolder, Part, Read, Run, Search, Think, Todo, Write
from kimi_tui.llm.demo_markdown import block, code
from kimi_tui.llm.demo_tools import DemoTools
from kimi_tui.llm.demo_turn import Result, Turn
from kimi_tui.llm.demo_words import Words


@dataclass(frozen=True, slots=True)
class Answer:
    """One message of the demo model. Without calls, the turn ends."""

    thought: str
    text: str
    calls: tuple[ToolCall, ...] = ()


def answer_to_parts(turn: Turn, parts: Sequence[Part], tools: DemoTools, words: Words) -> Answer:
    """The next step: a comment on the one before, then the next part that the agent has a tool for."""
    doable = [index for index, part in enumerate(parts) if tools.has(tools.tool_for(part.act))]
    taken = len(turn.steps)
    begin = doable[min(taken, len(doable)) - 1] + 1 if taken and doable else 0
    end = doable[taken] if taken < len(doable) else len(parts)

    said = [comment(result, tools, words) for result in (turn.steps[-1] if taken else ())]
    if taken and _must_stop(turn.steps[-1], tools):
        return Answer(
            words.thought_of_end, _joined(*said, _left_undone(parts[begin:], words), words.signature)
        )
    said += [_without_tool(part.act, part.words, tools, words) for part in parts[begin:end]]
    if end == len(parts):
        succeeded = doable and all(result.outcome == "done" for step in turn.steps for result in step)
        return Answer(
            words.thought_of_end, _joined(*said, words.finished if succeeded else "", words.signature)
        )
    part = parts[end]
    calls = tools.calls(part.act)
    thought = words.thought.format(
        number=end + 1, count=len(parts), part=code(part.words), tool=code(calls[0].function.name)
    )
    return Answer(thought, _joined(*said, _intention(part.act, words)), calls)


def comment(result: Result, tools: DemoTools, words: Words) -> str:
    """What came of a call, in words and with the first lines of what it gave."""
    tool = tools.known_as(result.tool)
    match result.outcome:
        case "refused":
            return words.refused.format(tool=code(result.tool), note=_note(result, words))
        case "failed":
            failure = words.failed.format(tool=code(result.tool), note=_note(result, words))
            return _joined(failure, block(result.output) if result.output.strip() else "")
        case "done":
            sentence = _success(tool, words).format(what=code(_subject(result)), tool=code(result.tool))
            return _joined(sentence, _shown(result, words)) if sentence.endswith((":", "：")) else sentence
        case _:
            assert_never(result.outcome)


def _must_stop(results: Sequence[Result], tools: DemoTools) -> bool:
    """Whether what comes next may rest on something that did not happen."""
    return any(
        result.outcome == "refused"
        or (result.outcome == "failed" and tools.known_as(result.tool) in ("WriteFile", "EditFile"))
        for result in results
    )


def _left_undone(parts: Sequence[Part], words: Words) -> str:
    return "\n".join([words.left_undone, "", *(f"- {code(part.words)}" for part in parts)]) if parts else ""


def _without_tool(act: Act, written: str, tools: DemoTools, words: Words) -> str:
    if isinstance(act, Ask):
        options = "\n".join(f"- {code(option)}" for option in act.options)
        return _joined(words.asking_here.format(question=code(act.question)), options)
    return words.lacking.format(tool=code(tools.tool_for(act)), part=code(written))


def _intention(act: Act, words: Words) -> str:
    match act:
        case Read(paths=paths):
            return words.reading.format(what=words.and_between.join(code(path) for path in paths))
        case Edit(path=path):
            return words.editing.format(what=code(path))
        case Write(path=path):
            return words.writing.format(what=code(path))
        case Run(command=command):
            return words.running.format(what=code(command))
        case Search(pattern=pattern):
            return words.searching.format(what=code(pattern))
        case ListFolder(path=path):
            return words.listing.format(what=code(path))
        case Todo():
            return words.planning
        case Think():
            return words.thinking
        case Ask():
            return words.asking
        case _:
            assert_never(act)


def _success(tool: str, words: Words) -> str:
    sentences = {
        "ReadFile": words.was_read,
        "EditFile": words.was_edited,
        "WriteFile": words.was_written,
        "Bash": words.was_run,
        "Grep": words.was_found,
        "Glob": words.was_listed,
        "LS": words.was_listed,
        "SetTodoList": words.was_planned,
        "Think": words.was_thought,
        "AskUserQuestion": words.was_asked,
    }
    return sentences.get(tool, words.was_done)


def _subject(result: Result) -> str:
    named = (result.arguments.get(key) for key in ("command", "directory", "path", "pattern"))
    if "output_mode" in result.arguments:
        return str(result.arguments.get("pattern"))
    return next((str(value) for value in named if value), ".")


def _shown(result: Result, words: Words) -> str:
    return block(result.output) if result.output.strip() else words.empty


def _note(result: Result, words: Words) -> str:
    return plain_line(result.note) or words.empty


def _joined(*paragraphs: str) -> str:
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
