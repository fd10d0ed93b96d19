"""The request body: JSON as it goes over the wire."""

import json
from typing import Any


def encoded(body: dict[str, Any]) -> bytes:
    """`body` as UTF-8 JSON. Half a surrogate pair, as names of files may hold, becomes a question mark."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
