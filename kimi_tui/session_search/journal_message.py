"""Parser of the searchable text in lines of journals. Damaged lines and other records are skipped."""

import json
import re
from typing import Any

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.message_search import Speaker

_ROLES: dict[str, Speaker] = {"user": "user", "assistant": "agent", "tool": "tool"}
_CHECKPOINT = re.compile(rb'\{"role"\s*:\s*"_checkpoint"')
_MESSAGE = re.compile(rb'\{"role"\s*:\s*"(?:user|assistant|tool)"')


@frozen
class JournalMessage:
    """The searchable text of a message."""

    speaker: Speaker
    text: str


@frozen
class CheckpointMark:
    """The id and time of a checkpoint; `time` is in seconds since the epoch, 0 if unknown."""

    id: int
    time: float


def is_checkpoint(data: bytes) -> bool:
    """Return whether a line of a journal begins like a checkpoint."""
    return _CHECKPOINT.match(data) is not None


def read_line(data: bytes) -> JournalMessage | CheckpointMark | None:
    """Return the message or checkpoint in a line of a journal, or None."""
    has_checkpoint = is_checkpoint(data)
    if not has_checkpoint and not _MESSAGE.match(data):
        return None
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if has_checkpoint:
        number, time = record.get("id"), record.get("time")
        if not isinstance(number, int):
            return None
        return CheckpointMark(number, float(time) if isinstance(time, int | float) else 0.0)
    text = "\n".join(part for part in [*_content_texts(record.get("content")), *_call_texts(record)] if part)
    return JournalMessage(_ROLES[record["role"]], text) if text else None


def _content_texts(content: Any) -> list[str]:
    if isinstance(content, str):
        parts: list[Any] = [{"text": content}]
    else:
        parts = content if isinstance(content, list) else []
    texts = [part.get("text") or part.get("think") for part in parts if isinstance(part, dict)]
    return [text for text in texts if isinstance(text, str) and not _is_note(text)]


def _is_note(text: str) -> bool:
    """Return whether the program wrote a text on the user's behalf, such as a reminder."""
    return text.startswith("<system>") and text.rstrip().endswith("</system>")


def _call_texts(record: dict[str, Any]) -> list[str]:
    calls = record.get("tool_calls")
    functions = (
        [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    )
    return [_call_text(function) for function in functions if isinstance(function, dict)]


def _call_text(function: dict[str, Any]) -> str:
    """Return a call's name and the values of its arguments, as the user saw them, instead of their JSON."""
    name, arguments = function.get("name"), function.get("arguments")
    try:
        values = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        values = arguments
    texts = _strings(list(values.values()) if isinstance(values, dict) else values)
    return " ".join([str(name or ""), *texts]).strip()


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for item in value for text in _strings(item)] if isinstance(value, list) else []
