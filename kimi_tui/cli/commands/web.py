"""`kimi-tui web`: the app in a browser on this machine."""

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.message_text import msg
from kimi_tui.cli.commands.runner import print_line
from kimi_tui.cli.run_paths import current_dir, ensure_data_dir
from kimi_tui.cli.signals import stopping_signals
from kimi_tui.frontend.text.running_sessions import duration_label
from kimi_tui.web.terminal_process import TerminalProcess
from kimi_tui.web.web_token_store import WebToken, WebTokenStore

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

DEFAULT_PORT = 8731


@app.command()
def web(
    session_id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Session to show. Default: the last one of this directory."),
    ] = None,
    port: Annotated[int, typer.Option("--port", help="Port on this machine; 0 for any.")] = DEFAULT_PORT,
    view: Annotated[bool, typer.Option("--view", help="Print a view-only link.")] = False,
    list_tokens: Annotated[bool, typer.Option("--list", help="List the links that are valid.")] = False,
    revoke: Annotated[
        str | None, typer.Option("--revoke", metavar="ID", help="Revoke a link, or `all`.")
    ] = None,
) -> None:
    """Serve the app to browsers on this machine."""
    store = WebTokenStore(ensure_data_dir())
    if list_tokens:
        _print_tokens(store.list())
    elif revoke is not None:
        print_line(msg("Links revoked: {count}.", count=len(store.revoke(revoke))))
    else:
        asyncio.run(_serve(store, session_id or "", port=port, is_viewer=view))


async def _serve(store: WebTokenStore, session_id: str, *, port: int, is_viewer: bool) -> None:
    try:
        from kimi_tui.web.page_server import PageServer
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "aiohttp":
            raise
        raise KimiTuiError(
            "The files for browsers aren't installed.", hint='Run `pip install "kimi-tui[web]"`.'
        ) from error
    if session_id or is_viewer:
        session_id = await _find_session(session_id)
    programs = AppPrograms(current_dir(), ensure_data_dir())
    interruption = ProcessInterrupt()
    server = PageServer(tokens=store, programs=programs)
    async with server.listen(port) as actual_port:
        token, secret = store.create(is_viewer=is_viewer, session=session_id)
        typer.echo(f"http://127.0.0.1:{actual_port}/{token.id}/#{secret}")
        print_line(
            "Anyone with this link can watch the session."
            if is_viewer
            else "Anyone with this link can run commands as you. Stop with ctrl+c."
        )
        with stopping_signals(interruption.request_stop):
            await interruption.wait()


async def _find_session(prefix: str) -> str:
    """Return the id of a running session. Raises UsageError."""
    from kimi_tui.cli.commands.attach import choose_session
    from kimi_tui.cli.resident_client import list_hosted_sessions

    sessions = await list_hosted_sessions(ensure_data_dir())
    return choose_session(sessions, prefix or None, current_dir()).id


class AppPrograms:
    """Starts the app for a page, attached to the resident engine. The session continues without the page."""

    def __init__(self, work_dir: Path, data_dir: Path) -> None:
        self._work_dir = work_dir
        self._data_dir = data_dir

    def build(self, token: WebToken) -> TerminalProcess:
        """Return the app for the holder of `token`."""
        if token.is_viewer:
            arguments = ["attach", "--view", token.session]
        elif token.session:
            arguments = ["attach", token.session]
        else:
            arguments = ["--resident", "--continue"]
        env = {name: value for name, value in os.environ.items() if name not in _OTHER_TERMINAL}
        env |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "KIMI_SHARE_DIR": str(self._data_dir)}
        command = (sys.executable, "-m", "kimi_tui", *arguments)
        return TerminalProcess(command, env=env, cwd=str(self._work_dir))


_OTHER_TERMINAL = frozenset({"TMUX", "TMUX_PANE", "TERM_PROGRAM", "COLUMNS", "LINES", "KITTY_WINDOW_ID"})
"""Variables that describe the terminal of this process, not that of the page."""


def _print_tokens(tokens: tuple[WebToken, ...]) -> None:
    if not tokens:
        print_line("No links.")
    for token in tokens:
        age = duration_label(time.time() - token.created)
        kind = "watch" if token.is_viewer else "full"
        typer.echo("  ".join(filter(None, [token.id, kind, age, token.session[:8]])))
