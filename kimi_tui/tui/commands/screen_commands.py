"""Table of the screen's commands."""

from kimi_tui.tui.commands.builtin import COMMANDS
from kimi_tui.tui.commands.fleet import FLEET_COMMANDS
from kimi_tui.tui.commands.model_setup import SETUP_COMMANDS
from kimi_tui.tui.commands.modes import MODE_COMMANDS
from kimi_tui.tui.commands.sessions import SESSION_COMMANDS
from kimi_tui.tui.commands.timeline import TIMELINE_COMMANDS
from kimi_tui.tui.commands.user import USER_COMMANDS

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
