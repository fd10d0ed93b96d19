"""A hook's command: run in a shell and a process group of its own, told its event on stdin."""

import asyncio
import os
import shutil
import signal
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from kimi_tui.base.child_environment import Environment, whole_environment
from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.value import value

_Stream = IO[bytes] | int

_TERM_GRACE_S = 0.2
"""How long a command may take to end after it was told to."""
_LOOK_S = 0.5
_MOST_OUTPUT = 4 * 1024 * 1024
"""Bytes on disk after which a command is ended."""
_READ_BYTES = 256 * 1024
_SYNTAX_ERROR = 2
"""What bash ends with when a command makes no sense."""


class HookFailed(Exception):
    """A hook came to no decision; the text says why."""


@value
class Ended:
    """How a command ended."""

    status: int
    output: str
    errors: str


async def run_command(
    command: str,
    told: str,
    *,
    work_dir: Path,
    timeout_s: float,
    environment: Environment = whole_environment,
) -> Ended:
    """Run `command` with `told` on its stdin. Late or cancelled, all that it started is ended.

    Its output goes through files: children that it leaves behind can't keep it from ending, and a command
    that doesn't read what it is told is none the worse. Raises HookFailed.
    """
    try:
        with (
            tempfile.TemporaryFile() as stdin,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            stdin.write(told.encode("utf-8", "replace"))
            stdin.seek(0)
            process = await _started(("-c", command), stdin, out, err, work_dir, environment())
            try:
                status = await _status(process, (out, err), timeout_s)
            except BaseException:
                await _end(process)
                raise
            if status == _SYNTAX_ERROR and not await _is_readable(command, work_dir):
                raise HookFailed(f"the shell can't read it: {_beginning(err).strip()}")
            return Ended(status, _beginning(out), _beginning(err))
    except (OSError, ValueError) as error:
        raise HookFailed(f"it could not be run: {reason_of(error)}") from error


async def _is_readable(command: str, work_dir: Path) -> bool:
    """Whether the shell understands `command` at all: when it doesn't, it ends as one that blocks."""
    bare = {"PATH": os.environ.get("PATH", os.defpath)}
    process = await _started(("-n", "-c", command), DEVNULL, DEVNULL, DEVNULL, work_dir, bare)
    return await process.wait() == 0


async def _started(
    arguments: tuple[str, ...],
    stdin: _Stream,
    out: _Stream,
    err: _Stream,
    work_dir: Path,
    environment: Mapping[str, str],
) -> Process:
    shell = shutil.which("bash") or shutil.which("sh") if os.name == "posix" else None
    if shell is None:
        raise HookFailed("there is neither bash nor sh here")
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            shell,
            *arguments,
            stdin=stdin,
            stdout=out,
            stderr=err,
            cwd=work_dir,
            env=environment,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(OSError, ValueError):
            await _end(await starting)
        raise


async def _status(process: Process, outputs: tuple[IO[bytes], ...], timeout_s: float) -> int:
    """How `process` ended. Raises HookFailed when it took too long or said too much."""
    waiting = asyncio.ensure_future(process.wait())
    deadline = asyncio.get_running_loop().time() + timeout_s
    try:
        while True:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                raise HookFailed(f"it took longer than {timeout_s:g} s")
            done, _ = await asyncio.wait([waiting], timeout=min(left, _LOOK_S))
            if done:
                return waiting.result()
            if any(os.fstat(each.fileno()).st_size > _MOST_OUTPUT for each in outputs):
                raise HookFailed("it printed too much")
    finally:
        waiting.cancel()


async def _end(process: Process) -> None:
    """End the whole group: first politely, then surely."""
    _signal(process.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(_TERM_GRACE_S):
            await process.wait()
    except TimeoutError:
        pass
    finally:
        _signal(process.pid, signal.SIGKILL)
    await process.wait()


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _beginning(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read(_READ_BYTES).decode("utf-8", "replace")
