"""Text to a stream, whose reader may be slow or gone."""

import asyncio
import contextlib
import errno
import select
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Protocol


class ByteStream(Protocol):
    """Where bytes go: an unbuffered file."""

    def write(self, data: memoryview, /) -> int | None:
        """Take some of `data` and say how much; None when there is no room for any."""
        ...

    def fileno(self) -> int:
        """The file's descriptor, to wait for room."""
        ...


class Output:
    """Writes in a thread of its own, so that a reader who is slow or gone never holds the event loop.

    A writer waits while more than `limit` bytes are on their way.
    """

    def __init__(self, stream: ByteStream, *, limit: int = 1 << 20) -> None:
        self._stream = stream
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._pending = 0
        self._room = asyncio.Event()
        self._room.set()
        self._idle = asyncio.Event()
        self._ended = asyncio.Event()
        self.broken = asyncio.Event()
        """Set when nothing more can be written."""
        self.error: OSError | None = None
        """Why it is broken."""
        threading.Thread(target=self._write_all, daemon=True).start()

    async def write(self, text: str) -> None:
        """Send `text` on its way. Once the stream is broken, nothing happens."""
        self.post(text)
        if self._pending > self._limit and not self.broken.is_set():
            self._room.clear()
            await self._room.wait()

    def post(self, text: str) -> None:
        """`write` without waiting for room, for what is small and must not be held up."""
        data = text.encode("utf-8", "replace")
        if data and not self.broken.is_set():
            self._pending += len(data)
            self._queue.put(data)

    async def settle(self, *, within_s: float) -> None:
        """Wait until what was sent has been written, though no longer than `within_s`."""
        if self._pending and not self.broken.is_set():
            self._idle.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await self._idle.wait()

    async def close(self, *, within_s: float | None = None) -> bool:
        """Wait until everything has been written, though no longer than `within_s`; nothing may follow.

        Whether there is nothing left to write.
        """
        self._queue.put(None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._ended.wait()
        return self._ended.is_set()

    def _write_all(self) -> None:
        while (data := self._queue.get()) is not None:
            try:
                self._write(data)
            except OSError as error:
                self._tell(self._break, error)
                break
            except ValueError as error:  # closed under us, when the run did not wait for its reader
                self._tell(self._break, OSError(errno.EBADF, str(error)))
                break
            self._tell(self._written, len(data))
        self._tell(self._ended.set)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            taken = self._stream.write(rest)
            if taken is None:  # somebody made the stream non-blocking, and it is full
                select.select((), (self._stream,), ())
            else:
                rest = rest[taken:]

    def _tell(self, callback: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits any more
            self._loop.call_soon_threadsafe(callback, *arguments)

    def _written(self, count: int) -> None:
        self._pending -= count
        if self._pending <= self._limit // 2:
            self._room.set()
        if not self._pending:
            self._idle.set()

    def _break(self, error: OSError) -> None:
        self.error = error
        for event in (self.broken, self._room, self._idle):
            event.set()
