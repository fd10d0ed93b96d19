"""A Unix socket on which the clients of a daemon connect."""

import asyncio
import contextlib
import io
import os
import socket
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kimi_tui.base.errors import UsageError
from kimi_tui.base.output import Output
from kimi_tui.base.raw_input import RawInput
from kimi_tui.headless.client import Client

_BACKLOG = 16


@contextmanager
def listening(path: Path) -> Iterator["SocketDoor"]:
    """Listen at `path`, for the owner alone; the socket is gone afterwards. Raises UsageError."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with contextlib.closing(listener):
        try:
            _clear(path)
            before = os.umask(0o177)
            try:
                listener.bind(str(path))
            finally:
                os.umask(before)
            listener.listen(_BACKLOG)
        except OSError as error:
            raise UsageError(
                f"--socket {path} can't be listened at: {error.strerror or error}.",
                hint="Name a short path in a folder that you may write to.",
            ) from error
        listener.setblocking(False)
        door = SocketDoor(listener)
        try:
            yield door
        finally:
            door.close()
            with contextlib.suppress(OSError):
                path.unlink()


def _clear(path: Path) -> None:
    """Remove a socket that nobody listens at any more. Raises UsageError and OSError."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise UsageError(f"--socket {path} is there and is no socket.", hint="Name a path that is free.")
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise UsageError(f"Somebody listens at --socket {path} already.", hint="Name another path.")


class SocketDoor:
    """Every connection is a client."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._open: set[_Connection] = set()

    async def clients(self) -> AsyncIterator[Client]:
        """Those that connect, for ever."""
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(self._listener)
            connection.setblocking(True)
            client = _Connection(connection, self._open.discard)
            self._open.add(client)
            yield client

    def close(self) -> None:
        """Hang up on everybody, which also ends the threads that read from them."""
        for client in list(self._open):
            client.hang_up()


class _Connection(Client):
    """A connection; its end is closed once everything has been said."""

    def __init__(self, connection: socket.socket, forget: "Callable[[_Connection], None]") -> None:
        self._connection = connection
        self._forget = forget
        stream = io.FileIO(connection.fileno(), "w", closefd=False)
        super().__init__(RawInput(connection.fileno()), Output(stream))

    async def close(self) -> None:
        """Wait until everything has been read, and hang up."""
        await super().close()
        self.hang_up()

    def hang_up(self) -> None:
        """Close the connection; whoever still reads from it finds its end."""
        self._forget(self)
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
