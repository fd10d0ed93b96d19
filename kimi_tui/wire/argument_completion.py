"""Completion of slash command arguments by the engine."""

from kimi_tui.base.frozen import frozen


@frozen
class CompleteArgument:
    """Complete the argument of a slash command. The reply is ArgumentChoices."""

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
    """Replacements for the text, best first."""
