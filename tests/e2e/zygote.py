"""A process that has imported the program and forks on demand: a run takes a fifth of the usual time.

The zygote is a separate process, without threads and without the test runner. A request arrives over a
socket: its length as eight bytes, along with the file descriptors of the three standard streams and a socket
for the reply, then JSON. The reply consists of lines: the child's pid, and its exit status when it exits.
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

from tests.e2e.forked import fork_main, prepare

_PIPES = (subprocess.PIPE, subprocess.DEVNULL)


class ForkedProcess:
    """A run of the program, with the part of the `subprocess.Popen` interface that the tests use.

    If `leads_session` is true, standard input becomes its controlling terminal.
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
        child_fds: list[int] = []
        own_streams: list[IO[bytes] | None] = []
        for option, mode in ((stdin, "wb"), (stdout, "rb"), (stderr, "rb")):
            child_fd, own_stream = _stream(option, mode, bufsize)
            child_fds.append(child_fd)
            own_streams.append(own_stream)
        self.stdin, self.stdout, self.stderr = own_streams
        self.returncode: int | None = None
        self._replies, reply_socket = socket.socketpair()
        with reply_socket:
            request = {
                "arguments": list(arguments),
                "cwd": str(cwd),
                "env": dict(env),
                "umask": umask,
                "leads_session": leads_session,
            }
            _send(_zygote()[0], json.dumps(request).encode(), [*child_fds, reply_socket.fileno()])
        for fd, option in zip(child_fds, (stdin, stdout, stderr), strict=True):
            if option in _PIPES:
                os.close(fd)
        self._lines = self._replies.makefile("rb")
        self.pid = int(self._lines.readline())

    def poll(self) -> int | None:
        """Return the exit status, or None while the process runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status, or the negated signal number. Raises TimeoutExpired."""
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._replies, selectors.EVENT_READ)
                if not selector.select(timeout):
                    raise subprocess.TimeoutExpired("kimi-tui", timeout or 0)
            self.returncode = int(self._lines.readline())
            self._lines.close()
            self._replies.close()
        return self.returncode

    def communicate(self, data: bytes | None = None, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Write `data` to standard input and wait for the exit. Return standard output and standard error."""
        read: dict[str, bytes] = {}
        threads = [
            threading.Thread(target=lambda: self._feed(data)),
            threading.Thread(target=lambda: read.update(out=_drain(self.stdout))),
            threading.Thread(target=lambda: read.update(err=_drain(self.stderr))),
        ]
        for thread in threads:
            thread.start()
        try:
            self.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        finally:
            for thread in threads:
                thread.join(timeout)
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


def _stream(option: int | IO[Any], mode: str, bufsize: int) -> tuple[int, IO[bytes] | None]:
    """Return the child's file descriptor for a standard stream, and our end if it is a pipe."""
    if option == subprocess.DEVNULL:
        return os.open(os.devnull, os.O_RDWR), None
    if option == subprocess.PIPE:
        read, write = os.pipe()
        if mode == "wb":
            return read, os.fdopen(write, mode, bufsize)
        return write, os.fdopen(read, mode, bufsize)
    return (option if isinstance(option, int) else option.fileno()), None


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
    """Return the zygote of this process, started on first use. It exits when the socket is closed."""
    own_end, zygote_end = socket.socketpair()
    with zygote_end:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.zygote"],
            cwd=Path(__file__).parents[2],
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
            stdin=zygote_end,
            stdout=subprocess.DEVNULL,
        )
    return own_end, process


class _Zygote:
    """Forks on request and reports exit statuses until the socket is closed."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._children: dict[int, socket.socket] = {}
        self._wake, self._waker = socket.socketpair()

    def serve(self) -> None:
        self._wake.setblocking(False)
        self._waker.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        selector = selectors.DefaultSelector()
        selector.register(self._requests, selectors.EVENT_READ)
        selector.register(self._wake, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is self._wake:
                    with suppress(BlockingIOError):
                        self._wake.recv(4096)
                elif not self._fork_one():
                    return
            self._reap_children()

    def _fork_one(self) -> bool:
        size, fds, _, _ = socket.recv_fds(self._requests, 8, 4)
        if not size:
            return False
        data = b""
        while len(data) < int.from_bytes(size):
            chunk = self._requests.recv(1 << 20)
            if not chunk:  # the test runner was killed while it sent the request
                return False
            data += chunk
        reply_socket = socket.socket(fileno=fds.pop())
        pid = os.fork()
        if not pid:
            self._run_as_child(fds, json.loads(data))
        for fd in fds:
            os.close(fd)
        self._children[pid] = reply_socket
        reply_socket.sendall(b"%d\n" % pid)
        return True

    def _run_as_child(self, fds: Sequence[int], request: dict[str, Any]) -> None:
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
            fork_main(request["arguments"], request["env"])()
        finally:
            os._exit(70)

    def _reap_children(self) -> None:
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with suppress(OSError), self._children.pop(pid) as reply_socket:
                reply_socket.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def main() -> None:
    """Serve requests on the socket that is standard input."""
    requests = socket.socket(fileno=os.dup(0))
    prepare()
    if threading.active_count() > 1:
        raise SystemExit("can't fork a process that has threads")
    _Zygote(requests).serve()


if __name__ == "__main__":
    main()
