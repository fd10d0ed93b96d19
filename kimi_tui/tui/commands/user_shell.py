"""Shell lines of the prompt: the engine runs the commands, some of them on the suspended terminal."""

from typing import Any

from textual.app import App

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.ids import new_id
from kimi_tui.frontend.shell_line import ShellLine
from kimi_tui.tui.terminal.suspend import suspend_app
from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import RunShell


async def run_in_shell(line: ShellLine, *, wire: Wire, app: App[Any]) -> None:
    """Start a command; if it uses the terminal, return when it has ended. Raises KimiTuiError."""
    if not line.on_terminal:
        wire.command(RunShell(new_id(), line.command))
        return
    try:
        with suspend_app(app):
            await wire.command_and_wait(RunShell(new_id(), line.command, on_terminal=True))
    except WireClosed as error:
        raise KimiTuiError(
            "The session has ended. The command can't be run.", hint="Restart with --continue."
        ) from error
