"""`kimi-tui search`: searches the messages of all sessions."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.base.json_codec import to_jsonable
from kimi_tui.base.paths import data_dir
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.cli.commands.runner import print_line
from kimi_tui.frontend.text.message_passages import match_label, passage_line
from kimi_tui.i18n.translate import tr
from kimi_tui.session_search.session_searcher import SessionSearcher

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

_PROGRESS_S = 0.5
_LINE_LENGTH = 160
_SHORT_ID_LENGTH = 8


@app.command()
def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS...", help="Words that a message contains.")],
    limit: Annotated[
        int, typer.Option("-n", "--limit", min=1, help="Maximum number of messages to show.")
    ] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> int:
    """Search the messages of all sessions, newest first. Exit with 1 if none contains all words."""
    searcher = SessionSearcher(data_dir())
    try:
        with _progress() as is_visible:
            while (indexed := searcher.update(deadline=time.monotonic() + _PROGRESS_S)) < 1:
                if is_visible:
                    sys.stderr.write(f"\r{tr('Indexing: {percent} %', percent=int(indexed * 100))}\033[K")
                    sys.stderr.flush()
        found = searcher.search(" ".join(words), limit=limit)
    finally:
        searcher.close()
    for match in found.matches:
        if as_json:
            typer.echo(json.dumps(to_jsonable(match), ensure_ascii=False))
        else:
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(match.time))
            source = f"{match.session_id[:_SHORT_ID_LENGTH]}  {when}  {sanitize_line(match_label(match))}"
            print_line(f"{source}: {sanitize_line(passage_line(match, _LINE_LENGTH))}")
    if not found.matches:
        typer.echo(tr("No message contains these words."), err=True)
        return ExitCode.FAILED
    return ExitCode.DONE


@contextmanager
def _progress() -> Iterator[bool]:
    """Clear the line of the progress afterwards. Yields whether standard error is a terminal."""
    is_visible = sys.stderr.isatty()
    try:
        yield is_visible
    finally:
        if is_visible:
            sys.stderr.write("\r\033[K")
