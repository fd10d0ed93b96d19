"""Results of a search in the messages of all sessions."""

from typing import Literal

from kimi_tui.base.frozen import frozen

Speaker = Literal["user", "agent", "tool"]


@frozen(kw_only=True)
class MessageMatch:
    """A message that contains all terms of a search."""

    session_id: str
    title: str
    """The session's title; may be empty."""
    work_dir: str
    """Working directory; empty if unknown."""
    time: float
    """Time of the checkpoint before the message, in seconds since the epoch; 0 if unknown."""
    speaker: Speaker
    """Who wrote the message; a tool call belongs to the agent, its output to the tool."""
    checkpoint: int | None = None
    """Checkpoint before the message, on the current branch or another; None if there is none."""
    is_on_current_branch: bool = True
    """False if a revert or a compaction removed the message from the conversation."""
    passage: str
    """The text around the first match."""
    matches: tuple[tuple[int, int], ...] = ()
    """Ranges of characters of `passage` that match."""


@frozen
class MessageMatches:
    """Reply to SearchMessages; sent again when more has been indexed. Not in kimi-cli."""

    text: str
    """The search text."""
    matches: tuple[MessageMatch, ...]
    """Newest first."""
    has_more: bool = False
    """Whether there are more matches than these."""
    indexed: float = 1.0
    """Indexed part of the journals, from 0 to 1. Only this part was searched."""
