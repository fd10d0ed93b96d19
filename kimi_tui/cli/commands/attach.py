"""`kimi-tui attach`: opens the app on a session of the resident engine."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.cli.run_paths import current_dir, ensure_data_dir
from kimi_tui.wire.running_session import RunningSession

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

_PS_HINT = "`kimi-tui ps` lists the sessions. Name one: kimi-tui attach ID."


@app.command()
def attach(
    session_id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Session ID or its beginning. Default: the only session here."),
    ] = None,
    view: Annotated[bool, typer.Option("--view", help="Only watch the session.")] = False,
    screen_reader: Annotated[
        bool, typer.Option("--screen-reader", help="Print line by line for screen readers.")
    ] = False,
) -> int:
    """Open a session that runs in the background."""
    from kimi_tui.cli.options import CliOptions
    from kimi_tui.cli.resident_client import list_hosted_sessions
    from kimi_tui.cli.run_tui import run_attached

    sessions = asyncio.run(list_hosted_sessions(ensure_data_dir()))
    chosen = choose_session(sessions, session_id, current_dir())
    work_dir = Path(chosen.work_dir)
    cli_options = CliOptions(
        session=chosen.id,
        work_dir=work_dir if work_dir.is_dir() else None,
        screen_reader=screen_reader,
    )
    return run_attached(cli_options, is_viewer=view)


def choose_session(
    sessions: tuple[RunningSession, ...], prefix: str | None, work_dir: Path
) -> RunningSession:
    """Return the session whose id begins with `prefix`; without one, the only session, or the only one of
    `work_dir`. Raises UsageError.
    """
    if not sessions:
        raise UsageError(
            "No sessions are running in the background.",
            hint="`kimi-tui --resident` starts one. `kimi-tui -c` resumes the last session of a directory.",
        )
    if prefix is not None:
        found = [session for session in sessions if session.id.startswith(prefix)]
        problem = (
            msg("Several sessions begin with “{prefix}”.", prefix=prefix)
            if found
            else msg("Session “{prefix}” isn't running.", prefix=prefix)
        )
    else:
        here = [session for session in sessions if session.work_dir == str(work_dir)]
        found, problem = here or list(sessions), msg("Several sessions are running.")
    if len(found) != 1:
        raise UsageError(problem, hint=_PS_HINT)
    return found[0]
