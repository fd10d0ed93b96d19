"""Glob patterns: `*`, `?`, `[a-z]` and `{a,b}` within a name, `**` across directories."""

import re
from collections.abc import Callable, Iterable, Sequence

from kimi_tui.base.frozen import frozen
from kimi_tui.base.safe_regex import FOLDERS, NAME_PART, join_atomic

_MAX_ALTERNATIVES = 500
_SPECIAL = re.compile(r"[*?\[{]")
_TOKEN = re.compile(r"(?:(?<=/)|^)\*\*/|\*+|\[[!^]?(?:\]|[^\]])[^\]]*\]|.", re.DOTALL)


class InvalidPattern(ValueError):
    """Raised for an invalid pattern. The message completes the sentence “The pattern is invalid: …”."""


@frozen
class GlobPattern:
    """A parsed pattern: where to start, and what to search for there."""

    prefix: str
    """The directories before the first special character; may be empty."""
    regex: re.Pattern[str]
    """Matches full paths relative to the prefix, separated by `/`."""
    max_depth: int | None
    """Maximum number of path components of a match; None if `**` leaves it open."""


def parse_glob(pattern: str, is_folder: Callable[[str], bool] = lambda path: False) -> GlobPattern:
    """Parse `pattern`. Raises InvalidPattern.

    A component that is the exact name of a directory (`is_folder`) is taken literally: `app/[slug]/*.ts`.
    """
    absolute = "/" if pattern.startswith("/") else ""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise InvalidPattern("it contains “..”")
    if not parts:
        raise InvalidPattern("it is empty")
    first = 0
    while first < len(parts) - 1:
        if _SPECIAL.search(parts[first]) and not is_folder(absolute + "/".join(parts[: first + 1])):
            break
        first += 1
    if parts[-1] == "**":  # everything below
        parts.append("*")
    rest = "/".join(parts[first:])
    return GlobPattern(
        prefix=absolute + "/".join(parts[:first]),
        regex=compile_glob(rest),
        max_depth=None if "**" in rest else rest.count("/") + 1,
    )


def compile_glob(pattern: str) -> re.Pattern[str]:
    """Return `pattern` as a regular expression for full paths that can't backtrack endlessly.

    Raises InvalidPattern.
    """
    regexes = [_build_regex(tokens) for tokens in _expand_braces(_TOKEN.findall(pattern))]
    try:
        return re.compile(f"(?:{'|'.join(regexes)})\\Z", re.DOTALL)
    except re.error as error:
        raise InvalidPattern(f"it has an invalid [...] ({error.msg})") from error


def _expand_braces(tokens: Sequence[str]) -> list[list[str]]:
    """Expand `{a,b}`. Return one list of tokens per alternative."""
    open_braces: list[tuple[list[list[str]], list[list[str]]]] = []
    """For each open brace: the tokens before it, and its alternatives so far."""
    current: list[list[str]] = [[]]
    for token in tokens:
        match token:
            case "{":
                open_braces.append((current, []))
                current = [[]]
            case "," if open_braces:
                open_braces[-1][1].extend(current)
                current = [[]]
            case "}" if open_braces:
                before, alternatives = open_braces.pop()
                current = [[*one, *other] for one in before for other in (*alternatives, *current)]
            case _:
                for each in current:
                    each.append(token)
        if len(current) > _MAX_ALTERNATIVES:
            raise InvalidPattern("its braces have too many alternatives")
    if open_braces:
        raise InvalidPattern("it has a “{” without “}”")
    return current


def _build_regex(tokens: Iterable[str]) -> str:
    """Return the regular expression of `tokens`. `pieces` has one list per `**/`, split at each `*`."""
    pieces: list[list[str]] = [[""]]
    for token in tokens:
        match token:
            case "**/":
                pieces.append([""])
            case "?":
                pieces[-1][-1] += "[^/]"
            case _ if token[0] == "*":  # `a**` is the same as `a*`
                pieces[-1].append("")
            case _ if token[0] == "[" and len(token) > 1:
                pieces[-1][-1] += _character_class(token[1:-1])
            case _:
                pieces[-1][-1] += re.escape(token)
    return join_atomic((join_atomic(piece, NAME_PART) for piece in pieces), FOLDERS)


def _character_class(inner: str) -> str:
    negated = inner[0] in "!^" and len(inner) > 1
    members = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner[negated:])
    return f"(?!/)[{'^' if negated else ''}{members}]"
