"""One-line summaries of tool calls."""

import json

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.wire.display_blocks import BriefBlock
from kimi_tui.wire.events import ToolReturn

_KEY_ARGUMENTS = ("command", "path", "file_path", "pattern", "url", "query", "title", "description")
"""Arguments that best describe a call, in order of preference."""
_MAX_CHARS = 120


def summarize_call(name: str, arguments: str, result: ToolReturn) -> str:
    """Return a summary such as `✔ ReadFile src/auth.py: 120 lines`."""
    subject = key_argument(arguments)
    brief = next((block.text for block in result.display if isinstance(block, BriefBlock)), "")
    if not brief and result.is_error:
        brief = result.message
    label = f"{'✗' if result.is_error else '✔'} {sanitize_line(name)}"
    return " ".join(filter(None, (label, _shorten(subject)))) + (f": {_shorten(brief)}" if brief else "")


def key_argument(arguments: str) -> str:
    """Return the argument that best describes a call, or an empty string."""
    try:
        values = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return ""
    if not isinstance(values, dict):
        return ""
    texts = {key: value for key, value in values.items() if isinstance(value, str) and value.strip()}
    return next((texts[key] for key in _KEY_ARGUMENTS if key in texts), next(iter(texts.values()), ""))


def _shorten(text: str) -> str:
    text = sanitize_line(text)
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"
