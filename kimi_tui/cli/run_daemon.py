"""Daemon on the process's stdin and stdout or on a socket."""

import asyncio
import io
import sys
from functools import partial

from kimi_tui.base.errors import UsageError
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.output_stream import OutputStream
from kimi_tui.base.raw_input import RawInput
from kimi_tui.cli.bootstrap import EngineSetup, read_config_for
from kimi_tui.cli.option_conflicts import check_conflicts
from kimi_tui.cli.options import CliOptions
from kimi_tui.cli.print_options import to_print_options
from kimi_tui.cli.resident_client import serve_in_running_engine
from kimi_tui.cli.resident_options import ClientTraits
from kimi_tui.cli.run_paths import resolve_paths
from kimi_tui.cli.run_print import open_input, raw_stderr
from kimi_tui.cli.signals import stopping_signals
from kimi_tui.cli.stdio import process_stdio
from kimi_tui.config.language_setting import language_setting
from kimi_tui.headless.daemon import run_daemon
from kimi_tui.headless.daemon_client import ClientListener, StdioListener
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.unix_socket import listen
from kimi_tui.i18n.translate import set_language
from kimi_tui.wire.channel import Wire


def run_daemon_mode(cli_options: CliOptions) -> int:
    """Serve and return the exit code. Raises KimiTuiError."""
    check_conflicts(cli_options)
    paths = resolve_paths(cli_options)
    config = read_config_for(cli_options, paths)
    set_language(language_setting(config.data))
    options = to_print_options(cli_options)
    setup = EngineSetup(
        cli_options=cli_options, paths=paths, config=config, interactive=False, runs_checks=False
    )
    if cli_options.socket is not None:
        with listen(cli_options.socket.expanduser().absolute()) as listener:
            sys.stderr.write(f"Listening at {cli_options.socket}.\n")
            return asyncio.run(_run(setup, options, listener))
    with open_input(cli_options) as file_input, process_stdio("--daemon") as (stdin, stdout):
        if file_input is None:
            raise UsageError(
                "--daemon can't read prompts from a terminal.",
                hint="Pipe them in, or use --input FILE or --socket PATH.",
            )
        return asyncio.run(
            _run_on_stdio(setup, options, stdin if cli_options.input is None else file_input, stdout)
        )


async def _run_on_stdio(setup: EngineSetup, options: PrintOptions, stdin: RawInput, stdout: io.FileIO) -> int:
    return await _run(setup, options, StdioListener(stdin, OutputStream(stdout)))


async def _run(setup: EngineSetup, options: PrintOptions, listener: ClientListener) -> int:
    wire, interruption = Wire(), ProcessInterrupt()
    with stopping_signals(interruption.request_stop), raw_stderr() as stderr:
        return await run_daemon(
            wire,
            options,
            start=partial(_serve, setup, wire),
            listener=listener,
            stderr=stderr,
            interruption=interruption,
        )


async def _serve(setup: EngineSetup, wire: Wire) -> None:
    """Serve the session by the resident engine if it is running, else by an engine in this process."""
    traits = ClientTraits(interactive=setup.interactive, allows_no_model=False, runs_checks=setup.runs_checks)
    if not await serve_in_running_engine(setup, wire, traits):
        await setup.serve(wire)
