"""The turn that the demo model is in, read off the conversation: it keeps no state of its own."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kimi_tui.base.compacted import is_summary
from kimi_tui.base.content import ImageURLPart, TextPart, VideoURLPart, is_system_note
from kimi_tui.base.message import Message, ToolCall

Outcome = Literal["done", "failed", "refused"]


@dataclass(frozen=True, slots=True)
class Result:
    """A tool call and what came of it."""

    tool: str
    """The tool's name, as it was called."""
    arguments: Mapping[str, Any]
    outcome: Outcome
    note: str
    """What the program said about it."""
    output: str


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user asks, and the steps that have been taken for it."""

    request: str
    shows_pictures: bool
    steps: tuple[tuple[Result, ...], ...]
    """The results of each step's calls; a call without a result is left out."""


def read_turn(history: Sequence[Message]) -> Turn:
    """The turn that `history` ends in. A bare “continue” goes on with the request before it."""
    begin = len(history) - 1
    while begin > 0 and (not _is_request(history[begin]) or _wants_more(history[begin])):
        begin -= 1
    if begin < 0 or not _is_request(history[begin]):
        return Turn("", shows_pictures=False, steps=())
    after = history[begin + 1 :]
    results = {message.tool_call_id: message for message in after if message.role == "tool"}
    return Turn(
        request=_words(history[begin]),
        shows_pictures=any(isinstance(part, ImageURLPart | VideoURLPart) for part in history[begin].content),
        steps=tuple(
            tuple(_result(call, results[call.id]) for call in message.tool_calls if call.id in results)
            for message in after
            if message.role == "assistant" and message.tool_calls
        ),
    )


_MORE = frozenset({"continue", "go on", "继续", "接着做"})
_NOTE = re.compile(r"\A<system>(?P<note>.*?)</system>\n?", re.DOTALL)
_REFUSAL = re.compile(
    r"\b(?:rejected|refused by|denied by|user denied|not approved|not allowed|denies)\b", re.IGNORECASE
)


def _is_request(message: Message) -> bool:
    return (
        message.role == "user"
        and (bool(_words(message)) or not is_system_note(message.content))
        and not is_summary(message)
    )


def _wants_more(message: Message) -> bool:
    return _words(message).lower().rstrip(".!。！") in _MORE


def _words(message: Message) -> str:
    """What the user said, without the notes that the program put beside it."""
    texts = (part.text for part in message.content if isinstance(part, TextPart))
    return "\n".join(text for text in texts if not is_system_note(text)).strip()


def _result(call: ToolCall, message: Message) -> Result:
    text = message.text
    match = _NOTE.match(text)
    note = match["note"].strip() if match else ""
    output = text[match.end() :] if match else text
    failed = note.startswith("ERROR:")
    note = note.removeprefix("ERROR:").strip()
    outcome: Outcome = "done"
    if failed:
        outcome = "refused" if _REFUSAL.search(note) else "failed"
    return Result(call.function.name, _arguments(call), outcome, note, output)


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        arguments = json.loads(call.function.arguments or "{}")
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}
