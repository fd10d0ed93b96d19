"""Glob patterns: `*`, `?`, `[a-z]`, `{a,b}` within a name, `**` over folders."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kimi_tui.base.wildcards import FOLDERS, NAME_PART, with_gaps

_MOST_ALTERNATIVES = 500
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
    """`pattern` as a regular expression for whole paths, which none keeps busy. Raises BadPattern."""
    regexes = [_regex(tokens) for tokens in _without_braces(_TOKEN.findall(pattern))]
    try:
        return re.compile(f"(?:{'|'.join(regexes)})\\Z", re.DOTALL)
    except re.error as error:
        raise BadPattern(f"a [...] in it makes no sense ({error.msg})") from error


def _without_braces(tokens: Sequence[str]) -> list[list[str]]:
    """What `{a,b}` stands for, one list of tokens each."""
    begun: list[tuple[list[list[str]], list[list[str]]]] = []
    """Of each open brace: what stands before it, and its alternatives so far."""
    current: list[list[str]] = [[]]
    for token in tokens:
        match token:
            case "{":
                begun.append((current, []))
                current = [[]]
            case "," if begun:
                begun[-1][1].extend(current)
                current = [[]]
            case "}" if begun:
                before, alternatives = begun.pop()
                current = [[*one, *other] for one in before for other in (*alternatives, *current)]
            case _:
                for each in current:
                    each.append(token)
        if len(current) > _MOST_ALTERNATIVES:
            raise BadPattern("its braces stand for too many names")
    if begun:
        raise BadPattern("a “{” has no “}”")
    return current


def _regex(tokens: Iterable[str]) -> str:
    """A regular expression: names and folders between each `**/`, letters between each `*`."""
    pieces: list[list[str]] = [[""]]
    for token in tokens:
        match token:
            case "**/":
                pieces.append([""])
            case "?":
                pieces[-1][-1] += "[^/]"
            case _ if token[0] == "*":  # `a**` is no more than `a*`
                pieces[-1].append("")
            case _ if token[0] == "[" and len(token) > 1:
                pieces[-1][-1] += _character_class(token[1:-1])
            case _:
                pieces[-1][-1] += re.escape(token)
    return with_gaps((with_gaps(piece, NAME_PART) for piece in pieces), FOLDERS)


def _character_class(inner: str) -> str:
    negated = inner[0] in "!^" and len(inner) > 1
    members = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner[negated:])
    return f"(?!/)[{'^' if negated else ''}{members}]"
