"""What is restated after a compaction: where the request stands, the todos, what runs, the files in play."""

from collections.abc import Iterable, Sequence

from kimi_tui.base.content import system_note
from kimi_tui.base.message import Message, user_message
from kimi_tui.base.terminal import plain_line
from kimi_tui.compaction.transcript import arguments_of
from kimi_tui.history.conversation import is_note
from kimi_tui.wire.display import TodoItem

LEAD = "The conversation was compacted."
MOST_FILES = 20
_FILES = "Files in play, the latest last:"
_PATHS = ("path", "file_path")


def restatement(
    todos: Sequence[TodoItem], files: Sequence[str], *, under_way: bool, others: Sequence[str] = ()
) -> Message:
    """The note; `under_way` says that the user's request is being worked on. `others` are paragraphs."""
    parts = [LEAD]
    if under_way:
        parts.append(
            "The user's request above still holds, and part of it may be done: go on where you were, "
            "without doing again what has been done."
        )
    if todos:
        parts.append("\n".join(["The todo list:", *(f"- [{item.status}] {item.title}" for item in todos)]))
    parts.extend(others)
    if files:
        parts.append("\n".join([_FILES, *(f"- {path}" for path in files)]))
    return user_message((system_note("\n\n".join(parts)),))


def is_restatement(message: Message) -> bool:
    """Whether `message` is such a note."""
    return message.role == "user" and is_note(message) and message.text.startswith(f"<system>{LEAD}")


def files_in_play(history: Iterable[Message]) -> list[str]:
    """The files that calls named and that an earlier note listed, each once, the latest last.

    Calls that failed don't count.
    """
    seen: dict[str, None] = {}
    open_calls: dict[str, str] = {}
    for message in history:
        named = _listed(message) if is_restatement(message) else _succeeded(message, open_calls)
        for path in named:
            seen.pop(path, None)
            seen[path] = None
        for call in message.tool_calls or ():
            if path := _path(arguments_of(call)):
                open_calls[call.id] = path
    return list(seen)[-MOST_FILES:]


def _succeeded(result: Message, open_calls: dict[str, str]) -> list[str]:
    path = open_calls.pop(result.tool_call_id, None) if result.tool_call_id is not None else None
    return [path] if path is not None and not result.text.startswith("<system>ERROR") else []


def _listed(note: Message) -> list[str]:
    _, found, listed = note.text.removesuffix("</system>").partition(f"{_FILES}\n")
    return [line.removeprefix("- ") for line in listed.split("\n")] if found else []


def _path(arguments: dict[str, object]) -> str:
    value = next((arguments[name] for name in _PATHS if name in arguments), "")
    return plain_line(value) if isinstance(value, str) else ""
