"""Runs the resident engine on its socket."""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.message_text import msg
from kimi_tui.resident.engine_socket import EngineSocket
from kimi_tui.resident.hosted_session import SessionOpener
from kimi_tui.resident.session_host import IDLE_S, SessionHost
from kimi_tui.resident.socket_path import LOCK_NAME


class EngineRunning(KimiTuiError):
    """Another resident engine uses the data directory."""


@contextmanager
def listen_for_clients(data_dir: Path) -> Iterator[EngineSocket]:
    """Listen on the socket of `data_dir`, which only its owner can open.

    A lock keeps a second engine from starting. It isn't in the directory of the socket, which a cleaner of
    temporary files may delete. Raises EngineRunning and KimiTuiError.
    """
    lock = _open_lock(data_dir)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise EngineRunning(
                "The resident engine is already running.",
                hint="`kimi-tui ps` lists its sessions. `kimi-tui serve --restart` restarts it.",
            ) from None
        with contextlib.closing(EngineSocket(data_dir)) as socket:
            yield socket
    finally:
        os.close(lock)


def is_engine_locked(data_dir: Path) -> bool:
    """Return whether an engine of `data_dir` runs, even if it no longer listens. Raises KimiTuiError."""
    lock = _open_lock(data_dir)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _open_lock(data_dir: Path) -> int:
    path = data_dir / LOCK_NAME
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise KimiTuiError(
            msg("Can't create {path}: {reason}.", path=path, reason=error.strerror or error),
            hint="Make the data directory writable, or set KIMI_SHARE_DIR.",
        ) from error


async def serve_sessions(
    socket: EngineSocket,
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
        await host.run(socket)
        stopping.cancel()


async def _stop_on_signal(host: SessionHost, interruption: ProcessInterrupt) -> None:
    await interruption.wait()
    host.request_stop()
