"""Clients of the daemon: they send prompt lines and receive output. Several may be connected."""

from collections.abc import AsyncIterator
from functools import partial
from typing import Protocol

from kimi_tui.base.output_stream import OutputStream
from kimi_tui.base.pipe_reader import read_in_thread

MAX_LINE_BYTES = 100 * 1024 * 1024


class LineReader(Protocol):
    """Source of lines."""

    def readline(self, longest: int | None = None, /) -> bytes:
        """Return a line, or an empty string at the end.

        Raises OSError, and LineTooLong, after which the next line can be read.
        """
        ...


class DaemonClient:
    """A client on a pair of pipes or a connection."""

    def __init__(self, lines: LineReader, out: OutputStream) -> None:
        self._lines = lines
        self.out = out

    async def read_line(self) -> bytes:
        """Return the next line, or an empty string at the end or after a read error. Raises LineTooLong."""
        try:
            return await read_in_thread(partial(self._lines.readline, MAX_LINE_BYTES))
        except OSError:
            return b""

    async def close(self) -> None:
        """Wait until all output has been read. Nothing may be written afterwards."""
        await self.out.close()


class ClientListener(Protocol):
    """Source of clients."""

    def clients(self) -> AsyncIterator[DaemonClient]:
        """Yield clients until no more can connect."""
        ...


class StdioListener:
    """A single client on the process's standard input and output."""

    def __init__(self, lines: LineReader, out: OutputStream) -> None:
        self._client = DaemonClient(lines, out)

    async def clients(self) -> AsyncIterator[DaemonClient]:
        """Yield the client."""
        yield self._client
