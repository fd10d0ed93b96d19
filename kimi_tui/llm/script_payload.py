"""Payloads of a script's lines: strings, numbers, JSON values and `k=v` words."""

import json
import math
from typing import Any


class MalformedLine(Exception):
    """What is wrong with a line, as the end of a sentence."""


def quantity(kind: str, payload: str, unit: str) -> float:
    """A finite number from 0. Raises MalformedLine."""
    try:
        number = float(payload)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise MalformedLine(f"{kind} wants a number of {unit}, not “{payload}”")
    return number


def text_value(payload: str) -> str:
    """`payload` read as a JSON string if it is one, else without the quotes around it."""
    if payload.startswith('"'):
        try:
            value = json.loads(payload)
        except ValueError:
            pass
        else:
            return str(value)
    if len(payload) >= 2 and payload[0] == payload[-1] and payload[0] in "'\"":
        return payload[1:-1]
    return payload


def json_value(payload: str) -> Any:
    """The JSON value that `payload` is; None for nothing, a string for what is no JSON."""
    if payload.lower() in ("", "null", "none"):
        return None
    try:
        return json.loads(payload)
    except ValueError:
        return text_value(payload)


def mapping(payload: str) -> dict[str, Any]:
    """A JSON object, or `k=v` words. Raises MalformedLine."""
    value = json_value(payload)
    if isinstance(value, dict):
        return value
    pairs = [word.partition("=") for word in payload.replace(",", " ").split()]
    if not pairs or not all(name and equals for name, equals, _ in pairs):
        raise MalformedLine("the payload must be a JSON object or k=v words")
    return {name: json_value(text) for name, _, text in pairs}
