"""A server's process, started in its own process group and terminated with all its child processes."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from kimi_tui.base.message_text import msg
from kimi_tui.base.shielding import run_shielded
from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.process_reaper import ProcessReaper
from kimi_tui.mcp.server_config import StdioServer
from kimi_tui.mcp.server_log import ServerLog

_READ_BYTES = 256 * 1024
_MAX_LINE_BYTES = 64 * 1024
_GRACE_S = 1.0
"""Maximum time to exit after the process's input is closed, and again after SIGTERM."""
_POLL_S = 0.01
_INHERITED = frozenset(
    {
        "HOME", "LANG", "LANGUAGE", "LOGNAME", "NODE_EXTRA_CA_CERTS", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
        "USER", "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR",
        "SSL_CERT_FILE", "CURL_CA_BUNDLE",
    }
)  # fmt: skip
_INHERITED_PREFIXES = ("LC_", "NPM_CONFIG_", "NVM_", "PIP_", "UV_", "XDG_")
"""Prefixes of inherited variables. Servers can start and reach the network with them, but see no API keys."""


def server_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the part of `environ` that every server inherits."""
    return {
        name: value
        for name, value in environ.items()
        if name.upper() in _INHERITED or name.upper().startswith(_INHERITED_PREFIXES)
    }


@asynccontextmanager
async def run_server_process(
    server: StdioServer, *, work_dir: Path, log: ServerLog, reaper: ProcessReaper
) -> AsyncIterator[Process]:
    """Run the process with pipes for stdin and stdout. Its stderr goes to `log`.

    On exit, close the process's input and terminate its process group. Raises McpServerError if the process
    can't be started.
    """
    process = await _start_process(server, work_dir)
    await reaper.watch(process.pid)
    log_task = asyncio.ensure_future(_log_stderr(process, log))
    try:
        yield process
    finally:
        await run_shielded(_stop_process(process, log_task, reaper))


async def _start_process(server: StdioServer, work_dir: Path) -> Process:
    folder = server.cwd or work_dir
    start_task = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            server.command, *server.args, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=folder, limit=_READ_BYTES,
            env={**server_environment(), **server.env}, start_new_session=True,
        )
    )  # fmt: skip
    try:
        return await asyncio.shield(start_task)
    except asyncio.CancelledError:
        with suppress(OSError, ValueError):
            _signal_group((await start_task).pid, signal.SIGKILL)
        raise
    except (OSError, ValueError) as error:
        raise _to_start_error(server, folder, error) from error


def _to_start_error(server: StdioServer, folder: Path, error: OSError | ValueError) -> McpServerError:
    if not folder.is_dir():
        return McpServerError(
            msg("The directory {path} doesn't exist.", path=folder),
            hint="Correct the server's cwd.",
            persistence="permanent",
        )
    if isinstance(error, FileNotFoundError):
        return McpServerError(
            f"Can't find the program {server.command}.",
            hint="Install it, or use its full path.",
            persistence="permanent",
        )
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return McpServerError(
        msg("Can't start {command}: {reason}.", command=server.command, reason=reason),
        hint="Correct the server's command.",
        persistence="permanent",
    )


async def _log_stderr(process: Process, log: ServerLog) -> None:
    assert process.stderr is not None
    rest = b""
    while data := await process.stderr.read(_READ_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            log.log(line.decode("utf-8", "replace"))
        rest = rest[:_MAX_LINE_BYTES]
    if rest:
        log.log(rest.decode("utf-8", "replace"))


async def _stop_process(process: Process, log_task: asyncio.Future[None], reaper: ProcessReaper) -> None:
    if process.stdin is not None:
        process.stdin.close()
    if not await _wait_for_exit(_GRACE_S, process.pid):
        _signal_group(process.pid, signal.SIGTERM)
        if not await _wait_for_exit(_GRACE_S, process.pid):
            _signal_group(process.pid, signal.SIGKILL)
            await _wait_for_exit(_GRACE_S, process.pid)
    reaper.unwatch(process.pid)
    await asyncio.wait([log_task], timeout=_POLL_S)
    log_task.cancel()
    transport = getattr(process, "_transport", None)
    if transport is not None:  # a pipe inherited by another process would keep it open and warn on exit
        transport.close()


async def _wait_for_exit(timeout_s: float, group: int) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            while _is_group_alive(group):  # noqa: ASYNC110 - there is no event for the end of a group
                await asyncio.sleep(_POLL_S)
    return not _is_group_alive(group)


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _is_group_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
