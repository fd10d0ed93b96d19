"""Running commands that the user may move to the background."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class MovableCommands:
    """Registry of the commands that run in the foreground, by tool call."""

    def __init__(self) -> None:
        self._requests: dict[str, asyncio.Event] = {}

    @contextmanager
    def registered(self, call_id: str) -> Iterator[asyncio.Event]:
        """Register the command of a call. Yield the event that is set when it should move."""
        requested = self._requests[call_id] = asyncio.Event()
        try:
            yield requested
        finally:
            del self._requests[call_id]

    def request_move(self, call_id: str = "") -> bool:
        """Let the command of a call move, or all of them. Return whether there is one."""
        requests = [event for owner, event in self._requests.items() if call_id in ("", owner)]
        for event in requests:
            event.set()
        return bool(requests)
