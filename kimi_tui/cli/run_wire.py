"""Wire server on the process's stdin, stdout and signals."""

import asyncio
import io
from functools import partial

from kimi_tui.agentspec.spec import KIMI_CLI_AGENT
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.raw_input import RawInput
from kimi_tui.cli.bootstrap import EngineSetup, read_config_for
from kimi_tui.cli.option_conflicts import check_conflicts
from kimi_tui.cli.options import CliOptions
from kimi_tui.cli.resident_client import serve_in_running_engine
from kimi_tui.cli.resident_options import ClientTraits
from kimi_tui.cli.run_paths import resolve_paths
from kimi_tui.cli.signals import stopping_signals
from kimi_tui.cli.stdio import process_stdio
from kimi_tui.version import __version__
from kimi_tui.wire.channel import Wire
from kimi_tui.wireserver.serve import run_wire_server


def run_wire_mode(cli_options: CliOptions) -> int:
    """Serve and return the exit code. Raises KimiTuiError."""
    check_conflicts(cli_options)
    paths = resolve_paths(cli_options)
    config = read_config_for(cli_options, paths)
    setup = EngineSetup(
        cli_options=cli_options,
        paths=paths,
        config=config,
        interactive=False,
        creates_session=cli_options.agent == KIMI_CLI_AGENT,
    )
    with process_stdio("--wire") as (stdin, stdout):
        return asyncio.run(_run(setup, stdin, stdout))


async def _run(setup: EngineSetup, stdin: RawInput, stdout: io.FileIO) -> int:
    wire, interruption = Wire(), ProcessInterrupt()
    with stopping_signals(interruption.request_stop):
        return await run_wire_server(
            wire,
            version=__version__,
            start=partial(_serve, setup, wire),
            stdin=stdin,
            stdout=stdout,
            interruption=interruption,
            for_kimi_cli=setup.cli_options.agent == KIMI_CLI_AGENT,
        )


async def _serve(setup: EngineSetup, wire: Wire) -> None:
    """Serve the session by the resident engine if it is running, else by an engine in this process."""
    traits = ClientTraits(interactive=setup.interactive, allows_no_model=False)
    if not await serve_in_running_engine(setup, wire, traits):
        await setup.serve(wire)
