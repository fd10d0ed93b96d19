"""Arguments of a tool call: JSON that may be incomplete, and a one-line summary."""

import json
import re
from typing import Any

from kimi_tui.base.terminal_text import sanitize_line

_SUMMARY_PARAMETERS = (
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
"""Names of parameters, the most informative first."""
_PAIR = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:\s*"((?:[^"\\]|\\.)*)', re.DOTALL)
_MAX_SCANNED_CHARS = 4_000
"""Maximum characters of incomplete JSON that are searched for a summary."""
_MAX_SUMMARY_CHARS = 500


class PartialToolArguments:
    """Collects the fragments of a tool call's arguments."""

    def __init__(self, text: str | None = None) -> None:
        self._fragments = [text] if text else []
        self.length = len(text or "")
        """Number of characters received."""

    def feed(self, text: str) -> None:
        """Append a fragment of the JSON text."""
        self._fragments.append(text)
        self.length += len(text)

    @property
    def text(self) -> str:
        """The JSON text received so far."""
        if len(self._fragments) > 1:
            self._fragments = ["".join(self._fragments)]
        return self._fragments[0] if self._fragments else ""

    @property
    def is_complete(self) -> bool:
        """Whether the JSON is complete."""
        if not self._fragments or not self._fragments[-1].rstrip().endswith("}"):
            return False
        try:
            json.loads(self.text)
        except (ValueError, RecursionError):
            return False
        return True

    def values(self) -> dict[str, Any]:
        """Return the arguments by name; empty if the JSON is incomplete or not an object."""
        try:
            values = json.loads(self.text)
        except (ValueError, RecursionError):
            return {}
        return values if isinstance(values, dict) else {}

    def partial_values(self) -> dict[str, Any]:
        """Return the arguments received so far. The last one may be incomplete."""
        from pydantic_core import from_json  # takes long; the app imports this module before its first frame

        try:
            values = from_json(self.text or "{}", allow_partial="trailing-strings")
        except ValueError:
            return {}
        return values if isinstance(values, dict) else {}

    def summary(self) -> str:
        """Return the most informative argument on one line; empty until one is known."""
        if values := self.values():
            strings = {name: value for name, value in values.items() if isinstance(value, str)}
        else:
            strings = _parse_partial_strings(self.text[:_MAX_SCANNED_CHARS])
        for name in _SUMMARY_PARAMETERS:
            if strings.get(name):
                return sanitize_line(strings[name][:_MAX_SUMMARY_CHARS])
        return sanitize_line(next((value for value in strings.values() if value), "")[:_MAX_SUMMARY_CHARS])


def replace_command(arguments: str, command: str) -> str:
    """Return JSON arguments with another `command`; unchanged if they have none."""
    values = PartialToolArguments(arguments).values()
    if "command" not in values:
        return arguments
    return json.dumps({**values, "command": command}, ensure_ascii=False)


def _parse_partial_strings(text: str) -> dict[str, str]:
    return {_unescape(name): _unescape(value) for name, value in _PAIR.findall(text)}


def _unescape(text: str) -> str:
    # A fragment may end within an escape sequence such as \u12, which is cut off.
    for end in (len(text), text.rfind("\\")):
        try:
            return str(json.loads(f'"{text[: max(0, end)]}"', strict=False))
        except ValueError:
            continue
    return text
