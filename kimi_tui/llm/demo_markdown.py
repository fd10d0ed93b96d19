"""Text of files, tools and users, made fit for the Markdown that the demo model writes."""

import re

from kimi_tui.base.terminal import plain, plain_line

_MAX_LINES = 8
_MAX_COLUMNS = 160
_MAX_CODE = 120


def code(text: str) -> str:
    """`text` as code within a line, shortened."""
    line = plain_line(text)
    shown = line if len(line) <= _MAX_CODE else f"{line[: _MAX_CODE - 1]}…"
    fence = "`" * (_longest_run_of_backticks(shown) + 1)
    space = " " if not shown or "`" in shown else ""
    return f"{fence}{space}{shown}{space}{fence}"


def block(text: str) -> str:
    """The first lines of `text` as a code block, which says how many more there are."""
    lines = plain(text).strip("\n").split("\n")
    shown = [
        line if len(line) <= _MAX_COLUMNS else f"{line[: _MAX_COLUMNS - 1]}…" for line in lines[:_MAX_LINES]
    ]
    more = [f"… +{len(lines) - _MAX_LINES}"] if len(lines) > _MAX_LINES else []
    fence = "`" * max(3, _longest_run_of_backticks("\n".join(shown)) + 1)
    return "\n".join([fence, *shown, *more, fence])


def _longest_run_of_backticks(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
