"""A process that has imported the program and forks it on demand: a run costs a fifth of a start.

The zygote is a process of its own, without threads and without the test runner. A request comes over a
socket: its length as eight bytes, along with the three standard streams and a socket to answer on, then JSON.
The answers are lines: the child's pid, and when it has ended its exit status.
"""

import fcntl
import functools
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from tests.e2e.forked import in_fork, prepare

_PIPES = (subprocess.PIPE, subprocess.DEVNULL)


class Offspring:
    """A run of the program, with what is used of `subprocess.Popen`.

    One that `leads_session` has standard input for its controlling terminal.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: int | IO[Any],
        stdout: int | IO[Any],
        stderr: int | IO[Any],
        bufsize: int = -1,
        umask: int = 0o022,
        leads_session: bool = False,
    ) -> None:
        theirs: list[int] = []
        ours: list[IO[bytes] | None] = []
        for wanted, mode in ((stdin, "wb"), (stdout, "rb"), (stderr, "rb")):
            fd, end = _stream(wanted, mode, bufsize)
            theirs.append(fd)
            ours.append(end)
        self.stdin, self.stdout, self.stderr = ours
        self.returncode: int | None = None
        self._answers, answering = socket.socketpair()
        with answering:
            request = {
                "arguments": list(arguments),
                "cwd": str(cwd),
                "env": dict(env),
                "umask": umask,
                "leads_session": leads_session,
            }
            _send(_zygote()[0], json.dumps(request).encode(), [*theirs, answering.fileno()])
        for fd, wanted in zip(theirs, (stdin, stdout, stderr), strict=True):
            if wanted in _PIPES:
                os.close(fd)
        self._lines = self._answers.makefile("rb")
        self.pid = int(self._lines.readline())

    def poll(self) -> int | None:
        """Its exit status when it has ended."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status; the negated signal when one ended it. Raises TimeoutExpired."""
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._answers, selectors.EVENT_READ)
                if not selector.select(timeout):
                    raise subprocess.TimeoutExpired("kimi-tui", timeout or 0)
            self.returncode = int(self._lines.readline())
            self._lines.close()
            self._answers.close()
        return self.returncode

    def communicate(self, data: bytes | None = None, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Give it `data`, and wait for its end and for all that it said."""
        read: dict[str, bytes] = {}
        helpers = [
            threading.Thread(target=lambda: self._feed(data)),
            threading.Thread(target=lambda: read.update(out=_drain(self.stdout))),
            threading.Thread(target=lambda: read.update(err=_drain(self.stderr))),
        ]
        for helper in helpers:
            helper.start()
        try:
            self.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        finally:
            for helper in helpers:
                helper.join(timeout)
        return read["out"], read["err"]

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self._feed(None)
        self.wait()

    def _feed(self, data: bytes | None) -> None:
        if self.stdin is not None and not self.stdin.closed:
            with suppress(BrokenPipeError), self.stdin:
                self.stdin.write(data or b"")


def _stream(wanted: int | IO[Any], mode: str, bufsize: int) -> tuple[int, IO[bytes] | None]:
    """The child's end of a standard stream, and ours when it is a pipe."""
    if wanted == subprocess.DEVNULL:
        return os.open(os.devnull, os.O_RDWR), None
    if wanted == subprocess.PIPE:
        read, write = os.pipe()
        if mode == "wb":
            return read, os.fdopen(write, mode, bufsize)
        return write, os.fdopen(read, mode, bufsize)
    return (wanted if isinstance(wanted, int) else wanted.fileno()), None


def _drain(stream: IO[bytes] | None) -> bytes:
    if stream is None or stream.closed:
        return b""
    with stream:
        return stream.read()


def _send(to: socket.socket, data: bytes, fds: Sequence[int]) -> None:
    socket.send_fds(to, [len(data).to_bytes(8)], fds)
    to.sendall(data)


@functools.cache
def _zygote() -> "tuple[socket.socket, subprocess.Popen[bytes]]":
    """The zygote of this process, started when it is first needed; it ends when the socket is closed."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.zygote"],
            cwd=Path(__file__).parents[2],
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
            stdin=theirs,
            stdout=subprocess.DEVNULL,
        )
    return ours, process


class _Zygote:
    """Forks on request and tells how its children ended, until nobody asks any more."""

    def __init__(self, asked: socket.socket) -> None:
        self._asked = asked
        self._children: dict[int, socket.socket] = {}
        self._woken, self._waker = socket.socketpair()

    def serve(self) -> None:
        self._woken.setblocking(False)
        self._waker.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        selector = selectors.DefaultSelector()
        selector.register(self._asked, selectors.EVENT_READ)
        selector.register(self._woken, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is self._woken:
                    with suppress(BlockingIOError):
                        self._woken.recv(4096)
                elif not self._fork_one():
                    return
            self._bury()

    def _fork_one(self) -> bool:
        size, fds, _, _ = socket.recv_fds(self._asked, 8, 4)
        if not size:
            return False
        data = b""
        while len(data) < int.from_bytes(size):
            data += self._asked.recv(1 << 20)
        answering = socket.socket(fileno=fds.pop())
        pid = os.fork()
        if not pid:
            self._become(fds, json.loads(data))
        for fd in fds:
            os.close(fd)
        self._children[pid] = answering
        answering.sendall(b"%d\n" % pid)
        return True

    def _become(self, fds: Sequence[int], request: dict[str, Any]) -> None:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number, fd in enumerate(fds):
                os.dup2(fd, number)
            if request["leads_session"]:
                os.setsid()
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            os.chdir(request["cwd"])
            os.umask(request["umask"])
            in_fork(request["arguments"], request["env"])()
        finally:
            os._exit(70)

    def _bury(self) -> None:
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with suppress(OSError), self._children.pop(pid) as answering:
                answering.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def main() -> None:
    """Serve the socket that standard input is."""
    asked = socket.socket(fileno=os.dup(0))
    prepare()
    if threading.active_count() > 1:
        raise SystemExit("a process with threads is not to be forked")
    _Zygote(asked).serve()


if __name__ == "__main__":
    main()
