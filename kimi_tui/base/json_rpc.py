"""A line of JSON-RPC 2.0, checked as far as every server that reads such lines must."""

import json
from typing import Any

RpcId = str | int
"""As the other side wrote it; it is echoed unchanged."""

BAD_JSON = -32700
BAD_REQUEST = -32600


class BadLine(Exception):
    """A line that is no message; `id` is None while it is not known."""

    def __init__(self, code: int, message: str, *, id: RpcId | None = None) -> None:  # noqa: A002
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = id


def message_on(line: bytes) -> tuple[dict[str, Any], RpcId | None]:
    """The message on `line`, and its id if it has one. Raises BadLine.

    It is an object that has a method, which is a string, or a result or error, which has an id.
    """
    message = _object(line)
    message_id = _id(message)
    if "method" in message:
        if not isinstance(message["method"], str):
            raise BadLine(BAD_REQUEST, "A method is a string.", id=message_id)
        return message, message_id
    if message_id is not None and ("result" in message or "error" in message):
        return message, message_id
    raise BadLine(BAD_REQUEST, "A message has a method, or a result or error.", id=message_id)


def _object(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadLine(BAD_JSON, f"The line is not JSON: {error}.") from error
    if not isinstance(message, dict):
        raise BadLine(BAD_REQUEST, "A line is one JSON object.")
    return message


def _id(message: dict[str, Any]) -> RpcId | None:
    message_id = message.get("id")
    if isinstance(message_id, str | int) and not isinstance(message_id, bool):
        return message_id
    if "id" in message:
        raise BadLine(BAD_REQUEST, "An id is a string or an integer.")
    return None
