"""Carry-over note after a compaction: the status of the request, todos, running tasks and touched files."""

from collections.abc import Iterable, Sequence

from kimi_tui.base.content_parts import system_note
from kimi_tui.base.message import Message, user_message
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.compaction.summary_input import parse_arguments
from kimi_tui.history.message_history import is_note
from kimi_tui.wire.display_blocks import TodoItem

CARRY_OVER_PREFIX = "The conversation was compacted."
MAX_FILES = 20
_FILES_HEADING = "Files in play, the latest last:"
_PATH_ARGUMENTS = ("path", "file_path")


def build_carry_over(
    todos: Sequence[TodoItem], files: Sequence[str], *, in_progress: bool, paragraphs: Sequence[str] = ()
) -> Message:
    """Return the carry-over note. `in_progress`: whether the user's request is still in progress."""
    parts = [CARRY_OVER_PREFIX]
    if in_progress:
        parts.append(
            "The user's request above is still in progress, and part of it may be done. Continue where you "
            "were, and don't repeat finished work."
        )
    if todos:
        parts.append("\n".join(["The todo list:", *(f"- [{item.status}] {item.title}" for item in todos)]))
    parts.extend(paragraphs)
    if files:
        parts.append("\n".join([_FILES_HEADING, *(f"- {path}" for path in files)]))
    return user_message((system_note("\n\n".join(parts)),))


def is_carry_over(message: Message) -> bool:
    """Return whether `message` is a carry-over note."""
    return (
        message.role == "user"
        and is_note(message)
        and message.text.startswith(f"<system>{CARRY_OVER_PREFIX}")
    )


def touched_files(history: Iterable[Message]) -> list[str]:
    """Return the paths in successful tool calls and earlier carry-over notes.

    The result contains the latest MAX_FILES paths, without duplicates, latest last.
    """
    seen: dict[str, None] = {}
    open_calls: dict[str, str] = {}
    for message in history:
        paths = _parse_files(message) if is_carry_over(message) else _successful_path(message, open_calls)
        for path in paths:
            seen.pop(path, None)
            seen[path] = None
        for call in message.tool_calls or ():
            if path := _path_argument(parse_arguments(call)):
                open_calls[call.id] = path
    return list(seen)[-MAX_FILES:]


def _successful_path(result: Message, open_calls: dict[str, str]) -> list[str]:
    path = open_calls.pop(result.tool_call_id, None) if result.tool_call_id is not None else None
    return [path] if path is not None and not result.text.startswith("<system>ERROR") else []


def _parse_files(note: Message) -> list[str]:
    _, heading, files = note.text.removesuffix("</system>").partition(f"{_FILES_HEADING}\n")
    return [line.removeprefix("- ") for line in files.split("\n")] if heading else []


def _path_argument(arguments: dict[str, object]) -> str:
    value = next((arguments[name] for name in _PATH_ARGUMENTS if name in arguments), "")
    return sanitize_line(value) if isinstance(value, str) else ""
