"""Text output to a stream that a reader may read slowly or close."""

import asyncio
import contextlib
import errno
import select
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Protocol


class RawStream(Protocol):
    """An unbuffered binary file."""

    def write(self, data: memoryview, /) -> int | None:
        """Write some of `data` and return the number of bytes; None if the stream is full."""
        ...

    def fileno(self) -> int:
        """Return the file descriptor."""
        ...


class OutputStream:
    """Writes to a stream in a thread, so that a slow or missing reader never blocks the event loop.

    `write` waits while more than `limit` bytes are pending.
    """

    def __init__(self, stream: RawStream, *, limit: int = 1 << 20) -> None:
        self._stream = stream
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._pending = 0
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._idle = asyncio.Event()
        self._ended = asyncio.Event()
        self.broken = asyncio.Event()
        """Set when the stream can no longer be written."""
        self.error: OSError | None = None
        """The error that broke the stream."""
        threading.Thread(target=self._write_all, daemon=True).start()

    async def write(self, text: str) -> None:
        """Queue `text`, and wait if too much is pending. Does nothing if the stream is broken."""
        self.post(text)
        if self._pending > self._limit and not self.broken.is_set():
            self._has_room.clear()
            await self._has_room.wait()

    def post(self, text: str) -> None:
        """Queue `text` without waiting. For short text that must not be delayed."""
        data = text.encode("utf-8", "replace")
        if data and not self.broken.is_set():
            self._pending += len(data)
            self._queue.put(data)

    def stop_waiting(self) -> None:
        """Let all writers continue, now and later, however much is pending. For the end of the program."""
        self._limit = sys.maxsize
        self._has_room.set()

    async def flush(self, *, within_s: float) -> None:
        """Wait until all queued text has been written, for at most `within_s` seconds."""
        if self._pending and not self.broken.is_set():
            self._idle.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await self._idle.wait()

    async def close(self, *, within_s: float | None = None) -> bool:
        """Write all queued text and end the thread. Waits at most `within_s` seconds.

        Returns whether everything was written. Nothing can be written after this call.
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
                self._notify_loop(self._mark_broken, error)
                break
            except ValueError as error:  # closed by a run that didn't wait for its reader
                self._notify_loop(self._mark_broken, OSError(errno.EBADF, str(error)))
                break
            self._notify_loop(self._on_written, len(data))
        self._notify_loop(self._ended.set)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            count = self._stream.write(rest)
            if count is None:  # another process made the stream non-blocking, and it is full
                select.select((), (self._stream,), ())
            else:
                rest = rest[count:]

    def _notify_loop(self, callback: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(callback, *arguments)

    def _on_written(self, count: int) -> None:
        self._pending -= count
        if self._pending <= self._limit // 2:
            self._has_room.set()
        if not self._pending:
            self._idle.set()

    def _mark_broken(self, error: OSError) -> None:
        self.error = error
        for event in (self.broken, self._has_room, self._idle):
            event.set()
