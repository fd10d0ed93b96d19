"""Text of messages, in lines that make sense when a screen reader reads them one by one."""

import json
from collections.abc import Iterator, Sequence
from typing import assert_never

from kimi_tui.base.content_parts import (
    ContentPart,
    ImageURLPart,
    TextPart,
    UserInput,
    as_parts,
    is_system_note,
)
from kimi_tui.base.terminal_text import sanitize, sanitize_line, show_invisible
from kimi_tui.base.tool_arguments import PartialToolArguments
from kimi_tui.frontend.text.effect_lines import describe_effects
from kimi_tui.frontend.text.request_summary import question_of, reason_of, source_of
from kimi_tui.frontend.text_diff import diff_rows
from kimi_tui.frontend.unusual_lines import find_unusual_lines
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.wire.display_blocks import (
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

_MAX_SUBJECT = 160
"""Maximum length of a call's subject, in characters."""


def shorten(text: str, max_length: int = _MAX_SUBJECT) -> str:
    """Return `text` on one line, truncated to `max_length`."""
    text = sanitize_line(text)
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


def call_summary(name: str, arguments: str | None) -> str:
    """Return a tool call's name and subject."""
    subject = shorten(PartialToolArguments(arguments).summary())
    return f"{sanitize_line(name)}, {subject}" if subject else sanitize_line(name)


def result_summary(call: str, result: ToolReturn) -> str:
    """Return the outcome of a tool call."""
    brief = next((block.text for block in result.display if isinstance(block, BriefBlock)), "")
    if result.was_rejected:
        return tr("Tool rejected: {call}.", call=call)
    if result.was_not_run:
        return tr("Tool not run: {call}.", call=call)
    if result.is_error:
        return tr("Tool failed: {call}. {why}", call=call, why=shorten(brief or result.message)).rstrip()
    changed = [block for block in result.display if isinstance(block, DiffBlock)]
    return tr("Tool done: {call}. {what}", call=call, what=change_summary(changed) or shorten(brief)).rstrip()


def change_summary(blocks: Sequence[DiffBlock]) -> str:
    """Return the number of added and removed lines, or an empty string without changes."""
    signs = [sign for block in blocks if not block.is_summary for sign, _, _ in _diff_rows(block)]
    if not signs:
        return ""
    return tr("Lines added: {added}, removed: {removed}.", added=signs.count("+"), removed=signs.count("−"))


def output_text(result: ToolReturn) -> str:
    """Return a tool's output as text."""
    if isinstance(result.output, str):
        return sanitize(result.output).rstrip("\n")
    return "\n".join(part_text(part) for part in result.output).rstrip("\n")


def user_text(user_input: UserInput) -> str:
    """Return the text of the user's message."""
    parts = [it for it in as_parts(user_input) if not (isinstance(it, TextPart) and is_system_note([it]))]
    return "\n".join(part_text(part) for part in parts)


def part_text(part: ContentPart) -> str:
    """Return the text of a content part, or a placeholder for media."""
    if isinstance(part, TextPart):
        return sanitize(part.text)
    return tr("(image)") if isinstance(part, ImageURLPart) else tr("(audio or video)")


def todo_lines(items: Sequence[TodoItem]) -> list[str]:
    """Return the todo list, with its states as words."""
    states = {"done": tr("done"), "in_progress": tr("in progress"), "pending": tr("pending")}
    return [f"{number}. {states[it.status]}: {sanitize_line(it.title)}" for number, it in enumerate(items, 1)]


def todo_summary(items: Sequence[TodoItem]) -> str:
    """Return the progress of the todo list as a sentence."""
    done = sum(item.status == "done" for item in items)
    current = next((sanitize_line(item.title) for item in items if item.status == "in_progress"), "")
    progress = tr("Todo list: {done} of {all} done.", done=done, all=len(items))
    return f"{progress} {tr('Now: {title}', title=current)}" if current else progress


def display_lines(block: DisplayBlock) -> list[str]:
    """Return the lines of a display block."""
    match block:
        case BriefBlock(text=text):
            return [sanitize_line(show_invisible(text))] if text else []
        case DiffBlock():
            return list(diff_lines(block))
        case TodoBlock(items=items):
            return todo_lines(items)
        case ShellBlock(command=command, danger=danger):
            lines = show_invisible(command).rstrip("\n").split("\n")
            if len(lines) > 1:
                lines = [tr("The command has {count} lines:", count=len(lines)), *lines]
            return [*lines, tr("Danger: {why}", why=sanitize_line(danger))] if danger else lines
        case BackgroundTaskBlock():
            fields = (block.task_id, translate_message(block.status.replace("_", " ")), block.description)
            return [", ".join(filter(None, map(sanitize_line, fields)))]
        case UnknownBlock(data=data):
            content = data.get("text")
            return sanitize(content if isinstance(content, str) else json.dumps(data)).split("\n")
        case _:
            assert_never(block)


def diff_lines(block: DiffBlock) -> Iterator[str]:
    """Return the lines of a diff. Each starts with its kind."""
    yield tr("Changes in {path}:", path=sanitize_line(block.path))
    if block.is_summary:
        yield from sanitize(block.new_text or block.old_text).rstrip("\n").split("\n")
        return
    for sign, number, text in _diff_rows(block):
        match sign:
            case "+":
                yield tr("line {number} added: {text}", number=number, text=text)
            case "−":
                yield tr("line {number} removed: {text}", number=number, text=text)
            case " ":
                yield tr("line {number}: {text}", number=number, text=text)
            case _:
                yield tr("(lines omitted)")


def _diff_rows(block: DiffBlock) -> Iterator[tuple[str, int, str]]:
    old, new = (
        show_invisible(text).rstrip("\n").split("\n") if text else []
        for text in (block.old_text, block.new_text)
    )
    for row in diff_rows(old, new, block.old_start, block.new_start):
        yield row.sign, row.number, row.text


def count_command_lines(request: ApprovalRequest) -> int:
    """Return the number of `approval_lines` up to the end of the command. 0 without a command."""
    commands = [block for block in request.display if isinstance(block, ShellBlock)]
    if not commands:
        return 0
    return len(_request_head(request)) + len(_unusual_lines(commands[0])) + len(display_lines(commands[0]))


def approval_lines(request: ApprovalRequest) -> list[str]:
    """Return all lines of a permission request."""
    details: list[str] = []
    for block in request.display:
        match block:
            case ShellBlock():
                details += [*_unusual_lines(block), *display_lines(block)]
                if request.effects is not None:
                    details += [line.text for line in describe_effects(request.effects)]
            case BriefBlock() if request.effects is not None:
                pass  # a summary of the effects
            case _:
                details += display_lines(block)
    lines = [*_request_head(request), *(details or [sanitize_line(request.description)])]
    if request.rule is not None:
        lines.append(tr("“Always allow” adds the rule {rule}", rule=sanitize_line(request.rule)))
    return lines


def _request_head(request: ApprovalRequest) -> list[str]:
    lines = [
        sanitize_line(question_of(request)),
        tr("Requested by: {source}", source=sanitize_line(source_of(request))),
    ]
    if request.danger:
        lines.append(tr("Danger: {why}", why=sanitize_line(translate_message(request.danger))))
    if reason := reason_of(request):
        lines.append(reason)
    return lines


def _unusual_lines(block: ShellBlock) -> list[str]:
    unusual = find_unusual_lines(block.command)
    if not unusual:
        return []
    lines = (f"{number}: {sanitize_line(show_invisible(line))}" for number, line in unusual)
    return [tr("Unusual lines of the command below:"), *lines]
