"""Completing what is typed after a slash command, where only the engine knows what it may become."""

from kimi_tui.base.value import value


@value
class CompleteArgument:
    """Say what a slash command's argument may become: ArgumentChoices come back."""

    command: str
    """Its name."""
    text: str
    """What is typed so far behind the name."""


@value
class ArgumentChoices:
    """Ours: the answer to CompleteArgument."""

    command: str
    text: str
    """As it was asked for."""
    choices: tuple[str, ...] = ()
    """What may stand in the text's place, best first."""
