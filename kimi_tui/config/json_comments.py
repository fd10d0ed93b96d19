"""JSON with comments and trailing commas, as VS Code's config files have it."""

import re

_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])')
_NOT_LINE_BREAK = re.compile(r"[^\n]")


def blank_json_comments(text: str) -> str:
    """Return `text` as plain JSON on the same lines: comments and trailing commas become spaces."""
    return _TRAILING_COMMA.sub(_blank, _COMMENT.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    found = match.group()
    return found if found.startswith('"') else _NOT_LINE_BREAK.sub(" ", found)
