"""`kimi-tui why`: shows the prompt and step behind a line of a file."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from kimi_tui.base.errors import UsageError
from kimi_tui.base.json_codec import to_jsonable
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import data_dir
from kimi_tui.cli.commands.runner import print_line
from kimi_tui.cli.run_paths import current_dir
from kimi_tui.engine.why.why_service import explain_stored_line, parse_location
from kimi_tui.frontend.text.why import why_text
from kimi_tui.history.session import SessionStore
from kimi_tui.history.snapshots.project_store import ProjectStore

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def why(
    location: Annotated[str, typer.Argument(metavar="FILE:LINE", help="File and line, from 1.")],
    session_id: Annotated[
        str | None,
        typer.Option("--session", "-S", metavar="ID", help="Use only the records of session ID."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show who wrote a line of a file, with the prompt, step, model, command, cost and date."""
    parsed = parse_location(location)
    if parsed is None:
        raise UsageError(msg("“{text}” isn't FILE:LINE.", text=location), hint="Write src/main.py:12.")
    path, line = parsed
    session = SessionStore(data_dir()).find(session_id) if session_id is not None else None
    work_dir = session.work_dir if session is not None else _project_of(current_dir())
    file = os.path.abspath(Path(path).expanduser())  # noqa: PTH100
    reason = explain_stored_line(data_dir(), work_dir, file, line, session=session)
    if as_json:
        typer.echo(json.dumps(to_jsonable(reason), ensure_ascii=False))
        return
    headline, body = why_text(reason, offers="shell")
    for text in (headline, *body.splitlines()):
        print_line(text)


def _project_of(directory: Path) -> Path:
    """Return the nearest directory at or above `directory` that has file states; itself without one."""
    for folder in (directory, *directory.parents):
        if ProjectStore(data_dir(), folder, "").folder.is_dir():
            return folder
    return directory
