"""Completion of slash command arguments by the engine."""

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.base_command import BaseCommand


@frozen
class CompleteArgument(BaseCommand):
    """Complete the argument of a slash command. The reply is ArgumentChoices."""

    scheduling = "concurrent"

    command: str
    """Name of the command."""
    text: str
    """Argument typed so far."""


@frozen
class ArgumentChoices:
    """Reply to CompleteArgument. Not in kimi-cli."""

    command: str
    text: str
    """Text of the request."""
    choices: tuple[str, ...] = ()
    """Replacements for `text`, best first."""
