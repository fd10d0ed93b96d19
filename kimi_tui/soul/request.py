"""The user's request that a turn works on, and where it stands in the conversation."""

from dataclasses import dataclass


@dataclass(slots=True)
class Request:
    """Moves when the conversation is compacted or a D-Mail takes it back."""

    index: int = 0
    """Where in the history it stands."""
    checkpoint: int = -1
    """The checkpoint before it; -1 when it is gone."""
