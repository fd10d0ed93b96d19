"""Runs a program in a pseudo-terminal of 120x40 and measures it from outside."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

COLUMNS, LINES = 120, 40
_TICKS = os.sysconf("SC_CLK_TCK")
RARE_LETTERS = [chr(code) for code in range(0x0100, 0x0180) if chr(code).isalpha()]
"""Letters that aren't in any benchmark text. If one is shown, it was typed."""
TIMEOUT_S = 120.0
MAX_ECHO_S = 5.0
"""Time after which a key counts as lost."""


class Echo(NamedTuple):
    """Time from a key press to its letter on the screen."""

    wall_s: float
    cpu_s: float
    """CPU time of the program meanwhile: the latency on an otherwise idle machine."""


class Terminal:
    """A running program. A thread reads its output, so that it never blocks."""

    def __init__(self, pid: int, fd: int) -> None:
        self.pid = pid
        self._fd = fd
        self._output = bytearray()
        self._output_event = threading.Condition()
        self._has_ended = False
        self._rare = iter(RARE_LETTERS)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, text: str, *, start: int = 0, seconds: float = TIMEOUT_S) -> int:
        """Wait until `text` was written after byte `start`, and return the position after it.

        Raises TimeoutError.
        """
        expected = text.encode()
        deadline = time.monotonic() + seconds
        searched = start
        with self._output_event:
            while (position := self._output.find(expected, searched)) < 0:
                searched = max(start, len(self._output) - len(expected))
                if self._has_ended or not self._output_event.wait(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError(f"{text!r} wasn't shown; last output: {bytes(self._output[-600:])!r}")
            return position + len(expected)

    def type(self, text: str) -> None:
        """Type `text`."""
        os.write(self._fd, text.encode())

    def type_until_shown(self) -> None:
        """Type a letter repeatedly until the program shows it, because it may still be starting."""
        letter = next(self._rare)
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            self.type(letter)
            try:
                self.wait_for(letter, seconds=0.02)
            except TimeoutError:
                if self._has_ended:
                    raise
                continue
            return
        raise TimeoutError("no key was shown")

    def echo_s(self) -> float:
        """Return the seconds from a key press to its letter on the screen.

        Raises TimeoutError after MAX_ECHO_S.
        """
        return self.echo().wall_s

    def echo(self) -> Echo:
        """Type a letter, wait until it is shown and delete it. Raises TimeoutError after MAX_ECHO_S."""
        letter = next(self._rare, None)
        if letter is None:
            self._rare = iter(RARE_LETTERS)
            letter = next(self._rare)
        start, cpu, began = self.written, self.run_s(), time.perf_counter()
        self.type(letter)
        self.wait_for(letter, start=start, seconds=MAX_ECHO_S)
        echo = Echo(time.perf_counter() - began, self.run_s() - cpu)
        self.type("\x7f")
        return echo

    def wait_until_idle(self, quiet_s: float = 0.6) -> None:
        """Wait until the program writes nothing and uses no CPU for `quiet_s` seconds."""
        deadline = time.monotonic() + TIMEOUT_S
        last, since = (self.written, self.cpu_s()), time.monotonic()
        while time.monotonic() < deadline:
            time.sleep(0.05)
            if (now := (self.written, self.cpu_s())) != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > quiet_s:
                return

    @property
    def written(self) -> int:
        """Bytes written by the program so far."""
        return len(self._output)

    def cpu_s(self) -> float:
        """Return the user and system time of the program and its ended children, in seconds."""
        return process_cpu_s(self.pid)

    def run_s(self) -> float:
        """Return the time that the program's threads have run, in seconds with nanosecond resolution."""
        ran = 0
        for thread in Path(f"/proc/{self.pid}/task").iterdir():
            with suppress(OSError):  # the thread has ended
                ran += int((thread / "schedstat").read_text().split()[0])
        return ran / 1e9

    def memory_mb(self) -> float:
        """Return the resident memory in MB."""
        for line in Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Rss:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError("smaps_rollup has no Rss line")

    def read_to_end(self) -> None:
        """Wait until the reader thread ends.

        The descriptor must not be closed before, because it could be reused.
        """
        self._reader.join()

    def _read(self) -> None:
        while True:
            try:
                select.select([self._fd], [], [])
                data = os.read(self._fd, 1 << 16)
            except (OSError, ValueError):
                data = b""
            with self._output_event:
                self._output += data
                self._has_ended = not data
                self._output_event.notify_all()
            if not data:
                return


def process_cpu_s(pid: int) -> float:
    """Return the user and system time of a process and its ended children, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


@contextmanager
def terminal(command: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> Iterator[Terminal]:
    """Run `command` in a terminal. It is killed at the end."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(command[0], list(command), dict(env))
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    attributes = termios.tcgetattr(fd)
    attributes[3] &= ~termios.ECHO  # only the program shows typed text
    termios.tcsetattr(fd, termios.TCSANOW, attributes)
    program = Terminal(pid, fd)
    try:
        yield program
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        program.read_to_end()
        os.close(fd)
