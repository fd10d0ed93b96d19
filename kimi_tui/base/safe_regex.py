"""Regular expressions for wildcards without backtracking, so that no name can slow down matching."""

from collections.abc import Iterable

NAME_PART = "[^/]*"
"""Regular expression for `*`."""
FOLDERS = "(?:[^/]+/)*"
"""Regular expression for `**/`."""


def join_atomic(pieces: Iterable[str], wildcard: str) -> str:
    """Return a regular expression for `pieces` in order, with `wildcard` between them.

    No piece may have alternatives of different lengths. Then the first match of a piece leaves the most text
    for the following pieces, so that only the last piece needs to be retried.
    """
    first, *others = pieces
    if not others:
        return first
    *middle, last = others
    return "".join((first, *(f"(?>{wildcard}?{piece})" for piece in middle if piece), wildcard, last))
