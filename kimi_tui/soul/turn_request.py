"""The user's request of the current turn, and its position in the conversation."""

from dataclasses import dataclass


@dataclass(slots=True)
class TurnRequest:
    """Position of the request. A compaction or a D-Mail can change the position."""

    index: int = 0
    """Index in the history."""
    checkpoint: int = -1
    """Id of the checkpoint before the request; -1 if the checkpoint no longer exists."""
