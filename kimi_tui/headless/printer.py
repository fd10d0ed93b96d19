"""What every output format does with a run."""

from typing import Any, Protocol

from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import Event, SessionInfo


class Printer(Protocol):
    """Writes a run in one format."""

    async def begin(self, info: SessionInfo) -> None:
        """The session is open."""
        ...

    async def show(self, event: Outgoing) -> None:
        """Something happened."""
        ...

    async def reply(self, event: Event, text: str) -> None:
        """A command that is not the model's was answered by `event`, which says `text`."""
        ...

    async def finish(self, result: dict[str, Any]) -> None:
        """It is over."""
        ...
