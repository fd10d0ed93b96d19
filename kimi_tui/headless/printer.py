"""Interface of the output formats."""

from typing import Any, Protocol

from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import Event, SessionInfo


class Printer(Protocol):
    """Writes a run in one format."""

    async def begin(self, info: SessionInfo) -> None:
        """Handle the opening of the session."""
        ...

    async def show(self, event: Outgoing) -> None:
        """Process an event."""
        ...

    async def reply(self, event: Event, text: str) -> None:
        """Write the reply to a slash command: `event` and its `text`."""
        ...

    async def finish(self, result: dict[str, Any]) -> None:
        """Write the result."""
        ...
