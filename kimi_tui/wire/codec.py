"""Wire messages to and from `{"type": NAME, "payload": {...}}`."""

from typing import Any, get_args

from kimi_tui.base.content import AudioURLPart, ContentPart, ImageURLPart, TextPart, ThinkPart, VideoURLPart
from kimi_tui.base.encoding import from_jsonable, to_jsonable
from kimi_tui.wire.events import Event, Reverted, WireEnvelope
from kimi_tui.wire.requests import Answer, Request

PROTOCOL_VERSION = "1.10"
"""The version of kimi-cli's Wire that ours is compatible with."""

_PARTS = (TextPart, ThinkPart, ImageURLPart, AudioURLPart, VideoURLPart)
_TYPES: dict[str, Any] = {
    cls.__name__: cls
    for cls in (*get_args(Event), *get_args(Request), *get_args(Answer))
    if cls not in _PARTS
} | {"ContentPart": ContentPart}


class UnknownWireMessage(ValueError):
    """A message of a type that this version doesn't know, or whose payload doesn't fit its type."""


def envelope(message: Event | Request | Answer) -> WireEnvelope:
    """`message` as it travels. Fields that are None are left out."""
    name = "ContentPart" if isinstance(message, _PARTS) else type(message).__name__
    payload = to_jsonable(message)
    if isinstance(message, Reverted):
        payload["from"] = payload.pop("from_")
    return WireEnvelope(name, payload)


def encode(message: Event | Request | Answer) -> dict[str, Any]:
    """`message` as a JSON object."""
    wrapped = envelope(message)
    return {"type": wrapped.type, "payload": wrapped.payload}


def decode(data: Any) -> Event | Request | Answer:
    """The message in `data`. Raises UnknownWireMessage; unknown fields are ignored."""
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        raise UnknownWireMessage("A wire message is an object with a type and a payload.")
    payload = data.get("payload") or {}
    if not isinstance(payload, dict):
        raise UnknownWireMessage(f"The payload of {data['type']} is no object.")
    return unwrap(WireEnvelope(data["type"], payload))


def unwrap(wrapped: WireEnvelope) -> Event | Request | Answer:
    """The message in an envelope. Raises UnknownWireMessage."""
    cls = _TYPES.get(wrapped.type)
    if cls is None:
        raise UnknownWireMessage(f"There is no wire message “{wrapped.type}”.")
    payload = dict(wrapped.payload)
    if cls is Reverted and "from" in payload:
        payload["from_"] = payload.pop("from")
    try:
        message: Event | Request | Answer = from_jsonable(cls, payload)
    except ValueError as error:
        raise UnknownWireMessage(f"The payload of {wrapped.type} doesn't fit: {error}") from error
    return message
