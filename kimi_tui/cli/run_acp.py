"""ACP server on the process's stdin, stdout and signals, with one engine per session."""

import asyncio
import contextlib
import io
from dataclasses import dataclass, replace
from pathlib import Path

from kimi_tui.acp.server import run_acp_server
from kimi_tui.acp.session_registry import AcpSessionOptions
from kimi_tui.base.errors import KimiTuiError, ModelNotSet, UsageError
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.raw_input import RawInput
from kimi_tui.cli.bootstrap import EngineSetup, read_config_for, start_log
from kimi_tui.cli.option_conflicts import check_conflicts
from kimi_tui.cli.options import CliOptions
from kimi_tui.cli.resident_client import serve_in_running_engine
from kimi_tui.cli.resident_options import ClientTraits
from kimi_tui.cli.run_paths import RunPaths, current_dir, ensure_data_dir
from kimi_tui.cli.running_sessions import RunningSessions
from kimi_tui.cli.signals import stopping_signals
from kimi_tui.cli.stdio import process_stdio
from kimi_tui.config.loader import settings_of
from kimi_tui.engine.options import EngineOptions
from kimi_tui.history.session import SessionStore
from kimi_tui.resident.connection import EngineNotRunning
from kimi_tui.resident.editor_server import EditorServer
from kimi_tui.version import __version__
from kimi_tui.wire.channel import Wire


def run_acp_mode(cli_options: CliOptions) -> int:
    """Serve and return the exit code. Raises KimiTuiError."""
    check_conflicts(cli_options)
    factory = _EngineFactory(cli_options, ensure_data_dir())
    start_log(cli_options, factory.data_dir)
    with process_stdio("acp") as (stdin, stdout):
        return asyncio.run(_run(factory, stdin, stdout))


async def _run(factory: "_EngineFactory", stdin: RawInput, stdout: io.FileIO) -> int:
    interruption = ProcessInterrupt()
    with stopping_signals(interruption.request_stop):
        return await run_acp_server(
            version=__version__,
            engines=factory,
            store=SessionStore(factory.data_dir),
            stdin=stdin,
            stdout=stdout,
            interruption=interruption,
        )


@dataclass(frozen=True, slots=True)
class _EngineFactory:
    """Opens engines with the program's options and the options of an ACP session."""

    cli_options: CliOptions
    data_dir: Path

    async def serve(self, wire: Wire, session_options: AcpSessionOptions) -> None:
        """Open an engine behind `wire` and serve it until it ends. Raises KimiTuiError."""
        setup = self._engine_setup(session_options)
        if not self._has_model(setup):
            raise ModelNotSet(
                "No model is configured.",
                hint="Run `kimi-tui login`, or set KIMI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY.",
            )
        traits = ClientTraits(allows_no_model=False, mcp_servers=session_options.mcp_servers)
        editor = EditorServer(session_options.editor, session_options.terminals)
        if not await serve_in_running_engine(setup, wire, traits, editor=editor):
            await setup.serve(wire, adapt=lambda options: _with_session_options(options, session_options))

    async def stop(self, session_id: str) -> None:
        """Close a session if the resident engine has it open. Raises KimiTuiError."""
        with contextlib.suppress(EngineNotRunning, UsageError):  # it isn't open there
            await RunningSessions(self.data_dir).stop(session_id)

    def has_model(self) -> bool:
        """Return whether a session would find a model. True for an unreadable config: signing in can't fix
        that.
        """
        try:
            return self._has_model(self._engine_setup(AcpSessionOptions(cwd=current_dir())))
        except KimiTuiError:
            return True

    def _has_model(self, setup: EngineSetup) -> bool:
        return self.cli_options.demo or bool(settings_of(setup.config).models)

    def _engine_setup(self, session_options: AcpSessionOptions) -> EngineSetup:
        cli_options = replace(self.cli_options, session=session_options.session_id, fork=session_options.fork)
        paths = RunPaths(
            data_dir=self.data_dir,
            work_dir=session_options.cwd,
            additional_dirs=(
                *(path.expanduser().resolve() for path in cli_options.add_dir),
                *session_options.additional_dirs,
            ),
        )
        return EngineSetup(
            cli_options=cli_options, paths=paths, config=read_config_for(cli_options, paths), interactive=True
        )


def _with_session_options(options: EngineOptions, session_options: AcpSessionOptions) -> EngineOptions:
    """Return `options` with the client's capabilities and MCP servers."""
    return replace(
        options,
        editor=session_options.editor,
        terminals=session_options.terminals,
        mcp=replace(options.mcp, servers=session_options.mcp_servers),
    )
