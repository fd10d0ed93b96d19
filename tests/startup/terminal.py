"""A program in a pseudo-terminal, measured from outside until a text shows on its screen."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.patience import PATIENCE_S


@dataclass(frozen=True, slots=True)
class Run:
    """What a program did until a text showed."""

    cpu_s: float
    """User and system time."""
    written: bytes
    """All that it wrote to the terminal."""


def run_until(
    command: Sequence[str], text: str, *, env: Mapping[str, str], cwd: str, typing: bool = False
) -> Run:
    """Run `command` in a terminal of 120x40 until `text` was written to it, then kill it.

    When `typing`, somebody types `text` again and again, so what is measured is how soon a key is answered.
    Raises TimeoutError when it never is.
    """
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(cwd)
        os.execvpe(command[0], list(command), dict(env))
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        _stop_echo(terminal)
        written = _read_until(terminal, text.encode(), typing=typing)
    finally:
        os.kill(process, signal.SIGKILL)
        _, _, usage = os.wait4(process, 0)
        os.close(terminal)
    return Run(usage.ru_utime + usage.ru_stime, written)


def _stop_echo(terminal: int) -> None:
    """Let only the program show what is typed, not the terminal's own echo before the program is up."""
    attributes = termios.tcgetattr(terminal)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)


def _read_until(terminal: int, wanted: bytes, *, typing: bool) -> bytes:
    seen = b""
    deadline = time.monotonic() + PATIENCE_S
    while wanted not in seen:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{wanted!r} never showed; the last that did: {seen[-2000:]!r}")
        if not select.select([terminal], [], [], 0.02)[0]:
            if typing:
                os.write(terminal, wanted)
            continue
        try:
            seen += os.read(terminal, 65536)
        except OSError as error:
            raise TimeoutError(f"the program ended before {wanted!r} showed: {seen[-2000:]!r}") from error
    return seen
