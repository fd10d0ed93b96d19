"""The demo model's current turn, reconstructed from the conversation."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from kimi_tui.base.compaction_markers import is_summary
from kimi_tui.base.content_parts import ImageURLPart, TextPart, VideoURLPart, is_system_note
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message, ToolCall

DemoOutcome = Literal["done", "failed", "rejected"]


@frozen
class DemoToolResult:
    """A tool call and its result."""

    tool: str
    """The tool's name in the call."""
    arguments: Mapping[str, Any]
    outcome: DemoOutcome
    note: str
    """The program's message about the call."""
    output: str


@frozen
class DemoTurn:
    """The user's request, and the steps taken for it so far."""

    request: str
    has_images: bool
    steps: tuple[tuple[DemoToolResult, ...], ...]
    """Results of each step's calls. Calls without a result are omitted."""


def read_turn(history: Sequence[Message]) -> DemoTurn:
    """Return the last turn in `history`. A bare “continue” resumes the previous request."""
    begin = len(history) - 1
    while begin > 0 and (not _is_request(history[begin]) or _is_continue_request(history[begin])):
        begin -= 1
    if begin < 0 or not _is_request(history[begin]):
        return DemoTurn("", has_images=False, steps=())
    after = history[begin + 1 :]
    results = {message.tool_call_id: message for message in after if message.role == "tool"}
    return DemoTurn(
        request=_request_text(history[begin]),
        has_images=any(isinstance(part, ImageURLPart | VideoURLPart) for part in history[begin].content),
        steps=tuple(
            tuple(_result(call, results[call.id]) for call in message.tool_calls if call.id in results)
            for message in after
            if message.role == "assistant" and message.tool_calls
        ),
    )


_CONTINUE = frozenset({"continue", "go on", "继续", "接着做"})
_NOTE = re.compile(r"\A<system>(?P<note>.*?)</system>\n?", re.DOTALL)
_REJECTION = re.compile(
    r"\b(?:rejected|refused by|denied by|user denied|not approved|not allowed|denies)\b", re.IGNORECASE
)


def _is_request(message: Message) -> bool:
    return (
        message.role == "user"
        and (bool(_request_text(message)) or not is_system_note(message.content))
        and not is_summary(message)
    )


def _is_continue_request(message: Message) -> bool:
    return _request_text(message).lower().rstrip(".!。！") in _CONTINUE


def _request_text(message: Message) -> str:
    """Return the user's text without the notes that the program added."""
    texts = (part.text for part in message.content if isinstance(part, TextPart))
    return "\n".join(text for text in texts if not is_system_note(text)).strip()


def _result(call: ToolCall, message: Message) -> DemoToolResult:
    text = message.text
    match = _NOTE.match(text)
    note = match["note"].strip() if match else ""
    output = text[match.end() :] if match else text
    is_error = note.startswith("ERROR:")
    note = note.removeprefix("ERROR:").strip()
    outcome: DemoOutcome = "done"
    if is_error:
        outcome = "rejected" if _REJECTION.search(note) else "failed"
    return DemoToolResult(call.function.name, _arguments(call), outcome, note, output)


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        arguments = json.loads(call.function.arguments or "{}")
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}
