"""Stop requests to the process, sent by signals."""

import asyncio


class ProcessInterrupt:
    """Event that is set when a signal asks the process to stop."""

    def __init__(self) -> None:
        self._requested = asyncio.Event()
        self._repeated = asyncio.Event()
        self.signal_number: int | None = None

    def request_stop(self, signal_number: int) -> None:
        """Request a stop.

        A second request skips remaining cleanup. Only the first signal number is recorded.
        """
        if self.signal_number is None:
            self.signal_number = signal_number
            self._requested.set()
        else:
            self._repeated.set()

    async def wait(self) -> None:
        """Wait for a stop request."""
        await self._requested.wait()

    async def wait_for_repeat(self) -> None:
        """Wait for a second stop request, which means that the user doesn't want to wait for cleanup."""
        await self._repeated.wait()
