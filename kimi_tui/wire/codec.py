"""Conversion of Wire messages to and from `{"type": NAME, "payload": {...}}`."""

from typing import Any, get_args

from kimi_tui.base.content_parts import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    TextPart,
    ThinkPart,
    VideoURLPart,
)
from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.base.message_text import restore_texts, texts_to_jsonable
from kimi_tui.wire.commands import Command
from kimi_tui.wire.events import Event, Reverted, WireEnvelope
from kimi_tui.wire.requests import Answer, Request

PROTOCOL_VERSION = "1.10"
"""Version of kimi-cli's Wire protocol that this implementation is compatible with."""

_PARTS = (TextPart, ThinkPart, ImageURLPart, AudioURLPart, VideoURLPart)
_TYPES: dict[str, Any] = {
    cls.__name__: cls
    for cls in (*get_args(Event), *get_args(Request), *get_args(Answer))
    if cls not in _PARTS
} | {"ContentPart": ContentPart}
_COMMANDS: dict[str, Any] = {cls.__name__: cls for cls in get_args(Command)}


class UnknownWireMessage(ValueError):
    """A message has an unknown type or an invalid payload."""


def envelope(message: Event | Request | Answer) -> WireEnvelope:
    """Return `message` in an envelope. Fields that are None are omitted.

    Text that a front end can translate remains a MessageText, whose JSON is the English text.
    """
    name = "ContentPart" if isinstance(message, _PARTS) else type(message).__name__
    payload = restore_texts(to_jsonable(message), texts_to_jsonable(message))
    if isinstance(message, Reverted):
        payload["from"] = payload.pop("from_")
    return WireEnvelope(name, payload)


def encode(message: Event | Request | Answer) -> dict[str, Any]:
    """Return `message` as a JSON object."""
    wrapped = envelope(message)
    return {"type": wrapped.type, "payload": wrapped.payload}


def decode(data: Any) -> Event | Request | Answer:
    """Return the message in `data`. Unknown fields are ignored. Raises UnknownWireMessage."""
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        raise UnknownWireMessage("A Wire message must be an object with a type and a payload.")
    payload = data.get("payload") or {}
    if not isinstance(payload, dict):
        raise UnknownWireMessage(f"The payload of {data['type']} must be an object.")
    return unwrap(WireEnvelope(data["type"], payload))


def unwrap(wrapped: WireEnvelope) -> Event | Request | Answer:
    """Return the message in an envelope. Raises UnknownWireMessage."""
    cls = _TYPES.get(wrapped.type)
    if cls is None:
        raise UnknownWireMessage(f"Unknown Wire message “{wrapped.type}”.")
    payload = dict(wrapped.payload)
    if cls is Reverted and "from" in payload:
        payload["from_"] = payload.pop("from")
    try:
        message: Event | Request | Answer = restore_texts(
            from_jsonable(cls, payload), texts_to_jsonable(payload)
        )
    except ValueError as error:
        raise UnknownWireMessage(f"Invalid payload of {wrapped.type}: {error}") from error
    return message


def encode_command(command: Command) -> dict[str, Any]:
    """Return `command` as a JSON object."""
    return {"type": type(command).__name__, "payload": to_jsonable(command)}


def decode_command(data: Any) -> Command:
    """Return the command in `data`. Unknown fields are ignored. Raises UnknownWireMessage."""
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        raise UnknownWireMessage("A command must be an object with a type and a payload.")
    cls = _COMMANDS.get(data["type"])
    if cls is None:
        raise UnknownWireMessage(f"Unknown command “{data['type']}”.")
    try:
        command: Command = from_jsonable(cls, data.get("payload") or {})
    except ValueError as error:
        raise UnknownWireMessage(f"Invalid payload of {data['type']}: {error}") from error
    return command
