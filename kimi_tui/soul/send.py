"""Where an agent's events go."""

from typing import Protocol

from kimi_tui.wire.events import Event


class Send(Protocol):
    """The way out for events."""

    def __call__(self, event: Event, /) -> None:
        """Send `event`."""
