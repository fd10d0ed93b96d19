"""Whoever gives a daemon prompts: lines come in, output goes out. There may be several at once."""

from collections.abc import AsyncIterator
from functools import partial
from typing import Protocol

from kimi_tui.base.output import Output
from kimi_tui.base.threaded_read import read_in_thread

LONGEST_LINE = 100 * 1024 * 1024


class LineReader(Protocol):
    """Where lines come from."""

    def readline(self, longest: int | None = None, /) -> bytes:
        """A line; empty at the end. Raises OSError, and LineTooLong, after which the next can be read."""
        ...


class Client:
    """One pair of pipes, or one connection."""

    def __init__(self, lines: LineReader, out: Output) -> None:
        self._lines = lines
        self.out = out

    async def line(self) -> bytes:
        """The next line; empty at the end. Raises LineTooLong; what can't be read has ended."""
        try:
            return await read_in_thread(partial(self._lines.readline, LONGEST_LINE))
        except OSError:
            return b""

    async def close(self) -> None:
        """Wait until everything has been read; nothing may follow."""
        await self.out.close()


class Door(Protocol):
    """Where clients come from."""

    def clients(self) -> AsyncIterator[Client]:
        """One after the other, until no more can come."""
        ...


class OwnPipes:
    """The process's own standard input and output: one client."""

    def __init__(self, lines: LineReader, out: Output) -> None:
        self._client = Client(lines, out)

    async def clients(self) -> AsyncIterator[Client]:
        """The one that there is."""
        yield self._client
