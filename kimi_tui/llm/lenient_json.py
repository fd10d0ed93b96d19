"""Lenient parsing of JSON from models and servers."""

import json
from math import isfinite
from typing import Any


def loads_lenient(text: str) -> Any:
    """Parse `text` as JSON. Lone surrogates, which can't be encoded as UTF-8, become question marks.

    Raises ValueError for invalid JSON and for values that are nested too deeply.
    """
    try:
        value = json.loads(text)
        if "\\ud" in text or "\\uD" in text:
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return value


def as_count(value: Any) -> int:
    """Return `value` as a token count, or 0 if it isn't a finite number."""
    if not isinstance(value, int | float) or not isfinite(value):
        return 0
    return max(0, int(value))
