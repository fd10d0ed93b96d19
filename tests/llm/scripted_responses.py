"""Scripted responses and faults of the loopback servers, for both APIs."""

import json
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Literal


class Quirk(Enum):
    """Difference between a server and the documentation of its API. The comments name the APIs that a quirk
    applies to.
    """

    # both
    PLAIN_JSON = auto()
    INTERLEAVED_CALLS = auto()
    SAME_IDS = auto()
    EMPTY_IDS = auto()
    PINGS = auto()
    CRLF = auto()
    NO_END = auto()
    """Neither a finish or stop reason nor an end marker."""
    # OpenAI's
    REPEATED_IDS = auto()
    """Id and name in every fragment."""
    FRESH_IDS = auto()
    """A different id in every fragment."""
    NO_INDEX = auto()
    INDEX_ZERO = auto()
    """Every call numbered 0."""
    NO_USAGE = auto()
    NULL_USAGE = auto()
    USAGE_IN_CHOICE = auto()
    NULL_DELTA = auto()
    RETRY_LINES = auto()
    STOP_WITH_CALLS = auto()
    NO_DONE = auto()
    REASONING = auto()
    """Thinking in `reasoning` instead of `reasoning_content`."""
    # Anthropic's
    NO_BLOCK_STOPS = auto()
    UNSIGNED = auto()
    INPUT_AT_START = auto()
    """All arguments of a call in its content_block_start."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. Text in `arguments` is sent unchanged."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    id: str = ""

    @property
    def text(self) -> str:
        return (
            self.arguments
            if isinstance(self.arguments, str)
            else json.dumps(self.arguments, ensure_ascii=False)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedResponse:
    """A successful response."""

    text: str = ""
    thinking: str = ""
    signature: str = "c2lnbmF0dXJl"
    redacted: str = ""
    tool_calls: tuple[Call, ...] = ()
    usage: tuple[int, int, int] = (100, 20, 40)
    """Tokens sent (including those from the cache), received, and read from the cache."""
    stop: str = ""
    """Finish or stop reason; the default depends on the content."""
    piece: int = 8
    """Characters per delta."""
    pause_s: float = 0.0
    """Seconds between events."""
    quirks: frozenset[Quirk] = frozenset()

    def has_quirk(self, quirk: Quirk) -> bool:
        return quirk in self.quirks


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A response that fails, immediately with a status or after `after` events of the response `of`."""

    kind: Literal["status", "reset", "cut", "end", "stall", "malformed", "error", "raw"]
    of: ScriptedResponse = ScriptedResponse(text="This response will never be complete.", piece=4)
    after: int = 0
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def status_is(
        cls,
        status: int,
        error: Any = None,
        *,
        headers: dict[str, str] | None = None,
        body: bytes | None = None,
    ) -> "Fault":
        """Return an HTTP error. `error` becomes `{"error": error}` unless `body` is given."""
        payload = {"message": f"scripted {status}"} if error is None else error
        return cls(
            kind="status",
            status=status,
            body=json.dumps({"error": payload}).encode() if body is None else body,
            headers=headers or {},
        )

    @classmethod
    def reset_after(cls, events: int, of: ScriptedResponse | None = None) -> "Fault":
        """Reset the connection."""
        return cls(kind="reset", after=events, **_of(of))

    @classmethod
    def cut_after(cls, events: int, of: ScriptedResponse | None = None) -> "Fault":
        """Close the connection before the end of the body."""
        return cls(kind="cut", after=events, **_of(of))

    @classmethod
    def end_after(cls, events: int, of: ScriptedResponse | None = None) -> "Fault":
        """End the body properly, but before the end of the response."""
        return cls(kind="end", after=events, **_of(of))

    @classmethod
    def stall_after(cls, events: int, of: ScriptedResponse | None = None) -> "Fault":
        """Send nothing more, but keep the connection open."""
        return cls(kind="stall", after=events, **_of(of))

    @classmethod
    def malformed_after(
        cls, events: int, of: ScriptedResponse | None = None, *, data: bytes = b'{"choices": [{"de'
    ) -> "Fault":
        """Send an event whose data isn't JSON."""
        return cls(kind="malformed", after=events, body=data, **_of(of))

    @classmethod
    def error_after(cls, events: int, error: Any, of: ScriptedResponse | None = None) -> "Fault":
        """Send an error event inside the stream. `error` is the whole object."""
        return cls(kind="error", after=events, body=json.dumps(error).encode(), **_of(of))

    @classmethod
    def empty(cls) -> "Fault":
        """Send HTTP 200 with an empty body."""
        return cls(kind="raw", body=b"")

    @classmethod
    def raw(cls, body: bytes, *, content_type: str = "text/event-stream") -> "Fault":
        """Send HTTP 200 with exactly this body."""
        return cls(kind="raw", body=body, headers={"Content-Type": content_type})


Reply = ScriptedResponse | Fault


def reply_from_json(item: dict[str, Any]) -> Reply:
    """Return a ScriptedResponse or, if `fault` names its kind, a Fault. Keys are the fields of both."""
    item = dict(item)
    kind = item.pop("fault", None)
    fault_fields = {name: item.pop(name) for name in ("after", "status", "body", "headers") if name in item}
    item["tool_calls"] = tuple(Call(**call) for call in item.get("tool_calls", ()))
    item["quirks"] = frozenset(Quirk[name] for name in item.get("quirks", ()))
    if "usage" in item:
        item["usage"] = tuple(item["usage"])
    if kind is None:
        return ScriptedResponse(**item)
    body = fault_fields.pop("body", "")
    fault_fields["body"] = (body if isinstance(body, str) else json.dumps(body)).encode()
    of = ScriptedResponse(**item) if item["tool_calls"] or item.get("text") or item.get("thinking") else None
    return Fault(kind=kind, **fault_fields, **_of(of))


def _of(response: ScriptedResponse | None) -> dict[str, Any]:
    return {} if response is None else {"of": response}
