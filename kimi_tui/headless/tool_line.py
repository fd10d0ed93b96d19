"""A tool call in one line of text."""

import json

from kimi_tui.base.terminal import plain_line
from kimi_tui.wire.display import BriefBlock
from kimi_tui.wire.events import ToolReturn

_TELLING = ("command", "path", "file_path", "pattern", "url", "query", "title", "description")
"""Arguments that say best what a call is about, the best first."""
_LONGEST = 120


def tool_line(name: str, arguments: str, result: ToolReturn) -> str:
    """`✔ ReadFile src/auth.py: 120 lines`."""
    subject = key_argument(arguments)
    brief = next((block.text for block in result.display if isinstance(block, BriefBlock)), "")
    if not brief and result.is_error:
        brief = result.message
    head = f"{'✗' if result.is_error else '✔'} {plain_line(name)}"
    return " ".join(filter(None, (head, _short(subject)))) + (f": {_short(brief)}" if brief else "")


def key_argument(arguments: str) -> str:
    """The argument that tells best what a call is about; empty when none does."""
    try:
        values = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return ""
    if not isinstance(values, dict):
        return ""
    texts = {key: value for key, value in values.items() if isinstance(value, str) and value.strip()}
    return next((texts[key] for key in _TELLING if key in texts), next(iter(texts.values()), ""))


def _short(text: str) -> str:
    text = plain_line(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
