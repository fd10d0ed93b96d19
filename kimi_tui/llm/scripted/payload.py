"""Parsers for the payloads of script lines: strings, numbers, JSON values and `k=v` pairs."""

import json
import math
from typing import Any


class ScriptSyntaxError(Exception):
    """A script line is invalid. The message is a clause without a period, for use within a sentence."""


def parse_quantity(kind: str, payload: str, unit: str) -> float:
    """Return `payload` as a finite, non-negative number. Raises ScriptSyntaxError."""
    try:
        number = float(payload)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise ScriptSyntaxError(f"{kind} must be a number of {unit}, not “{payload}”")
    return number


def parse_text(payload: str) -> str:
    """Return the value of `payload` if it is a JSON string, otherwise `payload` without outer quotes."""
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


def parse_json(payload: str) -> Any:
    """Return `payload` parsed as JSON. Return None for an empty payload, and a string for invalid JSON."""
    if payload.lower() in ("", "null", "none"):
        return None
    try:
        return json.loads(payload)
    except ValueError:
        return parse_text(payload)


def parse_mapping(payload: str) -> dict[str, Any]:
    """Return `payload` parsed as a JSON object or `k=v` pairs. Raises ScriptSyntaxError."""
    value = parse_json(payload)
    if isinstance(value, dict):
        return value
    pairs = [word.partition("=") for word in payload.replace(",", " ").split()]
    if not pairs or not all(name and equals for name, equals, _ in pairs):
        raise ScriptSyntaxError("the payload must be a JSON object or k=v pairs")
    return {name: parse_json(text) for name, _, text in pairs}
