"""JSON text from outside: models and servers write what `json.loads` alone would stumble over."""

import json
from math import isfinite
from typing import Any


def parsed(text: str) -> Any:
    """The value in `text`, with half surrogate pairs, which nothing could write to disk, made question marks.

    Raises ValueError for what is no JSON, and for what is nested too deep to be read.
    """
    try:
        value = json.loads(text)
        if "\\ud" in text or "\\uD" in text:
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return value


def count_of(value: Any) -> int:
    """A count of tokens, as servers report it: 0 for what is none."""
    if not isinstance(value, int | float) or not isfinite(value):
        return 0
    return max(0, int(value))
