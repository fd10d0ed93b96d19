"""The app as a client of the resident engine, which is started if it isn't running."""

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from kimi_tui.agentspec.spec import KIMI_CLI_AGENT
from kimi_tui.base.errors import EngineLost, KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.cli.bootstrap import EngineSetup
from kimi_tui.cli.resident_options import ClientTraits, to_engine_options
from kimi_tui.resident.connection import EngineNotRunning, send_hello
from kimi_tui.resident.frames import Hello
from kimi_tui.resident.remote_engine import LocalEditor, RemoteEngine
from kimi_tui.resident.serve import is_engine_locked
from kimi_tui.version import __version__
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.running_session import RunningSession

_START_TIMEOUT_S = 20.0
_POLL_S = 0.05
_MAX_STARTS = 3


async def list_hosted_sessions(data_dir: Path) -> tuple[RunningSession, ...]:
    """Return the sessions of the engine. Raises EngineNotRunning and KimiTuiError."""
    return (await send_hello(data_dir, Hello(version=__version__, request="list"))).sessions


async def serve_resident(
    setup: EngineSetup, wire: Wire, *, is_viewer: bool = False, restarts: bool = False
) -> None:
    """Serve `wire` by the resident engine, which opens the session if it isn't open.

    `restarts`: whether a session continues here after the engine was killed. Raises KimiTuiError.
    """
    await ensure_engine(setup.paths.data_dir)
    await _remote_engine(setup, is_viewer=is_viewer, restarts=restarts).serve(wire)


async def serve_in_use(setup: EngineSetup, wire: Wire, session_id: str) -> bool:
    """Serve `wire` by the resident engine if that has the session open. Return whether it has."""
    if not await _is_hosted(setup.paths.data_dir, session_id):
        return False
    cli_options = replace(setup.cli_options, session=session_id, continue_last=False)
    await _remote_engine(replace(setup, cli_options=cli_options)).serve(wire)
    return True


async def serve_in_running_engine(
    setup: EngineSetup, wire: Wire, traits: ClientTraits, *, editor: LocalEditor | None = None
) -> bool:
    """Serve `wire` by the resident engine if it is running. Return whether it is.

    Sessions for clients of Kimi CLI, and those that are saved as a bundle at the end, run in this process.
    Raises KimiTuiError.
    """
    cli_options = setup.cli_options
    runs_here = cli_options.agent == KIMI_CLI_AGENT or cli_options.bundle is not None
    if runs_here or cli_options.resident is False or not await _is_engine_running(setup.paths.data_dir):
        return False
    await RemoteEngine(
        data_dir=setup.paths.data_dir,
        version=__version__,
        options=to_engine_options(cli_options, setup.paths, traits),
        editor=editor,
        restarter=_EngineRestarter(setup, traits),
    ).serve(wire)
    return True


@frozen
class _EngineRestarter:
    """Starts the engine again for a client whose session it ran."""

    setup: EngineSetup
    traits: ClientTraits

    async def restart(self) -> None:
        """Start the engine unless it is running. Raises KimiTuiError."""
        await ensure_engine(self.setup.paths.data_dir)

    def options_for(self, session_id: str) -> dict[str, Any]:
        """Return the options that open a session again."""
        cli_options = replace(self.setup.cli_options, session=session_id, continue_last=False, fork=False)
        return to_engine_options(cli_options, self.setup.paths, self.traits)


async def _is_hosted(data_dir: Path, session_id: str) -> bool:
    try:
        return any(session.id == session_id for session in await list_hosted_sessions(data_dir))
    except KimiTuiError:
        return False


def _remote_engine(setup: EngineSetup, *, is_viewer: bool = False, restarts: bool = False) -> RemoteEngine:
    return RemoteEngine(
        data_dir=setup.paths.data_dir,
        version=__version__,
        options=to_engine_options(setup.cli_options, setup.paths),
        is_viewer=is_viewer,
        restarter=_EngineRestarter(setup, ClientTraits()) if restarts else None,
    )


async def ensure_engine(data_dir: Path) -> None:
    """Start the resident engine in the background unless it is running. Raises KimiTuiError."""
    try:
        async with asyncio.timeout(_START_TIMEOUT_S):
            await _start_until_running(data_dir)
    except TimeoutError:
        raise _start_error() from None


async def _start_until_running(data_dir: Path) -> None:
    """Start engines until one answers: an earlier one may be about to end. Raises KimiTuiError."""
    process: subprocess.Popen[bytes] | None = None
    starts = 0
    while True:
        has_ended = process is None or process.poll() is not None
        if await _is_engine_running(data_dir):
            return
        if has_ended and not is_engine_locked(data_dir):
            if starts == _MAX_STARTS:
                raise _start_error()
            process, starts = _start_engine(data_dir), starts + 1
        await asyncio.sleep(_POLL_S)


def _start_engine(data_dir: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "kimi_tui", "serve"],
        cwd="/",
        env={**os.environ, "KIMI_SHARE_DIR": str(data_dir)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


async def _is_engine_running(data_dir: Path) -> bool:
    try:
        await send_hello(data_dir, Hello(version=__version__, request="prepare"))
    except (EngineNotRunning, EngineLost):  # the second one if it was killed just now
        return False
    return True


def _start_error() -> KimiTuiError:
    return KimiTuiError(
        msg("The resident engine couldn't be started."), hint="Run `kimi-tui serve` to see why."
    )


async def stop_engine(data_dir: Path) -> tuple[RunningSession, ...]:
    """Stop the engine, wait until it has ended, and return the sessions whose work it stopped.

    Raises EngineNotRunning and KimiTuiError.
    """
    welcome = await send_hello(data_dir, Hello(version=__version__, request="shutdown"))
    try:
        async with asyncio.timeout(_START_TIMEOUT_S):
            await _wait_for_end(data_dir)
    except TimeoutError:
        raise KimiTuiError(
            "The resident engine didn't end in time.", hint=msg("End process {pid}.", pid=welcome.pid)
        ) from None
    return welcome.sessions


async def _wait_for_end(data_dir: Path) -> None:
    while True:
        if not is_engine_locked(data_dir):
            return
        await asyncio.sleep(_POLL_S)
