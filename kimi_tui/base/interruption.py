"""The process's being asked to stop, by a signal."""

import asyncio


class Interruption:
    """Stands until a signal is raised; whoever waits is told then."""

    def __init__(self) -> None:
        self._raised = asyncio.Event()
        self.signal_number: int | None = None

    def stop(self, signal_number: int) -> None:
        """Ask everybody to stop. Only the first signal counts."""
        if self.signal_number is None:
            self.signal_number = signal_number
            self._raised.set()

    async def wait(self) -> None:
        """Return once it was asked to stop."""
        await self._raised.wait()
