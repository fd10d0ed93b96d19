"""The user's request of the current turn, and its position in the conversation."""

from dataclasses import dataclass


@dataclass(slots=True)
class TurnRequest:
    """Position of the request, which a compaction or a D-Mail may change."""

    index: int = 0
    """Index in the history."""
    checkpoint: int = -1
    """Id of the checkpoint before it; -1 if that no longer exists."""
