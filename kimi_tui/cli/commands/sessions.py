"""`kimi-tui sessions`: those that there are, what was said in one, taking them elsewhere, deleting some."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message import Message
from kimi_tui.base.paths import share_dir
from kimi_tui.base.secrets import fit_to_share, keep_hidden, secrets_in
from kimi_tui.base.terminal import plain
from kimi_tui.cli.commands.subcommands import new_app, say
from kimi_tui.cli.places import current_dir, usable_share_dir
from kimi_tui.cli.questions import yes
from kimi_tui.config.loading import read_config, settings_of
from kimi_tui.engine.arrival import arrived
from kimi_tui.engine.exporting import as_json, as_markdown, write_new
from kimi_tui.history.conversation import is_note
from kimi_tui.history.loading import load
from kimi_tui.history.session import SessionStore
from kimi_tui.language.saying import retell

app = new_app("The sessions: those that there are, what was said in them, files of them.")
_SHORT = 8


@app.command("list")
def list_sessions(
    everywhere: Annotated[bool, typer.Option("--all", help="Of every folder, not only this one.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the sessions of this folder, the last used first."""
    work_dir = current_dir()
    sessions = SessionStore(share_dir()).list(None if everywhere else work_dir)
    for session in sessions:
        if as_json:
            facts = {
                "id": session.id,
                "title": session.title,
                "work_dir": str(session.work_dir) if session.work_dir else None,
                "updated": session.updated,
            }
            typer.echo(json.dumps(facts, ensure_ascii=False))
        else:
            where = f"  {session.work_dir or 'an unknown folder'}" if everywhere else ""
            say(f"{session.id[:_SHORT]}  {_time(session.updated)}  {session.title}{where}")
    if not sessions and not as_json:
        place = "" if everywhere else f" in {work_dir}; --all lists those of other folders"
        typer.echo(retell(f"There are no sessions{place}."), err=True)


@app.command()
def show(session_id: Annotated[str, typer.Argument(metavar="ID", help="An ID, or how it begins.")]) -> None:
    """Show what was said in a session."""
    session = SessionStore(share_dir()).find(session_id)
    say(f"{session.id}  {session.state.title}")
    say(f"in {session.work_dir}")
    for message in load(session.context_file).line.history:
        if message.role != "system" and not is_note(message):
            typer.echo(f"\n{_told(message)}")


@app.command()
def export(
    session_id: Annotated[str, typer.Argument(metavar="ID", help="An ID, or how it begins.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="A new file, in place of stdout.")
    ] = None,
    kind: Annotated[
        Literal["md", "json"] | None,
        typer.Option(
            "--format", help="Markdown to read, or JSON that `import` takes; else as FILE ends, or md."
        ),
    ] = None,
) -> None:
    """Write what was said in a session, its keys and tokens blacked out."""
    session = SessionStore(share_dir()).find(session_id)
    history = load(session.context_file).line.history
    title = session.state.title
    kind = kind or ("json" if output is not None and output.suffix == ".json" else "md")
    if kind == "json":
        text = as_json(history, title=title, session_id=session.id, model=session.state.model or "")
    else:
        text = as_markdown(history, title=title, session_id=session.id)
    keep_hidden((*secrets_in(os.environ), *_keys(session.work_dir)))
    text = fit_to_share(text)
    if output is None:
        typer.echo(plain(text) if sys.stdout.isatty() else text, nl=False)
    else:
        write_new(output, text)
        say(f"Wrote {output}.")


@app.command("import")
def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="What `export` wrote as JSON, or a context.jsonl.")
    ],
) -> None:
    """Make a conversation from a file a session of this folder."""
    store = SessionStore(usable_share_dir())
    session = asyncio.run(arrived(file, work_dir=current_dir(), store=store))
    say(f"Imported as {session.id}. Go on with it: kimi-tui --session {session.id[:_SHORT]}")


@app.command()
def rm(
    session_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="IDs, or how they begin.")],
    sure: Annotated[bool, typer.Option("-y", "--yes", help="Don't ask.")] = False,
) -> None:
    """Delete sessions for good, with all their branches."""
    store = SessionStore(share_dir())
    sessions = [store.find(session_id) for session_id in session_ids]
    if not sure and not sys.stdin.isatty():
        raise UsageError("Deleting asks first, and standard input is no terminal.", hint="Add --yes.")
    for session in sessions:
        title = session.state.title or "without a title"
        if sure or yes(f"Delete session {session.id[:_SHORT]} ({plain(title)}) for good"):
            store.delete(session)
            say(f"Deleted {session.id}.")


def _keys(work_dir: Path) -> list[str]:
    providers = settings_of(read_config(share_dir=share_dir(), work_dir=work_dir)).providers.values()
    return [provider.api_key.get_secret_value() for provider in providers]


def _told(message: Message) -> str:
    calls = "".join(
        f"\n→ {call.function.name} {call.function.arguments}" for call in message.tool_calls or ()
    )
    return plain(f"[{message.role}] {message.text}{calls}").rstrip()


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
