"""JSON lines that are safe for terminals as well as for programs."""

import json
import re
from typing import Any

_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that JSON doesn't escape although they control terminals or end lines for some readers."""
_SURROGATES = re.compile("[\ud800-\udfff]")
"""Lone surrogates, which make strict readers reject the whole line."""


def dump_json_line(value: Any) -> str:
    """Return `value` as one line of JSON with a trailing newline. Only unsafe characters are escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = _SURROGATES.sub("\ufffd", text)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"
