"""What programs are told who use a command of the app."""

from typing import Any, cast

from kimi_tui.tui.commands.builtin import COMMANDS
from kimi_tui.tui.commands.modes import MODE_COMMANDS
from kimi_tui.tui.commands.personal import personal_commands
from kimi_tui.tui.commands.sessions import session_commands
from kimi_tui.tui.commands.setting_up import SETUP_COMMANDS
from kimi_tui.tui.commands.time_travel import TIMELINE_COMMANDS
from kimi_tui.words.app_commands import INSTEAD, meant_for_app

ENGINES = {
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
"""What every session understands, app or not."""


class Anything:
    """A screen of which nothing is asked."""

    def __getattr__(self, name: str) -> "Anything":
        return self


def test_every_command_that_only_the_app_has_says_what_does_the_same() -> None:
    acts = cast("Any", Anything())
    of_app = (
        *COMMANDS,
        *SETUP_COMMANDS,
        *MODE_COMMANDS,
        *TIMELINE_COMMANDS,
        *session_commands(acts),
        *personal_commands(acts),
    )
    names = {name for command in of_app for name in (command.name, *command.aliases)}
    assert set(INSTEAD) == names - ENGINES


def test_sentences_and_parts_are_prompts() -> None:
    for said in ("model", "/", "/models", "/login returns 500", "/home/ann"):
        assert meant_for_app(None, said) is None, said
    assert meant_for_app(None, ()) is None
