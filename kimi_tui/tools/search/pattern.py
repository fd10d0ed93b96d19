"""Glob patterns: `*`, `?`, `[a-z]`, `{a,b}` within a name, `**` over folders."""

import re
from collections.abc import Callable
from dataclasses import dataclass

_SPECIAL = re.compile(r"[*?\[{]")
_TOKEN = re.compile(r"(?:(?<=/)|^)\*\*/|\*+|\[[!^]?(?:\]|[^\]])[^\]]*\]|.", re.DOTALL)


class BadPattern(ValueError):
    """A pattern that can't be understood; the text says why."""


@dataclass(frozen=True, slots=True)
class GlobPattern:
    """A pattern, taken apart: where to begin, and what to look for there."""

    prefix: str
    """The folders before the first special character; empty when there are none."""
    regex: re.Pattern[str]
    """Matches whole paths relative to the prefix, with `/`."""
    max_depth: int | None
    """How many names deep a match lies at most; None when `**` leaves that open."""


def parse_glob(pattern: str, is_folder: Callable[[str], bool] = lambda path: False) -> GlobPattern:
    """Take `pattern` apart. Raises BadPattern.

    A folder that exists by the very name that stands in the pattern is that folder: `app/[slug]/*.ts`.
    """
    absolute = "/" if pattern.startswith("/") else ""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise BadPattern("it holds “..”")
    if not parts:
        raise BadPattern("it is empty")
    first = 0
    while first < len(parts) - 1:
        if _SPECIAL.search(parts[first]) and not is_folder(absolute + "/".join(parts[: first + 1])):
            break
        first += 1
    if parts[-1] == "**":  # all that is below
        parts.append("*")
    rest = "/".join(parts[first:])
    return GlobPattern(
        prefix=absolute + "/".join(parts[:first]),
        regex=glob_regex(rest),
        max_depth=None if "**" in rest else rest.count("/") + 1,
    )


def glob_regex(pattern: str) -> re.Pattern[str]:
    """`pattern` as a regular expression for whole relative paths. Raises BadPattern."""
    try:
        return re.compile(_regex(pattern) + r"\Z", re.DOTALL)
    except re.error as error:
        raise BadPattern(f"a [...] in it makes no sense ({error.msg})") from error


def _regex(pattern: str) -> str:
    result: list[str] = []
    depth = 0
    for token in _TOKEN.findall(pattern):
        match token:
            case "**/":
                result.append("(?:[^/]+/)*")
            case "?":
                result.append("[^/]")
            case "{":
                result.append("(?:")
                depth += 1
            case "," if depth:
                result.append("|")
            case "}" if depth:
                result.append(")")
                depth -= 1
            case _ if token[0] == "*":  # `a**` is no more than `a*`
                result.append("[^/]*")
            case _ if token[0] == "[" and len(token) > 1:
                result.append(_character_class(token[1:-1]))
            case _:
                result.append(re.escape(token))
    if depth:
        raise BadPattern("a “{” has no “}”")
    return "".join(result)


def _character_class(inner: str) -> str:
    negated = inner[0] in "!^" and len(inner) > 1
    members = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner[negated:])
    return f"(?!/)[{'^' if negated else ''}{members}]"
