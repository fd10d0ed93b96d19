"""Runner for hook commands. Each runs in a shell and its own process group, with the event on stdin."""

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

from kimi_tui.base.child_environment import ChildEnvironment
from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.frozen import frozen

_Stream = IO[bytes] | int

_TERM_GRACE_S = 0.2
"""How long a command may take to exit after SIGTERM."""
_POLL_S = 0.5
_MAX_OUTPUT_BYTES = 4 * 1024 * 1024
"""Bytes of output on disk after which a command is terminated."""
_READ_BYTES = 256 * 1024
_SYNTAX_ERROR = 2
"""Exit status of bash for a syntax error."""


class HookError(Exception):
    """Raised if a hook makes no decision; the message gives the reason."""


@frozen
class CommandExit:
    """Exit status and output of a command."""

    status: int
    output: str
    errors: str


async def run_command(
    command: str,
    payload: str,
    *,
    work_dir: Path,
    timeout_s: float,
    environment: ChildEnvironment = ChildEnvironment(),
) -> CommandExit:
    """Run `command` with `payload` on its stdin; terminate its process group on a timeout or cancellation.

    Its output goes to files, so child processes it leaves behind can't delay its exit, and a command that
    doesn't read its input isn't affected. Raises HookError.
    """
    try:
        with (
            tempfile.TemporaryFile() as stdin,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            stdin.write(payload.encode("utf-8", "replace"))
            stdin.seek(0)
            process = await _start_shell(("-c", command), stdin, out, err, work_dir, environment.variables())
            try:
                status = await _wait_for_exit(process, (out, err), timeout_s)
            except BaseException:
                await _terminate(process)
                raise
            if status == _SYNTAX_ERROR and not await _is_valid_syntax(command, work_dir):
                raise HookError(f"invalid shell syntax: {_read_output(err).strip()}")
            return CommandExit(status, _read_output(out), _read_output(err))
    except (OSError, ValueError) as error:
        raise HookError(f"can't run it: {reason_of(error)}") from error


async def _is_valid_syntax(command: str, work_dir: Path) -> bool:
    """Return whether the shell can parse `command`. A syntax error exits with the same status as a block."""
    bare = {"PATH": os.environ.get("PATH", os.defpath)}
    process = await _start_shell(("-n", "-c", command), DEVNULL, DEVNULL, DEVNULL, work_dir, bare)
    return await process.wait() == 0


async def _start_shell(
    arguments: tuple[str, ...],
    stdin: _Stream,
    out: _Stream,
    err: _Stream,
    work_dir: Path,
    environment: Mapping[str, str],
) -> Process:
    shell = shutil.which("bash") or shutil.which("sh") if os.name == "posix" else None
    if shell is None:
        raise HookError("neither bash nor sh is installed")
    start_task = asyncio.ensure_future(
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
        return await asyncio.shield(start_task)
    except asyncio.CancelledError:
        with suppress(OSError, ValueError):
            await _terminate(await start_task)
        raise


async def _wait_for_exit(process: Process, outputs: tuple[IO[bytes], ...], timeout_s: float) -> int:
    """Return the exit status of `process`. Raises HookError on a timeout or too much output."""
    exit_task = asyncio.ensure_future(process.wait())
    deadline = asyncio.get_running_loop().time() + timeout_s
    try:
        while True:
            remaining_s = deadline - asyncio.get_running_loop().time()
            if remaining_s <= 0:
                raise HookError(f"timed out after {timeout_s:g} s")
            done, _ = await asyncio.wait([exit_task], timeout=min(remaining_s, _POLL_S))
            if done:
                return exit_task.result()
            if any(os.fstat(each.fileno()).st_size > _MAX_OUTPUT_BYTES for each in outputs):
                raise HookError("too much output")
    finally:
        exit_task.cancel()


async def _terminate(process: Process) -> None:
    """Terminate the process group: SIGTERM first, then SIGKILL."""
    _signal_group(process.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(_TERM_GRACE_S):
            await process.wait()
    except TimeoutError:
        pass
    finally:
        _signal_group(process.pid, signal.SIGKILL)
    await process.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _read_output(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read(_READ_BYTES).decode("utf-8", "replace")
