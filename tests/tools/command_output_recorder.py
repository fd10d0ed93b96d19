"""Recorder of a command's output."""

import asyncio


class CommandOutputRecorder:
    """Output of a command so far."""

    def __init__(self) -> None:
        self.data = b""
        self._more = asyncio.Event()

    def receive(self, data: bytes) -> None:
        self.data += data
        self._more.set()

    async def line(self) -> str:
        """Wait for the first line and return it."""
        while b"\n" not in self.data:
            self._more.clear()
            await self._more.wait()
        return self.data.split(b"\n")[0].decode()
