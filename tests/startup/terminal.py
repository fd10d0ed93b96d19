"""Runs a program in a pseudo-terminal and measures it until a text is shown."""

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

from tests.timeouts import TEST_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Run:
    """Measurements of a program until a text was shown."""

    cpu_s: float
    """User and system time."""
    written: bytes
    """Everything written to the terminal."""


def run_until(
    command: Sequence[str], text: str, *, env: Mapping[str, str], cwd: str, typing: bool = False
) -> Run:
    """Run `command` in a terminal of 120x40 until it writes `text`, then kill it.

    With `typing`, `text` is typed repeatedly, to measure when keys are first handled. Raises TimeoutError if
    `text` isn't shown in time.
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
    """Turn off the terminal's echo, so that only the program shows typed text."""
    attributes = termios.tcgetattr(terminal)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)


def _read_until(terminal: int, expected: bytes, *, typing: bool) -> bytes:
    output = b""
    deadline = time.monotonic() + TEST_TIMEOUT_S
    while expected not in output:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{expected!r} wasn't shown; last output: {output[-2000:]!r}")
        if not select.select([terminal], [], [], 0.02)[0]:
            if typing:
                os.write(terminal, expected)
            continue
        try:
            output += os.read(terminal, 65536)
        except OSError as error:
            raise TimeoutError(
                f"the program ended before {expected!r} was shown: {output[-2000:]!r}"
            ) from error
    return output
