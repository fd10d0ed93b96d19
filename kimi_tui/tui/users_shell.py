"""The user's own shell, from the screen's side: commands go to the engine, some with the terminal."""

from typing import Any

from textual.app import App

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.identity import new_id
from kimi_tui.tui.lent_terminal import lent_terminal
from kimi_tui.tui.prompt.shell_line import ShellLine
from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import RunShell


async def run_in_shell(line: ShellLine, *, wire: Wire, app: App[Any]) -> None:
    """Run a command; returns at once, or when it gives the terminal back. Raises KimiTuiError."""
    if not line.on_terminal:
        wire.command(RunShell(new_id(), line.command))
        return
    try:
        with lent_terminal(app):
            await wire.carry_out(RunShell(new_id(), line.command, on_terminal=True))
    except WireClosed as error:
        raise KimiTuiError(
            "The session is over; nothing can be run any more.", hint="Start again with --continue."
        ) from error
