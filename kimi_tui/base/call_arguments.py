"""The arguments of a tool call: JSON that may still be arriving, and the one of them worth a line."""

import json
import re
from typing import Any

from kimi_tui.base.terminal import plain_line

_TELLING = (
    "command",
    "pattern",
    "query",
    "url",
    "description",
    "path",
    "file_path",
    "directory",
    "thought",
    "title",
    "message",
    "prompt",
    "task_id",
    "name",
)
"""Names of parameters, the most telling first."""
_PAIR = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:\s*"((?:[^"\\]|\\.)*)', re.DOTALL)
_LOOKED_AT = 4_000
"""Characters of unfinished JSON that are searched for a telling argument."""
_LONGEST = 500


class Arguments:
    """Collects the fragments of one call's arguments."""

    def __init__(self, text: str | None = None) -> None:
        self._fragments = [text] if text else []
        self.length = len(text or "")
        """Characters so far."""

    def feed(self, text: str) -> None:
        """More of the JSON has come."""
        self._fragments.append(text)
        self.length += len(text)

    @property
    def text(self) -> str:
        """The JSON as the model wrote it, so far."""
        if len(self._fragments) > 1:
            self._fragments = ["".join(self._fragments)]
        return self._fragments[0] if self._fragments else ""

    @property
    def is_complete(self) -> bool:
        """Whether the JSON is whole."""
        if not self._fragments or not self._fragments[-1].rstrip().endswith("}"):
            return False
        try:
            json.loads(self.text)
        except (ValueError, RecursionError):
            return False
        return True

    def values(self) -> dict[str, Any]:
        """The arguments by name; empty while they are incomplete or no object."""
        try:
            values = json.loads(self.text)
        except (ValueError, RecursionError):
            return {}
        return values if isinstance(values, dict) else {}

    def telling(self) -> str:
        """The argument that says best what the call is about, on one line; empty when there is none yet."""
        if values := self.values():
            strings = {name: value for name, value in values.items() if isinstance(value, str)}
        else:
            strings = _unfinished_strings(self.text[:_LOOKED_AT])
        for name in _TELLING:
            if strings.get(name):
                return plain_line(strings[name][:_LONGEST])
        return plain_line(next((value for value in strings.values() if value), "")[:_LONGEST])


def _unfinished_strings(text: str) -> dict[str, str]:
    return {_unescaped(name): _unescaped(value) for name, value in _PAIR.findall(text)}


def _unescaped(text: str) -> str:
    # A fragment may end within an escape such as \u12; what can't be read is cut off.
    for end in (len(text), text.rfind("\\")):
        try:
            return str(json.loads(f'"{text[: max(0, end)]}"', strict=False))
        except ValueError:
            continue
    return text
