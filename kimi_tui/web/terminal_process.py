"""A program in a pseudo-terminal, for one page."""

import asyncio
import contextlib
import fcntl
import os
import pty
import signal
import struct
import sys
import termios
from collections.abc import Mapping, Sequence

MIN_SIZE, MAX_SIZE = 10, 1000
"""Limits of columns and lines."""
_CHUNK_BYTES = 1 << 16
_TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; "
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
"""Makes standard input the controlling terminal, for signals and `/dev/tty`, and becomes the program."""
_END_TIMEOUT_S = 5.0


class TerminalProcess:
    """Runs a program in a terminal. `start` begins it; `close` ends it as if its terminal was lost."""

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], cwd: str) -> None:
        self._command = tuple(command)
        self._env = env
        self._cwd = cwd
        self._master = -1
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, columns: int, lines: int) -> None:
        """Start the program. Raises OSError."""
        self._master, slave = pty.openpty()
        self.resize(columns, lines)
        try:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                _TAKE_TERMINAL,
                *self._command,
                stdin=slave,
                stdout=slave,
                stderr=slave,
                env=dict(self._env),
                cwd=self._cwd,
                start_new_session=True,
            )
        finally:
            os.close(slave)
        os.set_blocking(self._master, False)

    @property
    def is_running(self) -> bool:
        """Whether the program was started and hasn't ended."""
        return self._process is not None and self._process.returncode is None

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the terminal."""
        size = (min(max(lines, MIN_SIZE), MAX_SIZE), min(max(columns, MIN_SIZE), MAX_SIZE))
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("4H", *size, 0, 0))

    async def read(self) -> bytes:
        """Return the next output; empty when the program has ended."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                return os.read(self._master, _CHUNK_BYTES)
            except BlockingIOError:
                readable = asyncio.Event()
                loop.add_reader(self._master, readable.set)
                try:
                    await readable.wait()
                finally:
                    loop.remove_reader(self._master)
            except OSError:  # EIO: no process has the terminal open
                return b""

    async def write(self, data: bytes) -> None:
        """Send input to the program. Waits while it doesn't read."""
        loop = asyncio.get_running_loop()
        while data:
            try:
                data = data[os.write(self._master, data) :]
            except BlockingIOError:
                writable = asyncio.Event()
                loop.add_writer(self._master, writable.set)
                try:
                    await writable.wait()
                finally:
                    loop.remove_writer(self._master)
            except OSError:
                return

    async def close(self) -> None:
        """Tell the program that its terminal is gone, and wait until it has ended."""
        process, master = self._process, self._master
        if process is not None and self.is_running:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGHUP)
            try:
                async with asyncio.timeout(_END_TIMEOUT_S):
                    await process.wait()
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if master >= 0:
            self._master = -1
            os.close(master)
