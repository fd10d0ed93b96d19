"""`kimi-tui sessions`: lists, shows, exports, imports and deletes sessions."""

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
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import data_dir
from kimi_tui.base.redaction import redact_for_sharing, register_secrets, secret_values
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.cli.commands.runner import new_app, print_line
from kimi_tui.cli.run_paths import current_dir, ensure_data_dir
from kimi_tui.cli.startup_prompts import confirm
from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.engine.transfer.atif import to_atif
from kimi_tui.engine.transfer.export import to_json, to_markdown, write_exclusive
from kimi_tui.engine.transfer.session_bundle import SUFFIX, import_bundle, is_bundle, write_bundle
from kimi_tui.engine.transfer.session_import import import_session
from kimi_tui.history.journal_reader import read_journal
from kimi_tui.history.message_history import is_note
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.i18n.translate import tr

app = new_app("List, show, export, import and delete sessions.")
_SHORT_ID_LENGTH = 8


@app.command("list")
def list_sessions(
    everywhere: Annotated[bool, typer.Option("--all", help="Include sessions of all directories.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """List the sessions of this directory, last used first."""
    work_dir = current_dir()
    sessions = SessionStore(data_dir()).list(None if everywhere else work_dir)
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
            where = f"  {session.work_dir or 'unknown directory'}" if everywhere else ""
            print_line(
                f"{session.id[:_SHORT_ID_LENGTH]}  {_format_time(session.updated)}  {session.title}{where}"
            )
    if not sessions and not as_json:
        typer.echo(
            tr("No sessions yet.")
            if everywhere
            else tr("No sessions in {work_dir}. Use --all to list all.", work_dir=work_dir),
            err=True,
        )


@app.command()
def show(
    session_id: Annotated[str, typer.Argument(metavar="ID", help="Session ID or its beginning.")],
) -> None:
    """Show the conversation of a session."""
    session = SessionStore(data_dir()).find(session_id)
    print_line(f"{session.id}  {session.state.title}")
    print_line(f"in {session.work_dir}")
    for message in read_journal(session.context_file).state.history:
        if message.role != "system" and not is_note(message):
            typer.echo(f"\n{_format_message(message)}")


@app.command()
def export(
    session_id: Annotated[str, typer.Argument(metavar="ID", help="Session ID or its beginning.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write to a new FILE instead of standard output."
        ),
    ] = None,
    kind: Annotated[
        Literal["md", "json", "html", "atif", "bundle"] | None,
        typer.Option(
            "--format",
            help="Write Markdown, JSON, HTML or ATIF with keys redacted, or a bundle with all files.",
        ),
    ] = None,
    html: Annotated[
        bool, typer.Option("--html", help="Write one HTML page with timeline and diffs.")
    ] = False,
) -> None:
    """Export a conversation with keys and tokens redacted, or a session as a bundle."""
    if html:
        kind = "html"
    session = SessionStore(data_dir()).find(session_id)
    if kind == "bundle" or (kind is None and output is not None and output.suffix == ".zip"):
        _export_bundle(session, output)
        return
    if kind == "html" or (kind is None and output is not None and output.suffix == ".html"):
        _export_html(session, output)
        return
    history = read_journal(session.context_file).state.history
    title = session.state.title
    kind = kind or ("json" if output is not None and output.suffix == ".json" else "md")
    if kind == "json":
        text = to_json(history, title=title, session_id=session.id, model=session.state.model or "")
    elif kind == "atif":
        state = session.state
        text = to_atif(
            history,
            title=title,
            session_id=session.id,
            model=state.model or "",
            usage=state.usage,
            cost_usd=state.cost_usd,
        )
    else:
        text = to_markdown(history, title=title, session_id=session.id)
    _register_keys(session.work_dir)
    text = redact_for_sharing(text)
    if output is None:
        typer.echo(sanitize(text) if sys.stdout.isatty() else text, nl=False)
    else:
        write_exclusive(output, text)
        print_line(f"Wrote {output}.")


@app.command("import")
def import_(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="JSON, ATIF or bundle file from `export`, or a context.jsonl file."
        ),
    ],
) -> None:
    """Import a session or a conversation as a new session of this directory."""
    store = SessionStore(ensure_data_dir())
    if is_bundle(file):
        _import_bundle(file)
        return
    session = asyncio.run(import_session(file, work_dir=current_dir(), store=store))
    print_line(
        msg(
            "Imported as {id}. To resume it, run: kimi-tui --session {short_id}",
            id=session.id,
            short_id=session.id[:_SHORT_ID_LENGTH],
        )
    )


@app.command()
def rm(
    session_ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="Session IDs or their beginnings.")
    ],
    assume_yes: Annotated[bool, typer.Option("-y", "--yes", help="Don't ask for confirmation.")] = False,
) -> None:
    """Permanently delete sessions with all their branches."""
    store = SessionStore(data_dir())
    sessions = [store.find(session_id) for session_id in session_ids]
    if not assume_yes and not sys.stdin.isatty():
        raise UsageError("Can't ask for confirmation: standard input isn't a terminal.", hint="Add --yes.")
    for session in sessions:
        title = session.state.title or "untitled"
        if assume_yes or confirm(
            msg(
                "Permanently delete session {id} ({title})",
                id=session.id[:_SHORT_ID_LENGTH],
                title=sanitize(title),
            )
        ):
            store.delete(session)
            print_line(f"Deleted {session.id}.")


def _export_html(session: Session, output: Path | None) -> None:
    from kimi_tui.engine.transfer.html.html_export import to_html

    _register_keys(session.work_dir)
    text = to_html(session, data_dir=data_dir())
    if output is None and not sys.stdout.isatty():
        typer.echo(text, nl=False)
        return
    path = output or Path(f"{session.id[:_SHORT_ID_LENGTH]}.html")
    write_exclusive(path, text)
    print_line(f"Wrote {path}.")


def _register_keys(work_dir: Path) -> None:
    """Register the keys that exports redact."""
    register_secrets((*secret_values(os.environ), *_keys(work_dir)))


def _export_bundle(session: Session, output: Path | None) -> None:
    if output is None:
        name = f"{session.id[:_SHORT_ID_LENGTH]}{SUFFIX}"
        raise UsageError("A bundle needs a file.", hint=msg("Add -o {name}.", name=name))
    if output.exists():
        raise UsageError(msg("{path} already exists.", path=output), hint="Choose another file name.")
    write_bundle(session, data_dir=data_dir(), target=output)
    print_line(msg("Wrote {path}. It isn't redacted: it contains the session and its files.", path=output))


def _import_bundle(file: Path) -> None:
    imported = import_bundle(file, work_dir=current_dir(), data_dir=ensure_data_dir())
    short_id = imported.session.id[:_SHORT_ID_LENGTH]
    if imported.restored_files is None:
        print_line(
            msg(
                "Imported as {id}. Its files weren't restored, because this directory isn't empty. To resume"
                " it, run: kimi-tui --session {short_id}",
                id=imported.session.id,
                short_id=short_id,
            )
        )
    else:
        print_line(
            msg(
                "Imported as {id}, with {count} files. To resume it, run: kimi-tui --session {short_id}",
                id=imported.session.id,
                count=imported.restored_files,
                short_id=short_id,
            )
        )


def _keys(work_dir: Path) -> list[str]:
    providers = settings_of(read_config(data_dir=data_dir(), work_dir=work_dir)).providers.values()
    return [provider.api_key.get_secret_value() for provider in providers]


def _format_message(message: Message) -> str:
    calls = "".join(
        f"\n→ {call.function.name} {call.function.arguments}" for call in message.tool_calls or ()
    )
    return sanitize(f"[{message.role}] {message.text}{calls}").rstrip()


def _format_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
