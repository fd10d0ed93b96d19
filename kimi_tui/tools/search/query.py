"""A content search, as passed to the search programs."""

from typing import Literal

from kimi_tui.base.frozen import frozen

OutputMode = Literal["files_with_matches", "content", "count"]
"""What a search returns: names of files, their matching lines, or how many matches each file has."""

MAX_COLUMNS = 2000
"""Longer lines are truncated."""


@frozen(kw_only=True)
class Query:
    """What to search for."""

    pattern: str
    folder: str
    """Where the program runs, links resolved. Paths and globs are relative to it."""
    file: str | None = None
    """The only file in `folder` to search, which the program reads from standard input; None for all files.
    """
    globs: tuple[str, ...] = ()
    file_type: str | None = None
    mode: OutputMode | Literal["files"] = "files_with_matches"
    """`files` lists the names that `globs` match, ignoring case, without searching."""
    before: int = 0
    after: int = 0
    ignores_case: bool = False
    is_multiline: bool = False
    root: str = ""
    """Where the program finds the root directory of `folder`; empty for its own."""
