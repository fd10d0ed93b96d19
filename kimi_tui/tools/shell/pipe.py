"""The pipe that a command writes both its streams to."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

_CHUNK = 65_536
_CHUNKS_AT_ONCE = 64


class OutputPipe:
    """The pipe that a command writes both its streams to."""

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self._take = take
        self._read_end, self.write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        self._loop = asyncio.get_running_loop()
        self._is_open = True
        self.is_wanted = True
        self.ended = asyncio.Event()

    def start(self) -> None:
        """Begin to read. The command holds the other end alone from here on."""
        os.close(self.write_end)
        self.write_end = -1
        self._loop.add_reader(self._read_end, self._read)

    async def drain(self, grace_s: float) -> None:
        """Read what is there, and for a moment what still comes."""
        self.read_rest()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                await self.ended.wait()

    def read_rest(self) -> None:
        """Read what is there."""
        for _ in range(_CHUNKS_AT_ONCE):
            if not self._read():
                break

    def discard(self) -> None:
        """Drop what comes from here on: a process must not wait for a reader, nor lose its pipe."""
        self.is_wanted = False
        self._take = _drop

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
        """Read once. Whether there may be more at once."""
        if not self._is_open:
            return False
        try:
            data = os.read(self._read_end, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.close()
            return False
        self._take(data)
        return True


def _drop(data: bytes) -> None:
    """Take `data` and do nothing with it."""
