"""Protocol for sending events to front ends."""

from typing import Protocol

from kimi_tui.wire.events import Event


class EventSender(Protocol):
    """Sends events. Implemented by the Wire, and by what forwards the events of sub-agents."""

    def send(self, event: Event, /) -> None:
        """Send `event`."""
        ...


class EventList(list[Event]):
    """List of the events that were sent to it."""

    def send(self, event: Event, /) -> None:
        """Append `event`."""
        self.append(event)
