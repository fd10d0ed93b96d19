"""`kimi-tui serve`: the resident engine."""

import asyncio
from typing import Annotated

import typer

from kimi_tui.base.errors import UsageError
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.message_text import msg
from kimi_tui.cli.commands.runner import print_line
from kimi_tui.cli.run_paths import ensure_data_dir
from kimi_tui.cli.signals import stopping_signals
from kimi_tui.version import __version__

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def serve(
    restart: Annotated[
        bool, typer.Option("--restart", help="Stop the running engine and start it in the background.")
    ] = False,
    stop: Annotated[bool, typer.Option("--stop", help="Save all sessions and stop the engine.")] = False,
) -> None:
    """Run the engine that keeps sessions running without a terminal."""
    if restart and stop:
        raise UsageError("Can't combine --restart with --stop.", hint="Remove one of them.")
    if restart:
        asyncio.run(_restart())
    elif stop:
        asyncio.run(_stop())
    else:
        asyncio.run(_serve())


async def _serve() -> None:
    from kimi_tui.cli.bootstrap import start_log
    from kimi_tui.cli.options import CliOptions
    from kimi_tui.cli.resident_sessions import ResidentSessions
    from kimi_tui.resident.serve import listen_for_clients, serve_sessions

    data_dir = ensure_data_dir()
    interruption = ProcessInterrupt()
    with listen_for_clients(data_dir) as listener, stopping_signals(interruption.request_stop):
        start_log(CliOptions(), data_dir)
        print_line("Sessions run here without a terminal. Attach with `kimi-tui attach`, stop with ctrl+c.")
        await serve_sessions(
            listener, opener=ResidentSessions(data_dir), version=__version__, interruption=interruption
        )


async def _restart() -> None:
    from kimi_tui.cli.resident_client import ensure_engine

    await _stop(must_run=False)
    await ensure_engine(ensure_data_dir())
    print_line("The resident engine is running.")


async def _stop(*, must_run: bool = True) -> None:
    from kimi_tui.cli.resident_client import stop_engine
    from kimi_tui.resident.connection import EngineNotRunning

    try:
        interrupted = await stop_engine(ensure_data_dir())
    except EngineNotRunning:
        if must_run:
            raise
        return
    print_line("The resident engine has stopped.")
    for session in interrupted:
        print_line(msg("Interrupted: {title} ({id})", title=session.title or "…", id=session.id[:8]))
