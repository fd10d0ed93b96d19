"""Errors for app commands in other front ends."""

from kimi_tui.frontend.text.app_commands import APP_COMMAND_ALTERNATIVES, app_only_error
from kimi_tui.tui.commands.screen_commands import SCREEN_COMMANDS

ENGINE_COMMANDS = {
    "clear",
    "compact",
    "cost",
    "status",
    "usage",
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
    "bisect",
    "review",
    "attempts",
    "mcp",
    "export",
    "import",
    "init",
    "context",
    "agents",
}
"""Commands that every session has, with or without the app."""


def test_every_app_command_has_an_alternative() -> None:
    names = {name for command in SCREEN_COMMANDS for name in (command.name, *command.aliases)}
    assert set(APP_COMMAND_ALTERNATIVES) == names - ENGINE_COMMANDS


def test_sentences_and_paths_are_prompts() -> None:
    for text in ("model", "/", "/models", "/login returns 500", "/home/ann"):
        assert app_only_error(None, text) is None, text
    assert app_only_error(None, ()) is None
