"""The request body: JSON as it goes over the wire."""

import json
from typing import Any


def encoded(body: Any) -> bytes:
    """`body` as UTF-8 JSON. Half a surrogate pair, as names of files may hold, becomes a question mark."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def encoded_with(fields: dict[str, Any], **made: bytes) -> bytes:
    """A body of `fields`, of which there are some, and of those that were `made` before, as JSON.

    What was made stands last, so that a body that goes on with it begins as the one before.
    """
    further = (piece for name, json_text in made.items() for piece in (f',"{name}":'.encode(), json_text))
    return b"".join((encoded(fields)[:-1], *further, b"}"))
