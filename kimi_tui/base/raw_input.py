"""Input from a file descriptor without Python's buffered readers.

A buffered reader holds a lock while it reads, and the interpreter aborts if it exits while a daemon thread
holds that lock.
"""

import os

_CHUNK = 1 << 16


class LineTooLong(Exception):
    """A line exceeds the maximum length."""


class RawInput:
    """Reader of a file descriptor. Not thread-safe."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._buffer = bytearray()
        self._ended = False

    def read(self) -> bytes:
        """Read to the end of the input. Raises OSError."""
        while self._fill():
            pass
        return self._consume(len(self._buffer))

    def readline(self, max_bytes: int | None = None) -> bytes:
        """Return the next line with its newline. The last line may lack it; empty at the end of the input.

        Raises OSError, and LineTooLong for a line of more than `max_bytes` bytes, which is skipped.
        """
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) == -1:
            searched = len(self._buffer)
            if max_bytes is not None and searched > max_bytes:
                self._skip_line()
                raise LineTooLong
            if not self._fill():
                return self._consume(len(self._buffer))
        if max_bytes is not None and end > max_bytes:
            del self._buffer[: end + 1]
            raise LineTooLong
        return self._consume(end + 1)

    def _skip_line(self) -> None:
        while (end := self._buffer.find(b"\n")) == -1:
            self._buffer.clear()
            if not self._fill():
                return
        del self._buffer[: end + 1]

    def _fill(self) -> bool:
        """Read another chunk. Return False at the end of the input."""
        if not self._ended:
            chunk = os.read(self._descriptor, _CHUNK)
            self._buffer += chunk
            self._ended = not chunk
        return not self._ended

    def _consume(self, count: int) -> bytes:
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data
