"""Runs the resident engine on its socket."""

import asyncio
import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.message_text import msg
from kimi_tui.resident.hosted_session import SessionOpener
from kimi_tui.resident.session_host import IDLE_S, SessionHost
from kimi_tui.resident.socket_path import engine_dir, socket_path

_BACKLOG = 64


class EngineRunning(KimiTuiError):
    """Another resident engine uses the data directory."""


@contextmanager
def listen_for_clients(data_dir: Path) -> Iterator[socket.socket]:
    """Listen on the socket of `data_dir`, which only its owner can open.

    A lock keeps a second engine from starting. Raises EngineRunning and KimiTuiError.
    """
    path = socket_path(data_dir)
    lock = os.open(engine_dir(data_dir) / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise EngineRunning(
                "The resident engine is already running.",
                hint="`kimi-tui ps` lists its sessions. `kimi-tui serve --restart` restarts it.",
            ) from None
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listener:
            _bind(listener, path)
            try:
                yield listener
            finally:
                path.unlink(missing_ok=True)
    finally:
        os.close(lock)


def is_engine_locked(data_dir: Path) -> bool:
    """Return whether an engine of `data_dir` runs, even if it no longer listens. Raises KimiTuiError."""
    lock = os.open(engine_dir(data_dir) / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _bind(listener: socket.socket, path: Path) -> None:
    """Bind and listen at `path`. A socket that a killed engine left there is replaced.

    Raises KimiTuiError.
    """
    try:
        path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            listener.bind(str(path))
        finally:
            os.umask(before)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        raise KimiTuiError(
            msg("Can't listen on {path}: {reason}.", path=path, reason=error.strerror or error),
            hint="Make the data directory writable, or set KIMI_SHARE_DIR.",
        ) from error


async def serve_sessions(
    listener: socket.socket,
    *,
    opener: SessionOpener,
    version: str,
    interruption: ProcessInterrupt,
    idle_s: float = IDLE_S,
) -> None:
    """Serve clients until a signal arrives, a client stops the engine, or it has been idle for `idle_s`."""
    async with asyncio.TaskGroup() as group:
        host = SessionHost(opener=opener, version=version, tasks=group, idle_s=idle_s)
        stopping = group.create_task(_stop_on_signal(host, interruption))
        await host.run(listener)
        stopping.cancel()


async def _stop_on_signal(host: SessionHost, interruption: ProcessInterrupt) -> None:
    await interruption.wait()
    host.request_stop()
