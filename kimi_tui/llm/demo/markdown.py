"""Markdown formatting of text from files, tools and users in the demo model's responses."""

import re

from kimi_tui.base.terminal_text import sanitize, sanitize_line

_MAX_LINES = 8
_MAX_COLUMNS = 160
_MAX_CODE = 120


def inline_code(text: str) -> str:
    """Return `text` as inline code, shortened."""
    line = sanitize_line(text)
    shown = line if len(line) <= _MAX_CODE else f"{line[: _MAX_CODE - 1]}…"
    fence = "`" * (_longest_run_of_backticks(shown) + 1)
    space = " " if not shown or "`" in shown else ""
    return f"{fence}{space}{shown}{space}{fence}"


def code_block(text: str) -> str:
    """Return the first lines of `text` as a code block that ends with the number of omitted lines."""
    lines = sanitize(text).strip("\n").split("\n")
    shown = [
        line if len(line) <= _MAX_COLUMNS else f"{line[: _MAX_COLUMNS - 1]}…" for line in lines[:_MAX_LINES]
    ]
    omitted = [f"… +{len(lines) - _MAX_LINES}"] if len(lines) > _MAX_LINES else []
    fence = "`" * max(3, _longest_run_of_backticks("\n".join(shown)) + 1)
    return "\n".join([fence, *shown, *omitted, fence])


def _longest_run_of_backticks(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
