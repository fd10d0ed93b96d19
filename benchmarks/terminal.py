"""A program in a pseudo-terminal of 120x40, measured from outside."""

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
RARE = [chr(code) for code in range(0x0100, 0x0180) if chr(code).isalpha()]
"""Letters that no text of the benchmarks has: one of them on the screen is a key that was typed."""
PATIENCE_S = 120.0
SLOWEST_ECHO_S = 5.0
"""After which a key counts as not answered."""


class Echo(NamedTuple):
    """How long a key took to its letter on the screen."""

    wall_s: float
    worked_s: float
    """What the program worked meanwhile: the wait on a machine where nothing else runs."""


class Terminal:
    """One running program. A thread reads what it writes, so that it never waits for us."""

    def __init__(self, pid: int, fd: int) -> None:
        self.pid = pid
        self._fd = fd
        self._seen = bytearray()
        self._news = threading.Condition()
        self._ended = False
        self._rare = iter(RARE)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def until(self, text: str, *, start: int = 0, seconds: float = PATIENCE_S) -> int:
        """Wait until `text` was written after byte `start`; the place behind it. Raises TimeoutError."""
        wanted = text.encode()
        deadline = time.monotonic() + seconds
        searched = start
        with self._news:
            while (found := self._seen.find(wanted, searched)) < 0:
                searched = max(start, len(self._seen) - len(wanted))
                if self._ended or not self._news.wait(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError(
                        f"{text!r} never showed; the last that did: {bytes(self._seen[-600:])!r}"
                    )
            return found + len(wanted)

    def type(self, text: str) -> None:
        """Type `text`."""
        os.write(self._fd, text.encode())

    def type_until_shown(self) -> None:
        """Type a letter again and again until the program answers: it may not be up yet."""
        letter = next(self._rare)
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            self.type(letter)
            try:
                self.until(letter, seconds=0.02)
            except TimeoutError:
                if self._ended:
                    raise
                continue
            return
        raise TimeoutError("no key was answered")

    def echo_s(self) -> float:
        """Seconds from a key to its letter on the screen. Raises TimeoutError after SLOWEST_ECHO_S."""
        return self.echo().wall_s

    def echo(self) -> Echo:
        """Type a letter and wait until it shows; it is deleted again.

        Raises TimeoutError after SLOWEST_ECHO_S.
        """
        letter = next(self._rare, None)
        if letter is None:
            self._rare = iter(RARE)
            letter = next(self._rare)
        start, worked, began = self.written, self.run_s(), time.perf_counter()
        self.type(letter)
        self.until(letter, start=start, seconds=SLOWEST_ECHO_S)
        took = Echo(time.perf_counter() - began, self.run_s() - worked)
        self.type("\x7f")
        return took

    def rest(self, quiet_s: float = 0.6) -> None:
        """Wait until it writes nothing and works on nothing any more."""
        deadline = time.monotonic() + PATIENCE_S
        last, since = (self.written, self.cpu_s()), time.monotonic()
        while time.monotonic() < deadline:
            time.sleep(0.05)
            if (now := (self.written, self.cpu_s())) != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > quiet_s:
                return

    @property
    def written(self) -> int:
        """Bytes that the program wrote so far."""
        return len(self._seen)

    def cpu_s(self) -> float:
        """User and system seconds of the program and of its children that ended."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / _TICKS

    def run_s(self) -> float:
        """Seconds that its threads had a core so far, to the nanosecond."""
        ran = 0
        for thread in Path(f"/proc/{self.pid}/task").iterdir():
            with suppress(OSError):  # it has ended meanwhile
                ran += int((thread / "schedstat").read_text().split()[0])
        return ran / 1e9

    def memory_mb(self) -> float:
        """The memory that is its own: resident without the pages of shared files."""
        for line in Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Rss:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError("smaps_rollup names no Rss")

    def read_to_the_end(self) -> None:
        """Wait until nothing can come any more; only then may the descriptor be closed and used again."""
        self._reader.join()

    def _read(self) -> None:
        while True:
            try:
                select.select([self._fd], [], [])
                data = os.read(self._fd, 1 << 16)
            except (OSError, ValueError):
                data = b""
            with self._news:
                self._seen += data
                self._ended = not data
                self._news.notify_all()
            if not data:
                return


@contextmanager
def terminal(command: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> Iterator[Terminal]:
    """Run `command`; it is killed at the end."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(command[0], list(command), dict(env))
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    attributes = termios.tcgetattr(fd)
    attributes[3] &= ~termios.ECHO  # only the program shows what is typed
    termios.tcsetattr(fd, termios.TCSANOW, attributes)
    program = Terminal(pid, fd)
    try:
        yield program
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        program.read_to_the_end()
        os.close(fd)
