"""Lenient parsing of JSON from models and servers."""

import json
from math import isfinite
from typing import Any

_decoder = json.JSONDecoder()


def loads_lenient(text: str) -> Any:
    """Parse `text` as JSON. Lone surrogates, which can't be encoded as UTF-8, become question marks.

    Raises ValueError for invalid JSON and for values that are nested too deeply.
    """
    try:
        value = _loads(text)
        if "\\ud" in text or "\\uD" in text:
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return value


def _loads(text: str) -> Any:
    """Return the result of `json.loads`. Faster if there is no whitespace around the value."""
    try:
        value, end = _decoder.raw_decode(text)
        if end == len(text):
            return value
    except ValueError:
        pass
    return json.loads(text)


def as_count(value: Any) -> int:
    """Return `value` as a token count, or 0 if it isn't a finite number."""
    if not isinstance(value, int | float) or not isfinite(value):
        return 0
    return max(0, int(value))
