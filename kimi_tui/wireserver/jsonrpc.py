"""JSON-RPC 2.0 with one message per line (`docs/formats.md`)."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from kimi_tui.base.json_rpc import InvalidRpcLine, RpcId, parse_message


class ErrorCode(IntEnum):
    """Code of an error response. Codes from -32000 to -32099 are specific to the Wire."""

    BAD_JSON = -32700
    BAD_REQUEST = -32600
    UNKNOWN_METHOD = -32601
    BAD_PARAMS = -32602
    INTERNAL = -32603
    WRONG_STATE = -32000
    """A turn is running, no turn is running, or the session doesn't have what was requested."""
    MODEL_NOT_SET = -32001
    MODEL_NOT_SUPPORTED = -32002
    PROVIDER = -32003
    LIMIT = -32004
    """An extension: the turn was stopped by its cost or time limit."""


class RpcError(Exception):
    """Raised for a message that is answered with an error. `id` is None if the message's ID is unknown."""

    def __init__(self, code: ErrorCode, message: str, *, id: RpcId | None = None) -> None:  # noqa: A002
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = id


@dataclass(frozen=True, slots=True)
class RpcCall:
    """A method call of the client. Without an id, it is a notification and gets no response."""

    method: str
    params: dict[str, Any]
    id: RpcId | None = None


@dataclass(frozen=True, slots=True)
class RpcReply:
    """The client's response to a request. `result` is None on failure, and `error` is the reason."""

    id: RpcId
    result: Any = None
    error: str = ""


def parse_line(line: bytes) -> RpcCall | RpcReply:
    """Return the message on `line`. Raises RpcError."""
    try:
        message, message_id = parse_message(line)
    except InvalidRpcLine as error:
        raise RpcError(ErrorCode(error.code), error.message, id=error.id) from error
    if message.get("jsonrpc") != "2.0":
        raise RpcError(ErrorCode.BAD_REQUEST, 'The message has no "jsonrpc": "2.0".', id=message_id)
    if "method" in message or message_id is None:
        return _parse_call(message, message_id)
    return _parse_reply(message, message_id)


def _parse_call(message: dict[str, Any], message_id: RpcId | None) -> RpcCall:
    method, params = message["method"], message.get("params")
    if not isinstance(params, dict | None):
        raise RpcError(ErrorCode.BAD_PARAMS, "Params must be an object.", id=message_id)
    return RpcCall(method, params or {}, message_id)


def _parse_reply(message: dict[str, Any], message_id: RpcId) -> RpcReply:
    if "error" not in message:
        return RpcReply(message_id, message["result"])
    error = message["error"]
    reason = error.get("message") if isinstance(error, dict) else error
    return RpcReply(message_id, error=str(reason or "unknown error"))


def build_result(message_id: RpcId, result: dict[str, Any]) -> dict[str, Any]:
    """Return the response to a successful call."""
    return {"jsonrpc": "2.0", "id": message_id, "result": result}


def build_error(message_id: RpcId | None, code: ErrorCode, message: str) -> dict[str, Any]:
    """Return the response to a failed call or an invalid line."""
    return {"jsonrpc": "2.0", "id": message_id, "error": {"code": int(code), "message": message}}


def build_event(message: dict[str, Any]) -> dict[str, Any]:
    """Return an event as a notification."""
    return {"jsonrpc": "2.0", "method": "event", "params": message}


def build_request(message: dict[str, Any]) -> dict[str, Any]:
    """Return a request as a call. The call's ID is the ID in the payload."""
    return {"jsonrpc": "2.0", "method": "request", "id": message["payload"].get("id"), "params": message}
