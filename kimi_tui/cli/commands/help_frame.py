"""What typer says of its own accord around the help of a subcommand, in the user's language."""

from collections.abc import Sequence
from typing import Any

from kimi_tui.language.saying import later, retell, say

_ASKING = ("-h", "--help")
_USAGE = "Usage:"
_FRAME = {
    "OPTIONS_PANEL_TITLE": later("Options"),
    "ARGUMENTS_PANEL_TITLE": later("Arguments"),
    "COMMANDS_PANEL_TITLE": later("Commands"),
    "DEFAULT_STRING": later("[default: {}]"),
    "REQUIRED_LONG_STRING": later("[required]"),
}
"""Typer's names for its words, which it takes from its own catalogue when it is imported."""


def retell_help(command: Any, arguments: Sequence[str]) -> None:
    """Have the help of a command, its options and its subcommands in the user's language."""
    if len(arguments) == 1 or set(_ASKING).intersection(arguments):
        from typer import rich_utils  # rich, which only the help needs

        for name, words in _FRAME.items():
            setattr(rich_utils, name, say(words))
    _retell(command)


def _retell(command: Any) -> None:
    paragraphs = (command.help or "").split("\n\n")
    command.help = "\n\n".join(retell(paragraph.replace("\n", " ")) for paragraph in paragraphs)
    for parameter in command.params:
        if getattr(parameter, "help", None):
            parameter.help = retell(parameter.help)
        _hide_type(parameter)
    usage, help_option = command.get_usage, command.get_help_option

    def told_usage(context: Any) -> str:
        return str(usage(context)).replace(_USAGE, say(_USAGE), 1)

    def told_help_option(context: Any) -> Any:
        if (option := help_option(context)) is not None:
            option.help = say("Show this and end.")
            _hide_type(option)
        return option

    command.get_usage, command.get_help_option = told_usage, told_help_option
    for inner in getattr(command, "commands", {}).values():
        _retell(inner)


def _hide_type(parameter: Any) -> None:
    """Show no type beside a flag, which takes no value."""
    if getattr(parameter, "is_flag", False):
        parameter.display_type_rich = lambda **_: None
