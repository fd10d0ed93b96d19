"""A server's process: started in a group of its own, ended together with all that it started."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from kimi_tui.base.completion import carry_out
from kimi_tui.tools.mcp.leash import Leash
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.server_config import StdioServer
from kimi_tui.tools.mcp.server_log import ServerLog

_READ = 256 * 1024
_LONGEST_WORD = 64 * 1024
_GRACE_S = 1.0
"""How long it may take to end once its input has, and again once it was told to."""
_POLL_S = 0.01
_INHERITED = frozenset(
    {
        "HOME", "LANG", "LANGUAGE", "LOGNAME", "NODE_EXTRA_CA_CERTS", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
        "USER", "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR",
        "SSL_CERT_FILE", "CURL_CA_BUNDLE",
    }
)  # fmt: skip
_INHERITED_BEGINNINGS = ("LC_", "NPM_CONFIG_", "NVM_", "PIP_", "UV_", "XDG_")
"""What a server sees of the environment: enough to start and to reach the network, no keys."""


def server_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The part of `environ` that every server sees."""
    return {
        name: value
        for name, value in environ.items()
        if name.upper() in _INHERITED or name.upper().startswith(_INHERITED_BEGINNINGS)
    }


@asynccontextmanager
async def server_process(
    server: StdioServer, *, work_dir: Path, log: ServerLog, leash: Leash
) -> AsyncIterator[Process]:
    """The process with pipes for input and output; what it says on stderr goes to `log`.

    Raises McpProblem when it can't be started. At the end its input is closed, then its group is ended.
    """
    process = await _started(server, work_dir)
    await leash.hold(process.pid)
    listening = asyncio.ensure_future(_listen(process, log))
    try:
        yield process
    finally:
        await carry_out(_end(process, listening, leash))


async def _started(server: StdioServer, work_dir: Path) -> Process:
    folder = server.cwd or work_dir
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            server.command, *server.args, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=folder, limit=_READ,
            env={**server_environment(), **server.env}, start_new_session=True,
        )
    )  # fmt: skip
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(OSError, ValueError):
            _signal((await starting).pid, signal.SIGKILL)
        raise
    except (OSError, ValueError) as error:
        raise _unstartable(server, folder, error) from error


def _unstartable(server: StdioServer, folder: Path, error: OSError | ValueError) -> McpProblem:
    if not folder.is_dir():
        return McpProblem(f"Its folder {folder} is not there.", hint="Mend its cwd.", persistence="lasting")
    if isinstance(error, FileNotFoundError):
        return McpProblem(
            f"The program {server.command} is not there.",
            hint="Install it, or write its whole path.",
            persistence="lasting",
        )
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return McpProblem(
        f"{server.command} can't be started: {why}.", hint="Mend its command.", persistence="lasting"
    )


async def _listen(process: Process, log: ServerLog) -> None:
    assert process.stderr is not None
    waiting = b""
    while data := await process.stderr.read(_READ):
        *lines, waiting = (waiting + data).split(b"\n")
        for line in lines:
            log.take(line.decode("utf-8", "replace"))
        waiting = waiting[:_LONGEST_WORD]
    if waiting:
        log.take(waiting.decode("utf-8", "replace"))


async def _end(process: Process, listening: asyncio.Future[None], leash: Leash) -> None:
    if process.stdin is not None:
        process.stdin.close()
    if not await _ended_within(_GRACE_S, process.pid):
        _signal(process.pid, signal.SIGTERM)
        if not await _ended_within(_GRACE_S, process.pid):
            _signal(process.pid, signal.SIGKILL)
            await _ended_within(_GRACE_S, process.pid)
    leash.release(process.pid)
    await asyncio.wait([listening], timeout=_POLL_S)
    listening.cancel()
    transport = getattr(process, "_transport", None)
    if transport is not None:  # else a pipe that somebody else holds keeps it open, and warns at its end
        transport.close()


async def _ended_within(seconds: float, group: int) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while _is_alive(group):  # noqa: ASYNC110 - a group's end is no event
                await asyncio.sleep(_POLL_S)
    return not _is_alive(group)


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
