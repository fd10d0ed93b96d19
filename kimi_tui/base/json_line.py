"""One JSON value on one line, fit for a terminal as well as for a program."""

import json
import re
from typing import Any

_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What JSON leaves as it is though it drives terminals or breaks lines for some readers."""
_NO_TEXT = re.compile("[\ud800-\udfff]")
"""Half a character, at which strict readers refuse the whole line."""


def json_line(value: Any) -> str:
    """`value` on one line with its end. Other letters stand as they are."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = _NO_TEXT.sub("\ufffd", text)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"
