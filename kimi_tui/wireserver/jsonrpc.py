"""JSON-RPC 2.0, one message a line (`docs/formats.md`)."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from kimi_tui.base.json_rpc import BadLine, RpcId, message_on


class ErrorCode(IntEnum):
    """What an error answer says; those above -32100 are the Wire's own."""

    BAD_JSON = -32700
    BAD_REQUEST = -32600
    UNKNOWN_METHOD = -32601
    BAD_PARAMS = -32602
    INTERNAL = -32603
    WRONG_STATE = -32000
    """A turn is in progress, or none is, or what is asked for isn't there in this session."""
    MODEL_NOT_SET = -32001
    MODEL_NOT_SUPPORTED = -32002
    PROVIDER = -32003
    LIMIT = -32004
    """Ours: the turn was ended by its limit of cost or time."""


class RpcError(Exception):
    """A message that is answered with an error; `id` is None while it is not known."""

    def __init__(self, code: ErrorCode, message: str, *, id: RpcId | None = None) -> None:  # noqa: A002
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = id


@dataclass(frozen=True, slots=True)
class Call:
    """The other side calls a method; without an id it wants no answer."""

    method: str
    params: dict[str, Any]
    id: RpcId | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The other side answers a call of ours; `result` is None when it failed, and `error` says why."""

    id: RpcId
    result: Any = None
    error: str = ""


def parsed(line: bytes) -> Call | Reply:
    """The message on `line`. Raises RpcError."""
    try:
        message, message_id = message_on(line)
    except BadLine as error:
        raise RpcError(ErrorCode(error.code), error.message, id=error.id) from error
    if message.get("jsonrpc") != "2.0":
        raise RpcError(ErrorCode.BAD_REQUEST, 'A message says "jsonrpc": "2.0".', id=message_id)
    if "method" in message or message_id is None:
        return _call(message, message_id)
    return _reply(message, message_id)


def _call(message: dict[str, Any], message_id: RpcId | None) -> Call:
    method, params = message["method"], message.get("params")
    if not isinstance(params, dict | None):
        raise RpcError(ErrorCode.BAD_PARAMS, "Params are an object.", id=message_id)
    return Call(method, params or {}, message_id)


def _reply(message: dict[str, Any], message_id: RpcId) -> Reply:
    if "error" not in message:
        return Reply(message_id, message["result"])
    error = message["error"]
    told = error.get("message") if isinstance(error, dict) else error
    return Reply(message_id, error=str(told or "no reason given"))


def result_to(message_id: RpcId, result: dict[str, Any]) -> dict[str, Any]:
    """The answer to a call that went well."""
    return {"jsonrpc": "2.0", "id": message_id, "result": result}


def error_to(message_id: RpcId | None, code: ErrorCode, message: str) -> dict[str, Any]:
    """The answer to a call that failed, or to a line that is none."""
    return {"jsonrpc": "2.0", "id": message_id, "error": {"code": int(code), "message": message}}


def event_of(message: dict[str, Any]) -> dict[str, Any]:
    """An event as a notification."""
    return {"jsonrpc": "2.0", "method": "event", "params": message}


def request_of(message: dict[str, Any]) -> dict[str, Any]:
    """A request as a call, which has the id of its payload."""
    return {"jsonrpc": "2.0", "method": "request", "id": message["payload"].get("id"), "params": message}
