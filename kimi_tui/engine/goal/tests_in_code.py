"""Tests within the code: test modules of Rust, doctests, and the like."""

import re

_BLOCK_STARTS = {
    ".rs": re.compile(r"#\[(?:cfg\(.*\btest\b.*\)|\w*(?:::)?test(?:_case)?\b.*)\]"),
    ".zig": re.compile(r"test\b.*\{"),
    ".d": re.compile(r"unittest\b"),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".ts", ".tsx", ".vue"), re.compile(r".*import\.meta\.vitest")),
}
"""First lines of test blocks, by extension. A block ends at a closing line without deeper indentation."""
_PROMPT = re.compile(r"\s*(?:>>>|iex(?:\(\d+\))?>)(?:\s|$)")

_DOCTEST_ENDS = ("", '"""', "'''")


def find_code_tests(path: str, text: str, *, has_doctests: bool) -> list[str]:
    """Return the lines of the tests in a file of code."""
    suffix = path[path.rfind(".") :] if "." in path else ""
    lines = text.splitlines()
    if (start := _BLOCK_STARTS.get(suffix)) is not None:
        return _find_blocks(lines, start)
    return _find_doctests(lines) if has_doctests else []


def _find_blocks(lines: list[str], start: re.Pattern[str]) -> list[str]:
    found: list[str] = []
    end_indent: int | None = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if end_indent is None and start.match(line.strip()):
            end_indent = indent
        if end_indent is not None:
            found.append(line)
            if line.strip().startswith(("}", ")")) and indent <= end_indent:
                end_indent = None
    return found


def _find_doctests(lines: list[str]) -> list[str]:
    found: list[str] = []
    is_inside = False
    for line in lines:
        is_inside = bool(_PROMPT.match(line)) or (is_inside and line.strip() not in _DOCTEST_ENDS)
        if is_inside:
            found.append(line)
    return found
