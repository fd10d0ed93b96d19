"""The process's being asked to stop, by a signal."""

import asyncio


class Interruption:
    """Stands until a signal is raised; whoever waits is told then."""

    def __init__(self) -> None:
        self._raised = asyncio.Event()
        self._repeated = asyncio.Event()
        self.signal_number: int | None = None

    def stop(self, signal_number: int) -> None:
        """Ask everybody to stop; asked again, to leave what is left. Only the first number counts."""
        if self.signal_number is None:
            self.signal_number = signal_number
            self._raised.set()
        else:
            self._repeated.set()

    async def wait(self) -> None:
        """Return once it was asked to stop."""
        await self._raised.wait()

    async def wait_for_more(self) -> None:
        """Return once it was asked a second time: whoever asks has no patience left."""
        await self._repeated.wait()
