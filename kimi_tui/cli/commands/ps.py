"""`kimi-tui ps`: the sessions of the resident engine."""

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer

from kimi_tui.base.json_codec import to_jsonable
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.cli.commands.runner import print_line
from kimi_tui.cli.run_paths import ensure_data_dir
from kimi_tui.frontend.text.hosted_sessions import duration_label, state_label
from kimi_tui.resident.frames import HostedSessionInfo

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

_LAST_LINE_WIDTH = 60


@app.command()
def ps(
    stop: Annotated[str | None, typer.Option("--stop", metavar="ID", help="Stop a session.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the sessions of the resident engine."""
    asyncio.run(_stop(stop) if stop is not None else _list(as_json=as_json))


async def _list(*, as_json: bool) -> None:
    from kimi_tui.cli.resident_client import list_hosted_sessions
    from kimi_tui.resident.connection import EngineNotRunning

    try:
        sessions = await list_hosted_sessions(ensure_data_dir())
    except EngineNotRunning:
        sessions = ()
    if as_json:
        typer.echo(json.dumps([to_jsonable(session) for session in sessions], ensure_ascii=False, indent=2))
        return
    if not sessions:
        print_line("No sessions are running in the background.")
    for session in sessions:
        typer.echo(_format(session))


async def _stop(prefix: str) -> None:
    from kimi_tui.resident.connection import send_hello
    from kimi_tui.resident.frames import Hello
    from kimi_tui.version import __version__

    hello = Hello(version=__version__, request="stop", session=prefix)
    for session in (await send_hello(ensure_data_dir(), hello)).sessions:
        print_line(msg("Stopped: {title} ({id})", title=session.title or "…", id=session.id[:8]))


def _format(session: HostedSessionInfo) -> str:
    """Return two lines: the state, and what the session is about."""
    cost = "" if session.cost_usd is None else f"${session.cost_usd:.2f}"
    facts = [state_label(session.state), duration_label(session.since_s), cost, _short_path(session.work_dir)]
    line = sanitize_line(session.last_line)[:_LAST_LINE_WIDTH]
    detail = "  ".join(filter(None, [sanitize_line(session.title), line]))
    return f"{session.id[:8]}  {'  '.join(filter(None, facts))}\n          {detail}"


def _short_path(path: str) -> str:
    home = str(Path.home())
    return sanitize_line(f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path)
