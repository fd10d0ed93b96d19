"""What the loopback servers are scripted with: answers and faults, the same for both protocols."""

import json
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Literal


class Quirk(Enum):
    """How a server differs from the documentation. Each protocol has those that its comment names."""

    # both
    PLAIN_JSON = auto()
    INTERLEAVED_CALLS = auto()
    SAME_IDS = auto()
    EMPTY_IDS = auto()
    PINGS = auto()
    CRLF = auto()
    NO_END = auto()
    """Neither a finish or stop reason nor an end mark."""
    # OpenAI's
    REPEATED_IDS = auto()
    """Id and name in every fragment."""
    FRESH_IDS = auto()
    """Another id in every fragment."""
    NO_INDEX = auto()
    INDEX_ZERO = auto()
    """Every call numbered 0."""
    NO_USAGE = auto()
    NULL_USAGE = auto()
    USAGE_IN_CHOICE = auto()
    NULL_DELTA = auto()
    RETRY_LINES = auto()
    STOP_BESIDE_CALLS = auto()
    NO_DONE = auto()
    REASONING = auto()
    """Thinking in `reasoning` instead of `reasoning_content`."""
    # Anthropic's
    NO_BLOCK_STOPS = auto()
    UNSIGNED = auto()
    INPUT_AT_START = auto()
    """A call's whole arguments in its content_block_start."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; `arguments` as text are sent as they are."""

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
class Answer:
    """An answer that goes well."""

    text: str = ""
    thinking: str = ""
    signature: str = "c2lnbmF0dXJl"
    redacted: str = ""
    tool_calls: tuple[Call, ...] = ()
    usage: tuple[int, int, int] = (100, 20, 40)
    """Tokens sent (those from the cache included), received, and read from the cache."""
    stop: str = ""
    """The finish or stop reason, where it is not the usual one."""
    piece: int = 8
    """Characters a delta."""
    pause_s: float = 0.0
    """Seconds between events."""
    quirks: frozenset[Quirk] = frozenset()

    def has(self, quirk: Quirk) -> bool:
        return quirk in self.quirks


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An answer that fails: at once with a status, or after `after` events of the answer that it would be."""

    kind: Literal["status", "reset", "cut", "end", "stall", "malformed", "error", "raw"]
    of: Answer = Answer(text="This answer will never be whole.", piece=4)
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
        """An HTTP error; `error` becomes `{"error": error}` unless `body` is given."""
        said = {"message": f"scripted {status}"} if error is None else error
        return cls(
            kind="status",
            status=status,
            body=json.dumps({"error": said}).encode() if body is None else body,
            headers=headers or {},
        )

    @classmethod
    def reset_after(cls, events: int, of: Answer | None = None) -> "Fault":
        """The connection is reset."""
        return cls(kind="reset", after=events, **_of(of))

    @classmethod
    def cut_after(cls, events: int, of: Answer | None = None) -> "Fault":
        """The connection is closed without the end of the body."""
        return cls(kind="cut", after=events, **_of(of))

    @classmethod
    def end_after(cls, events: int, of: Answer | None = None) -> "Fault":
        """The body ends properly, though the answer hasn't."""
        return cls(kind="end", after=events, **_of(of))

    @classmethod
    def stall_after(cls, events: int, of: Answer | None = None) -> "Fault":
        """Nothing more comes, and the connection stays open."""
        return cls(kind="stall", after=events, **_of(of))

    @classmethod
    def malformed_after(
        cls, events: int, of: Answer | None = None, *, data: bytes = b'{"choices": [{"de'
    ) -> "Fault":
        """An event whose data is no JSON."""
        return cls(kind="malformed", after=events, body=data, **_of(of))

    @classmethod
    def error_after(cls, events: int, error: Any, of: Answer | None = None) -> "Fault":
        """An error event inside the stream; `error` is the whole object."""
        return cls(kind="error", after=events, body=json.dumps(error).encode(), **_of(of))

    @classmethod
    def empty(cls) -> "Fault":
        """HTTP 200 with an empty body."""
        return cls(kind="raw", body=b"")

    @classmethod
    def raw(cls, body: bytes, *, content_type: str = "text/event-stream") -> "Fault":
        """HTTP 200 with exactly this body."""
        return cls(kind="raw", body=body, headers={"Content-Type": content_type})


Reply = Answer | Fault


def reply_from_json(item: dict[str, Any]) -> Reply:
    """An Answer or, where `fault` names its kind, a Fault: fields as theirs, those of both side by side."""
    item = dict(item)
    kind = item.pop("fault", None)
    own = {name: item.pop(name) for name in ("after", "status", "body", "headers") if name in item}
    item["tool_calls"] = tuple(Call(**call) for call in item.get("tool_calls", ()))
    item["quirks"] = frozenset(Quirk[name] for name in item.get("quirks", ()))
    if "usage" in item:
        item["usage"] = tuple(item["usage"])
    if kind is None:
        return Answer(**item)
    body = own.pop("body", "")
    own["body"] = (body if isinstance(body, str) else json.dumps(body)).encode()
    of = Answer(**item) if item["tool_calls"] or item.get("text") or item.get("thinking") else None
    return Fault(kind=kind, **own, **_of(of))


def _of(answer: Answer | None) -> dict[str, Any]:
    return {} if answer is None else {"of": answer}
