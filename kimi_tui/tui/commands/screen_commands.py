"""Table of the screen's commands."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.tui.commands.builtin import COMMANDS
from kimi_tui.tui.commands.fleet import FLEET_COMMANDS
from kimi_tui.tui.commands.model_setup import SETUP_COMMANDS
from kimi_tui.tui.commands.modes import MODE_COMMANDS
from kimi_tui.tui.commands.sessions import SESSION_COMMANDS
from kimi_tui.tui.commands.timeline import TIMELINE_COMMANDS
from kimi_tui.tui.commands.ui_command import UiCommand
from kimi_tui.tui.commands.user import USER_COMMANDS
from kimi_tui.tui.themes import theme_names

SCREEN_COMMANDS = (
    *COMMANDS,
    *SETUP_COMMANDS,
    *MODE_COMMANDS,
    *TIMELINE_COMMANDS,
    *SESSION_COMMANDS,
    *FLEET_COMMANDS,
    *USER_COMMANDS,
)
"""All commands that are run by the screen rather than by the engine."""


def add_theme_names(commands: Sequence[UiCommand], data_dir: Path) -> tuple[UiCommand, ...]:
    """Return `commands`, with the names of the user's themes among the values of the theme command."""

    def choices(_: SessionViewState) -> tuple[str, ...]:
        return theme_names(data_dir)

    return tuple(replace(it, choices=choices) if it.name == "theme" else it for it in commands)
