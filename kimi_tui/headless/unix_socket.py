"""Unix socket for the daemon's clients."""

import asyncio
import contextlib
import io
import os
import socket
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.base.output_stream import OutputStream
from kimi_tui.base.raw_input import RawInput
from kimi_tui.headless.daemon_client import DaemonClient

_BACKLOG = 16


@contextmanager
def listen(path: Path) -> Iterator["UnixSocketListener"]:
    """Listen at `path`, accessible to the owner only. The socket is removed on exit. Raises UsageError."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with contextlib.closing(listener):
        try:
            _remove_stale_socket(path)
            before = os.umask(0o177)
            try:
                listener.bind(str(path))
            finally:
                os.umask(before)
            listener.listen(_BACKLOG)
        except OSError as error:
            raise UsageError(
                msg("Can't listen on --socket {path}: {reason}.", path=path, reason=error.strerror or error),
                hint="Use a short path in a directory that you can write to.",
            ) from error
        listener.setblocking(False)
        client_listener = UnixSocketListener(listener)
        try:
            yield client_listener
        finally:
            client_listener.close()
            with contextlib.suppress(OSError):
                path.unlink()


def _remove_stale_socket(path: Path) -> None:
    """Remove a socket that no process listens on. Raises UsageError and OSError."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise UsageError(
            msg("--socket {path} already exists and isn't a socket.", path=path), hint="Use another path."
        )
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise UsageError(msg("--socket {path} is already in use.", path=path), hint="Use another path.")


class UnixSocketListener:
    """Accepts a client for every connection."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._open: set[_SocketClient] = set()

    async def clients(self) -> AsyncIterator[DaemonClient]:
        """Yield clients as they connect, without end."""
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(self._listener)
            connection.setblocking(True)
            client = _SocketClient(connection, self._open)
            self._open.add(client)
            yield client

    def close(self) -> None:
        """Disconnect all clients. This also ends the threads that read from them."""
        for client in list(self._open):
            client.hang_up()


class _SocketClient(DaemonClient):
    """A client on a connection, which is closed after all output has been read."""

    def __init__(self, connection: socket.socket, open_clients: "set[_SocketClient]") -> None:
        self._connection = connection
        self._open_clients = open_clients
        stream = io.FileIO(connection.fileno(), "w", closefd=False)
        super().__init__(RawInput(connection.fileno()), OutputStream(stream))

    async def close(self) -> None:
        """Wait until all output has been read, and disconnect."""
        await super().close()
        self.hang_up()

    def hang_up(self) -> None:
        """Close the connection. Pending reads reach the end of the input."""
        self._open_clients.discard(self)
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
