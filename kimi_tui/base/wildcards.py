"""Wildcards as regular expressions that never try twice: a name of somebody else's can't keep them busy."""

from collections.abc import Iterable

NAME_PART = "[^/]*"
"""What `*` stands for."""
FOLDERS = "(?:[^/]+/)*"
"""What `**/` stands for."""


def with_gaps(pieces: Iterable[str], gap: str) -> str:
    """A regular expression for `pieces` in their order, with `gap`, a wildcard, between them.

    No piece may have alternatives of several lengths. Then the first place where one fits leaves the most
    room for those after it, so that only the last is looked for anew.
    """
    first, *others = pieces
    if not others:
        return first
    *middle, last = others
    return "".join((first, *(f"(?>{gap}?{piece})" for piece in middle if piece), gap, last))
