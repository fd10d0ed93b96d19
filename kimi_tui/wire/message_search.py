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
    """Author of the message: the agent for a tool call, the tool for the call's output."""
    checkpoint: int | None = None
    """Checkpoint before the message, on any branch; None without such a checkpoint."""
    is_on_current_branch: bool = True
    """False if a revert or a compaction removed the message from the conversation."""
    passage: str
    """The text around the first match."""
    matches: tuple[tuple[int, int], ...] = ()
    """Matching ranges in `passage`, as start and end offsets in characters."""


@frozen
class MessageMatches:
    """Reply to SearchMessages. Sent again after more messages are indexed. Not in kimi-cli."""

    text: str
    """The search text."""
    matches: tuple[MessageMatch, ...]
    """Newest first."""
    has_more: bool = False
    """Whether there are matches beyond the limit."""
    indexed: float = 1.0
    """Indexed fraction of the journals, from 0 to 1. Only the indexed part was searched."""
