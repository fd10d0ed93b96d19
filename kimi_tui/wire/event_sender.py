"""Protocol for sending events to front ends."""

from typing import Protocol

from kimi_tui.wire.events import Event


class EventSender(Protocol):
    """Sends events. Implemented by the Wire, and by classes that forward the events of sub-agents."""

    def send(self, event: Event, /) -> None:
        """Send `event`."""
        ...


class EventList(list[Event]):
    """Event sender that collects the events in a list."""

    def send(self, event: Event, /) -> None:
        """Append `event`."""
        self.append(event)
