"""Lines that the resident engine and its clients exchange: JSON objects, one per line, in UTF-8.

A client sends a `Hello` first. The engine replies with `{"welcome": …}` or `{"error": …}`. Then a client
of a session gets `{"message": …}` for each message of the Wire, `{"done": ID}` when a command is done, with
`"error"` if it was refused, and `{"end": …}` at the end. It sends `{"command": …, "id": ID}` and
`{"answer": …}`. One with an editor gets `{"call": …}` and sends `{"result": …}`.
"""

import json
from dataclasses import field
from typing import Any, Literal

from kimi_tui.base import errors
from kimi_tui.base.errors import EngineLost, KimiTuiError, SessionInUse
from kimi_tui.base.frozen import frozen
from kimi_tui.base.json_codec import from_json, from_jsonable, to_jsonable
from kimi_tui.base.message_text import add_texts, msg, restore_texts
from kimi_tui.resident.editor_call import EditorCall, EditorResult, EditorService
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import UnknownWireMessage, decode, encode
from kimi_tui.wire.requests import Answer
from kimi_tui.wire.running_session import RunningSession

MAX_LINE_BYTES = 100 * 1024 * 1024
EngineRequest = Literal["open", "prepare", "list", "watch", "answer", "stop", "shutdown"]
"""`prepare` keeps an idle engine running for a client that is about to open a session. `list` doesn't, and
`watch` neither. It sends the list again after each change.
"""


@frozen(kw_only=True)
class Hello:
    """First line of a client: its version and what it wants."""

    version: str
    request: EngineRequest
    session: str = ""
    """Id of the session to stop, or whose request to answer."""
    answer: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the session to open, for `SessionOpener`. `session` and `fork` say which one it is."""
    is_viewer: bool = False
    """Whether the client may only read."""
    editor_services: tuple[EditorService, ...] = ()
    """What the client's editor provides to the session."""


@frozen(kw_only=True)
class EngineReply:
    """The engine's reply to a Hello."""

    version: str
    pid: int
    sessions: tuple[RunningSession, ...] = ()
    """For `list`, all sessions. For `stop` and `shutdown`, those that were stopped."""
    is_accepted: bool = True
    """For `answer`, whether the request was still open."""


@frozen(kw_only=True)
class EngineError:
    """Why the engine refuses a client, or why a session has ended."""

    kind: str
    """Class of the error in `base.errors`."""
    what: str
    hint: str = ""
    session_id: str = ""

    def to_exception(self) -> KimiTuiError:
        """Return the error to raise in the client."""
        cls = getattr(errors, self.kind, KimiTuiError)
        if cls is SessionInUse:
            return SessionInUse(self.what, session_id=self.session_id, hint=self.hint)
        if cls is EngineLost:
            return EngineLost(self.what, session_id=self.session_id, hint=self.hint)
        if cls in _SIMPLE_ERRORS:
            error: KimiTuiError = cls(self.what, hint=self.hint)
            return error
        return KimiTuiError(self.what, hint=self.hint)


_SIMPLE_ERRORS = frozenset(
    {errors.UsageError, errors.ConfigError, errors.SessionError, errors.ModelNotSet, errors.ModelKeyNotSet}
)
"""Errors whose constructors take a text and a hint."""


class InvalidFrame(Exception):
    """A line isn't a valid frame."""


def to_engine_error(error: KimiTuiError) -> EngineError:
    """Return `error` as the client gets it."""
    session_id = error.session_id if isinstance(error, SessionInUse | EngineLost) else ""
    return EngineError(kind=type(error).__name__, what=error.what, hint=error.hint, session_id=session_id)


def to_line(data: dict[str, Any]) -> bytes:
    """Return `data` as a line."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def message_line(message: Outgoing) -> bytes:
    """Return the line of a Wire message."""
    encoded = encode(message)
    return to_line(add_texts({"message": encoded}, encoded["payload"]))


def answer_line(answer: Answer) -> bytes:
    """Return the line of an answer."""
    return to_line({"answer": encode(answer)})


def call_line(call: EditorCall) -> bytes:
    """Return the line of a call to a client's editor."""
    return to_line({"call": to_jsonable(call)})


def result_line(result: EditorResult) -> bytes:
    """Return the line of the result of a call."""
    return to_line({"result": to_jsonable(result)})


def parse_call(data: dict[str, Any]) -> EditorCall:
    """Return the call in a frame. Raises InvalidFrame."""
    try:
        return from_jsonable(EditorCall, data["call"])
    except ValueError as error:
        raise InvalidFrame(str(error)) from error


def parse_result(data: dict[str, Any]) -> EditorResult:
    """Return the result in a frame. Raises InvalidFrame."""
    try:
        return from_jsonable(EditorResult, data["result"])
    except ValueError as error:
        raise InvalidFrame(str(error)) from error


def welcome_line(welcome: EngineReply) -> bytes:
    """Return the line of a EngineReply."""
    return to_line({"welcome": to_jsonable(welcome)})


def error_line(error: KimiTuiError) -> bytes:
    """Return the line that refuses a client."""
    return to_line({"error": _error_data(error)})


def done_line(command_id: int, refusal: KimiTuiError | None) -> bytes:
    """Return the line that a command is done or refused."""
    return to_line({"done": command_id} | ({} if refusal is None else {"error": _error_data(refusal)}))


def end_line(error: KimiTuiError | None) -> bytes:
    """Return the line after the last message of a session, with the error that ended it, if any."""
    return to_line({"end": None if error is None else _error_data(error)})


def parse_hello(line: bytes) -> Hello:
    """Return the Hello in `line`. Raises InvalidFrame."""
    try:
        return from_json(Hello, line)
    except ValueError as error:
        raise InvalidFrame(str(error)) from error


def parse_reply(line: bytes) -> EngineReply:
    """Return the reply in a line. Raises InvalidFrame."""
    try:
        return from_jsonable(EngineReply, parse_object(line).get("welcome"))
    except ValueError as error:
        raise InvalidFrame(str(error)) from error


def parse_object(line: bytes) -> dict[str, Any]:
    """Return the JSON object in `line`. Raises InvalidFrame."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidFrame(str(error)) from error
    if not isinstance(data, dict):
        raise InvalidFrame("A line must be a JSON object.")
    return data


def parse_message(data: dict[str, Any]) -> Any:
    """Return the Wire message in a frame, with its translatable texts. Raises InvalidFrame."""
    try:
        return restore_texts(decode(data["message"]), data.get("texts"))
    except UnknownWireMessage as error:
        raise InvalidFrame(str(error)) from error


def parse_error(data: dict[str, Any]) -> KimiTuiError:
    """Return the error in a frame as an exception."""
    data = restore_texts(data, data.get("texts"))
    return EngineError(
        kind=str(data.get("kind", "")),
        what=data.get("what") or msg("The engine has ended."),
        hint=data.get("hint", ""),
        session_id=str(data.get("session_id", "")),
    ).to_exception()


def _error_data(error: KimiTuiError) -> dict[str, Any]:
    frame = to_engine_error(error)
    return add_texts(
        to_jsonable(frame), {"what": frame.what, "hint": frame.hint, "session_id": frame.session_id}
    )
