"""Pipe for the output of a command."""

import asyncio
import os
from contextlib import suppress
from typing import Protocol

_CHUNK = 65_536
_MAX_CHUNKS_PER_DRAIN = 64


class OutputReceiver(Protocol):
    """Receives the output of a command."""

    def receive(self, data: bytes) -> None:
        """Handle the next piece of output, both streams in order."""
        ...


class OutputPipe:
    """Pipe that a command writes both of its streams to."""

    def __init__(self, receiver: OutputReceiver) -> None:
        self._receiver = receiver
        self._read_end, self.write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        self._loop = asyncio.get_running_loop()
        self._is_open = True
        self.is_read = True
        self.ended = asyncio.Event()

    def start(self) -> None:
        """Start reading, and leave the write end to the command."""
        os.close(self.write_end)
        self.write_end = -1
        self._loop.add_reader(self._read_end, self._read)

    async def drain(self, grace_s: float) -> None:
        """Read the available output, and wait up to `grace_s` for more."""
        self.read_rest()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                await self.ended.wait()

    def read_rest(self) -> None:
        """Read the available output."""
        for _ in range(_MAX_CHUNKS_PER_DRAIN):
            if not self._read():
                break

    def discard(self) -> None:
        """Drop all further output. Reading continues, so that processes neither block nor lose their pipe."""
        self.is_read = False

    def close(self) -> None:
        """Close both ends."""
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1
        if self._is_open:
            self._is_open = False
            self._loop.remove_reader(self._read_end)
            os.close(self._read_end)
        self.ended.set()

    def _read(self) -> bool:
        """Read once. Return whether there may be more to read now."""
        if not self._is_open:
            return False
        try:
            data = os.read(self._read_end, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.close()
            return False
        if self.is_read:
            self._receiver.receive(data)
        return True
