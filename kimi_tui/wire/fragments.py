"""Merging of streamed fragments of text, thinking, arguments and output."""

from collections.abc import Iterable

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import ToolCallPart
from kimi_tui.wire.events import Event, ToolOutput
from kimi_tui.wire.requests import Request

_Message = Event | Request
_FRAGMENTS = frozenset({TextPart, ThinkPart, ToolCallPart, ToolOutput})


def is_fragment(message: _Message) -> bool:
    """Return whether `message` is part of a streamed response or streamed output."""
    return type(message) in _FRAGMENTS


def merge_fragments(messages: Iterable[_Message]) -> list[_Message]:
    """Return `messages` with adjacent fragments of text, thinking, arguments and output joined, in order."""
    merged: list[_Message] = []
    run: list[str] = []
    head: _Message | None = None
    for message in messages:
        if head is None and type(message) not in _FRAGMENTS:
            merged.append(message)
            continue
        if head is not None and _continues(head, message):
            run.append(_fragment_text(message))
            if isinstance(message, ThinkPart) and message.encrypted is not None:
                merged.append(ThinkPart("".join(run), message.encrypted))
                head = None
            continue
        if head is not None:
            merged.append(_join_fragments(head, run))
        if type(message) in _FRAGMENTS and not (
            isinstance(message, ThinkPart) and message.encrypted is not None
        ):
            head, run = message, [_fragment_text(message)]
        else:
            head = None
            merged.append(message)
    if head is not None:
        merged.append(_join_fragments(head, run))
    return merged


def _continues(head: _Message, message: _Message) -> bool:
    match head:
        case TextPart():
            return isinstance(message, TextPart)
        case ThinkPart():
            return isinstance(message, ThinkPart)
        case ToolCallPart(tool_call_id=call_id):
            return isinstance(message, ToolCallPart) and message.tool_call_id == call_id
        case ToolOutput(tool_call_id=call_id):
            return isinstance(message, ToolOutput) and message.tool_call_id == call_id
        case _:
            return False


def _fragment_text(message: _Message) -> str:
    match message:
        case TextPart(text=text) | ToolOutput(text=text):
            return text
        case ThinkPart(think=think):
            return think
        case ToolCallPart(arguments_part=part):
            return part or ""
        case _:
            raise TypeError(f"{type(message).__name__} is no fragment")


def _join_fragments(head: _Message, run: list[str]) -> _Message:
    if len(run) == 1:
        return head
    text = "".join(run)
    match head:
        case TextPart():
            return TextPart(text)
        case ThinkPart():
            return ThinkPart(text)
        case ToolCallPart(tool_call_id=call_id):
            return ToolCallPart(text, call_id)
        case ToolOutput(tool_call_id=call_id):
            return ToolOutput(call_id, text)
        case _:
            raise TypeError(f"{type(head).__name__} is no fragment")
