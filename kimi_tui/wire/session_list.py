"""List of the sessions on disk."""

from typing import Literal

from kimi_tui.base.frozen import frozen


@frozen
class SessionListItem:
    """A session."""

    id: str
    title: str
    work_dir: str
    """Working directory; empty if unknown."""
    updated: float
    """Time of last use, in seconds since the epoch."""
    snippet: str = ""
    """Excerpt around the first match; empty without a search text."""


@frozen
class SessionList:
    """Reply to ListSessions, RenameSession and DeleteSession. Not in kimi-cli."""

    sessions: tuple[SessionListItem, ...]
    """Last used first. Includes the open session once it has messages."""
    text: str = ""
    """The search text."""


@frozen
class SessionExcerpt:
    """A message, possibly truncated."""

    speaker: Literal["user", "agent"]
    text: str


@frozen
class SessionPreview:
    """Reply to PreviewSession: the end of the conversation and the changed files. Not in kimi-cli."""

    id: str
    said: tuple[SessionExcerpt, ...]
    """Messages, oldest first; empty without messages."""
    changed_files: tuple[str, ...] = ()
    """Files that the agent or the user changed, most recently changed first."""
    more_files: int = 0
    """Number of changed files that aren't listed."""
    added_lines: int = 0
    removed_lines: int = 0
