"""Protocol for sending an agent's events."""

from typing import Protocol

from kimi_tui.wire.events import Event


class EventSink(Protocol):
    """Sends an agent's events."""

    def __call__(self, event: Event, /) -> None:
        """Send `event`."""
