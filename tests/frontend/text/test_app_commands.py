"""Errors for app commands in other front ends."""

from typing import Any, cast

from kimi_tui.frontend.text.app_commands import APP_COMMAND_ALTERNATIVES, app_only_error
from kimi_tui.tui.commands.builtin import COMMANDS
from kimi_tui.tui.commands.model_setup import SETUP_COMMANDS
from kimi_tui.tui.commands.modes import MODE_COMMANDS
from kimi_tui.tui.commands.sessions import session_commands
from kimi_tui.tui.commands.timeline import TIMELINE_COMMANDS
from kimi_tui.tui.commands.user import user_commands

ENGINE_COMMANDS = {
    "clear",
    "compact",
    "title",
    "revert",
    "undo",
    "redo",
    "checkpoints",
    "branches",
    "switch",
    "fork",
    "diff",
    "patch",
    "name",
    "note",
    "plan",
    "btw",
    "hooks",
    "tasks",
    "mcp",
    "export",
    "import",
    "init",
    "context",
    "agents",
}
"""Commands that every session has, with or without the app."""


class AnyAttribute:
    """A screen that is never used."""

    def __getattr__(self, name: str) -> "AnyAttribute":
        return self


def test_every_app_command_has_an_alternative() -> None:
    screen = cast("Any", AnyAttribute())
    app_commands = (
        *COMMANDS,
        *SETUP_COMMANDS,
        *MODE_COMMANDS,
        *TIMELINE_COMMANDS,
        *session_commands(screen),
        *user_commands(screen),
    )
    names = {name for command in app_commands for name in (command.name, *command.aliases)}
    assert set(APP_COMMAND_ALTERNATIVES) == names - ENGINE_COMMANDS


def test_sentences_and_paths_are_prompts() -> None:
    for text in ("model", "/", "/models", "/login returns 500", "/home/ann"):
        assert app_only_error(None, text) is None, text
    assert app_only_error(None, ()) is None
