"""Parser of JSON-RPC 2.0 messages, with the checks that all servers share."""

import json
from typing import Any

RpcId = str | int
"""Message id as the peer sent it, echoed unchanged."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600


class InvalidRpcLine(Exception):
    """A line isn't a valid message. `id` is None if it is unknown."""

    def __init__(self, code: int, message: str, *, id: RpcId | None = None) -> None:  # noqa: A002
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = id


def parse_message(line: bytes) -> tuple[dict[str, Any], RpcId | None]:
    """Return the message in `line` and its id, if any. Raises InvalidRpcLine.

    A message is an object with either a string `method`, or a `result` or `error` and an `id`.
    """
    message = _parse_object(line)
    message_id = _parse_id(message)
    if "method" in message:
        if not isinstance(message["method"], str):
            raise InvalidRpcLine(INVALID_REQUEST, "The method must be a string.", id=message_id)
        return message, message_id
    if message_id is not None and ("result" in message or "error" in message):
        return message, message_id
    raise InvalidRpcLine(
        INVALID_REQUEST, "A message must have a method, a result or an error.", id=message_id
    )


def _parse_object(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidRpcLine(PARSE_ERROR, f"The line isn't valid JSON: {error}.") from error
    if not isinstance(message, dict):
        raise InvalidRpcLine(INVALID_REQUEST, "A line must be a JSON object.")
    return message


def _parse_id(message: dict[str, Any]) -> RpcId | None:
    message_id = message.get("id")
    if isinstance(message_id, str | int) and not isinstance(message_id, bool):
        return message_id
    if "id" in message:
        raise InvalidRpcLine(INVALID_REQUEST, "The id must be a string or an integer.")
    return None
