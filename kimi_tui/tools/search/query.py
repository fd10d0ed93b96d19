"""A search in files, as the search programs take it."""

from dataclasses import dataclass
from typing import Literal

OutputMode = Literal["files_with_matches", "content", "count"]
"""What a search gives: names of files, their lines, or how many matches each has."""

MAX_COLUMNS = 2000
"""Longer lines are cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What to search for."""

    pattern: str
    folder: str
    """Where the program runs, links resolved: paths and globs are relative to it."""
    file: str | None = None
    """The one file in `folder` to search, which the program reads as its input; None for all."""
    globs: tuple[str, ...] = ()
    file_type: str | None = None
    mode: OutputMode | Literal["files"] = "files_with_matches"
    """`files` gives the names that `globs` match, in whatever case, and searches nothing."""
    before: int = 0
    after: int = 0
    ignores_case: bool = False
    is_multiline: bool = False
