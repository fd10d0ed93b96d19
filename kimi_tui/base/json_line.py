"""One JSON value on one line, fit for a terminal as well as for a program."""

import json
import re
from typing import Any

_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON leaves as it is though it drives terminals, breaks lines for some readers or is no text."""


def json_line(value: Any) -> str:
    """`value` on one line with its end. Other letters stand as they are."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"
