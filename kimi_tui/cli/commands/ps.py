"""`kimi-tui ps`: the open sessions of this user."""

import asyncio
import json
from typing import Annotated

import typer

from kimi_tui.base.json_codec import to_jsonable
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.cli.commands.runner import print_line
from kimi_tui.cli.run_paths import ensure_data_dir
from kimi_tui.frontend.text.running_sessions import facts_of
from kimi_tui.wire.running_session import RunningSession

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

_LAST_LINE_WIDTH = 60


@app.command()
def ps(
    stop: Annotated[str | None, typer.Option("--stop", metavar="ID", help="Stop a session.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the open sessions: state, cost today, directory and last line."""
    asyncio.run(_stop(stop) if stop is not None else _list(as_json=as_json))


async def _list(*, as_json: bool) -> None:
    from kimi_tui.cli.running_sessions import RunningSessions

    sessions = (await RunningSessions(ensure_data_dir()).list()).sessions
    if as_json:
        typer.echo(json.dumps([to_jsonable(session) for session in sessions], ensure_ascii=False, indent=2))
        return
    if not sessions:
        print_line("No sessions are open.")
    for session in sessions:
        typer.echo(_format(session))


async def _stop(prefix: str) -> None:
    from kimi_tui.cli.running_sessions import RunningSessions

    for session in await RunningSessions(ensure_data_dir()).stop(prefix):
        print_line(msg("Stopped: {title} ({id})", title=session.title or "…", id=session.id[:8]))


def _format(session: RunningSession) -> str:
    """Return two lines: the state, and what the session is about."""
    line = sanitize_line(session.last_line)[:_LAST_LINE_WIDTH]
    detail = "  ".join(filter(None, [sanitize_line(session.title), line]))
    return f"{session.id[:8]}  {facts_of(session)}\n          {detail}".rstrip()
