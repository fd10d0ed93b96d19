"""A file descriptor as input, past Python's buffers.

A buffered reader is locked while it reads, and the interpreter aborts when it ends while a thread that nobody
waits for holds such a lock.
"""

import os

_CHUNK = 1 << 16


class LineTooLong(Exception):
    """A line is longer than it may be."""


class RawInput:
    """Reads what a descriptor gives. Not for several threads at once."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = bytearray()
        self._ended = False

    def read(self) -> bytes:
        """Everything up to the end. Raises OSError."""
        while self._fill():
            pass
        return self._take(len(self._rest))

    def readline(self, longest: int | None = None) -> bytes:
        """A line with its end; the last may lack it; empty at the end.

        Raises OSError, and LineTooLong for a line of more than `longest` bytes, which is skipped.
        """
        searched = 0
        while (end := self._rest.find(b"\n", searched)) == -1:
            searched = len(self._rest)
            if longest is not None and searched > longest:
                self._skip_line()
                raise LineTooLong
            if not self._fill():
                return self._take(len(self._rest))
        if longest is not None and end > longest:
            del self._rest[: end + 1]
            raise LineTooLong
        return self._take(end + 1)

    def _skip_line(self) -> None:
        while (end := self._rest.find(b"\n")) == -1:
            self._rest.clear()
            if not self._fill():
                return
        del self._rest[: end + 1]

    def _fill(self) -> bool:
        """Read some more; False at the end."""
        if not self._ended:
            chunk = os.read(self._descriptor, _CHUNK)
            self._rest += chunk
            self._ended = not chunk
        return not self._ended

    def _take(self, count: int) -> bytes:
        taken = bytes(self._rest[:count])
        del self._rest[:count]
        return taken
