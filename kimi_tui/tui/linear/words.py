"""What stands in messages, in lines that make sense when they are heard one by one."""

import json
from collections.abc import Iterator, Sequence
from typing import assert_never

from kimi_tui.base.call_arguments import Arguments
from kimi_tui.base.content import ContentPart, ImageURLPart, TextPart, UserInput, as_parts, is_system_note
from kimi_tui.base.terminal import plain, plain_line, revealed
from kimi_tui.language.saying import retell, say
from kimi_tui.tui.approvals.summary import question_of, source_of
from kimi_tui.tui.transcript.comparison import compared
from kimi_tui.wire.display import (
    BackgroundTaskBlock,
    BriefBlock,
    DiffBlock,
    DisplayBlock,
    ShellBlock,
    TodoBlock,
    TodoItem,
    UnknownBlock,
)
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import ApprovalRequest

_LONGEST = 160
"""Characters of a call's subject."""


def short(text: str, longest: int = _LONGEST) -> str:
    """`text` on one line, cut off where it gets long."""
    text = plain_line(text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def call_words(name: str, arguments: str | None) -> str:
    """A tool call: its tool, and what it is about."""
    about = short(Arguments(arguments).telling())
    return f"{plain_line(name)}, {about}" if about else plain_line(name)


def result_words(call: str, result: ToolReturn) -> str:
    """How a call has ended."""
    brief = next((block.text for block in result.display if isinstance(block, BriefBlock)), "")
    if (result.extras or {}).get("rejected"):
        return say("Tool refused: {call}.", call=call)
    if result.is_error:
        return say("Tool failed: {call}. {why}", call=call, why=short(brief or result.message)).rstrip()
    changed = [block for block in result.display if isinstance(block, DiffBlock)]
    return say("Tool done: {call}. {what}", call=call, what=changes(changed) or short(brief)).rstrip()


def changes(blocks: Sequence[DiffBlock]) -> str:
    """How many lines a change adds and takes away; nothing for no change."""
    signs = [sign for block in blocks if not block.is_summary for sign, _, _ in _rows(block)]
    if not signs:
        return ""
    return say("Lines added: {added}, removed: {removed}.", added=signs.count("+"), removed=signs.count("−"))


def output_of(result: ToolReturn) -> str:
    """What a tool gave back, as text."""
    if isinstance(result.output, str):
        return plain(result.output).rstrip("\n")
    return "\n".join(part_words(part) for part in result.output).rstrip("\n")


def said(user_input: UserInput) -> str:
    """What the user said."""
    parts = [it for it in as_parts(user_input) if not (isinstance(it, TextPart) and is_system_note([it]))]
    return "\n".join(part_words(part) for part in parts)


def part_words(part: ContentPart) -> str:
    """A part of a message: its text, or what it is."""
    if isinstance(part, TextPart):
        return plain(part.text)
    return say("(a picture)") if isinstance(part, ImageURLPart) else say("(sound or film)")


def todo_lines(items: Sequence[TodoItem]) -> list[str]:
    """The todo list, its states in words."""
    states = {"done": say("done"), "in_progress": say("in progress"), "pending": say("to do")}
    return [f"{number}. {states[it.status]}: {plain_line(it.title)}" for number, it in enumerate(items, 1)]


def todo_summary(items: Sequence[TodoItem]) -> str:
    """How far the todo list is, in a sentence."""
    done = sum(item.status == "done" for item in items)
    now = next((plain_line(item.title) for item in items if item.status == "in_progress"), "")
    words = say("Todo list: {done} of {all} done.", done=done, all=len(items))
    return f"{words} {say('Now: {title}', title=now)}" if now else words


def display_lines(block: DisplayBlock) -> list[str]:
    """A display block."""
    match block:
        case BriefBlock(text=text):
            return [plain_line(revealed(text))] if text else []
        case DiffBlock():
            return list(diff_lines(block))
        case TodoBlock(items=items):
            return todo_lines(items)
        case ShellBlock(command=command, danger=danger):
            lines = revealed(command).rstrip("\n").split("\n")
            if len(lines) > 1:
                lines = [say("The command has {count} lines:", count=len(lines)), *lines]
            return [*lines, say("Danger: {why}", why=plain_line(danger))] if danger else lines
        case BackgroundTaskBlock():
            words = (block.kind, block.task_id, block.status, block.description)
            return [", ".join(filter(None, map(plain_line, words)))]
        case UnknownBlock(data=data):
            given = data.get("text")
            return plain(given if isinstance(given, str) else json.dumps(data)).split("\n")
        case _:
            assert_never(block)


def diff_lines(block: DiffBlock) -> Iterator[str]:
    """A change, line by line: what each line is comes before it."""
    yield say("Changes in {path}:", path=plain_line(block.path))
    if block.is_summary:
        yield from plain(block.new_text or block.old_text).rstrip("\n").split("\n")
        return
    for sign, number, text in _rows(block):
        match sign:
            case "+":
                yield say("line {number} added: {text}", number=number, text=text)
            case "−":
                yield say("line {number} removed: {text}", number=number, text=text)
            case " ":
                yield say("line {number}: {text}", number=number, text=text)
            case _:
                yield say("(lines left out)")


def _rows(block: DiffBlock) -> Iterator[tuple[str, int, str]]:
    old, new = (
        revealed(text).rstrip("\n").split("\n") if text else [] for text in (block.old_text, block.new_text)
    )
    for row in compared(old, new, block.old_start, block.new_start):
        yield row.sign, row.number, row.text


def approval_lines(request: ApprovalRequest) -> list[str]:
    """What an approval is about, whole."""
    lines = [
        plain_line(question_of(request)),
        say("It comes from the {source}.", source=plain_line(source_of(request))),
    ]
    if request.danger:
        lines.append(say("Danger: {why}", why=plain_line(retell(request.danger))))
    shown = [line for block in request.display for line in display_lines(block)]
    lines += shown or [plain_line(request.description)]
    if request.rule is not None:
        lines.append(say("Always would write the rule {rule}.", rule=plain_line(request.rule)))
    return lines
