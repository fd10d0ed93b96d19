"""Client of the supervisor: starts commands in views, each a process that this program can wait for."""

import asyncio
import json
import os
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from errno import EPIPE
from pathlib import Path
from signal import SIGKILL
from typing import Any, Literal

from kimi_tui.base.child_environment import helper_environment
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.workspaces.overlay import supervisor

Mode = Literal["root", "user"]
"""`root`: a mount namespace. `user`: a user namespace as well, which needs no privileges."""

_MAX_MESSAGE = 1 << 16
_CLOSE_TIMEOUT_S = 2.0
_POLL_S = 0.002


class ViewUnavailable(Exception):
    """A view can't be created; the message is the system's reason."""


@frozen(kw_only=True)
class View:
    """One directory with its layer. All paths are absolute and without links."""

    root: str
    upper: str
    work: str
    prepared: str = ""
    """Directory with a layer between the two; empty without one."""


@frozen(kw_only=True)
class ViewSpec:
    """The views of a command."""

    views: tuple[View, ...]
    """Outer directories before inner ones."""
    options: str
    """Mount options."""
    hidden: tuple[str, ...] = ()
    """Directories that appear empty."""


@frozen(kw_only=True)
class Observation:
    """What to observe of a command."""

    is_offline: bool
    """Whether it gets a network namespace of its own, which connects to nothing."""
    watched: tuple[str, ...]
    """Files whose opening to report."""


@frozen(kw_only=True)
class CommandEnd:
    """Facts about a finished command."""

    n_remaining: int = 0
    """How many of its processes still run."""
    network: Mapping[str, int] = field(default_factory=dict[str, int])
    """Counters of its network namespace by their names in `/proc/net/snmp` and `/proc/net/snmp6`."""
    opened: tuple[int, ...] = ()
    """Indices of the watched files that were opened, or that couldn't be watched."""


class MountedView:
    """A namespace with mounted views, in which one command runs at a time. It is that `CommandProcess`."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._ended: asyncio.Future[int] = self._loop.create_future()
        self.pid = 0
        self.folder = ""
        """Where this process finds the root directory of the namespace, once the views are mounted."""
        self._loop.add_reader(channel, self._read_message)

    @property
    def has_ended(self) -> bool:
        """Whether the namespace no longer exists."""
        return self._ended.done()

    @property
    def returncode(self) -> int | None:
        """Implement `CommandProcess.returncode`."""
        return self._ended.result() if self._ended.done() else None

    async def wait(self) -> int:
        """Implement `CommandProcess.wait`."""
        return await asyncio.shield(self._ended)

    async def wait_for_mount(self) -> None:
        """Wait until the views are mounted. Raises ViewUnavailable."""
        answer = await self._answers.get()
        if "mounted" not in answer:
            raise ViewUnavailable(_to_error(answer).strerror)
        self.folder = f"/proc/{int(answer['pid'])}/root"

    async def start_process(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        output: int,
        observation: Observation | None = None,
    ) -> None:
        """Start the command; see `ProcessStarter.start_process`. Raises OSError, ValueError."""
        if any("\0" in text for text in (*argv, *environment, *environment.values())):
            raise ValueError("embedded null byte")
        observe = observation and {"offline": observation.is_offline, "watched": observation.watched}
        file = _open_request(
            {"argv": list(argv), "cwd": str(cwd), "environment": dict(environment), "observe": observe}
        )
        try:
            socket.send_fds(self._channel, [b'{"start": true}'], [file, output])
        finally:
            os.close(file)
        answer = await self._answers.get()
        if "pid" not in answer:
            raise _to_error(answer)
        self.pid = int(answer["pid"])

    async def find_end(self, grace_s: float) -> CommandEnd:
        """Return what the command has done, and what of it still runs after at most `grace_s` seconds."""
        try:
            self._channel.send(json.dumps({"finish": grace_s}).encode("ascii"))
        except OSError:
            return CommandEnd()
        answer = await self._answers.get()
        return CommandEnd(
            n_remaining=int(answer.get("remaining", 0)),
            network=answer.get("network", {}),
            opened=tuple(answer.get("opened", ())),
        )

    def close(self) -> None:
        """Kill what still runs, and end the view."""
        if self._channel.fileno() >= 0:
            self._loop.remove_reader(self._channel)
            self._channel.close()
        self._end()

    async def wait_for_unmount(self) -> None:
        """Wait up to two seconds until a closed view has ended. Then its layer can be mounted again."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                while os.path.lexists(self.folder):  # noqa: ASYNC110 - a process that isn't a child
                    await asyncio.sleep(_POLL_S)

    def _read_message(self) -> None:
        try:
            data = self._channel.recv(_MAX_MESSAGE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._channel)
            self._end()
            return
        message = json.loads(data)
        if "status" not in message:
            self._answers.put_nowait(message)
        elif not self._ended.done():
            self._ended.set_result(int(message["status"]))

    def _end(self) -> None:
        """Answer the requests that the supervisor no longer answers."""
        self._answers.put_nowait({})
        if not self._ended.done():
            self._ended.set_result(-SIGKILL)


class SupervisorClient:
    """The supervisor process of one session."""

    def __init__(self, mode: Mode) -> None:
        self.mode: Mode = mode
        self._process: Process | None = None
        self._socket: socket.socket | None = None

    @property
    def is_running(self) -> bool:
        """Whether commands can be started."""
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Start the supervisor. Raises ViewUnavailable if it can't create namespaces."""
        own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        own.setblocking(False)
        with other:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-I",
                    "-S",
                    str(Path(supervisor.__file__)),
                    str(other.fileno()),
                    self.mode,
                    env=helper_environment(),  # commands get theirs in requests
                    stdin=DEVNULL,
                    stdout=DEVNULL,
                    stderr=DEVNULL,
                    pass_fds=(other.fileno(),),
                    start_new_session=True,
                )
            except OSError as error:
                own.close()
                raise ViewUnavailable(error.strerror or str(error)) from error
            except BaseException:
                own.close()  # the supervisor ends when nobody is connected
                raise
        self._socket = own
        try:
            answer: dict[str, Any] = json.loads(
                await asyncio.get_running_loop().sock_recv(own, _MAX_MESSAGE) or b"{}"
            )
        except BaseException:
            await self.close()
            raise
        if "ready" not in answer:
            await self.close()
            raise ViewUnavailable(_to_error(answer).strerror)

    async def mount(self, spec: ViewSpec) -> MountedView:
        """Mount views in a namespace of their own. Raises ViewUnavailable."""
        if self._socket is None:
            raise ViewUnavailable("the supervisor isn't running")
        views = [
            {"root": view.root, "upper": view.upper, "work": view.work, "prepared": view.prepared}
            for view in spec.views
        ]
        file = _open_request({"views": views, "options": spec.options, "hidden": spec.hidden})
        try:
            own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            own.setblocking(False)
            mounted = MountedView(own)
            try:
                with other:
                    socket.send_fds(self._socket, [b"."], [file, other.fileno()])
                await mounted.wait_for_mount()
            except BaseException:
                mounted.close()
                raise
        except OSError as error:
            raise ViewUnavailable(error.strerror or str(error)) from error
        finally:
            os.close(file)
        return mounted

    async def close(self) -> None:
        """End the supervisor. Views whose channel is open end with their processes."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            try:
                async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                    await self._process.wait()
            except TimeoutError:
                with suppress(ProcessLookupError):
                    self._process.kill()
                await self._process.wait()


def _to_error(answer: Mapping[str, Any]) -> OSError:
    """Return the error in an answer of the supervisor; no answer means that it has ended."""
    if number := int(answer.get("error", 0)):
        return OSError(number, os.strerror(number))
    return OSError(EPIPE, msg("the process that runs commands in workspaces has ended"))


def _open_request(request: dict[str, Any]) -> int:
    """Return a file in memory with a request: it may be larger than a message."""
    file = os.memfd_create("request", os.MFD_CLOEXEC)
    with open(file, "wb", closefd=False) as stream:
        stream.write(json.dumps(request).encode("ascii"))
    return file
