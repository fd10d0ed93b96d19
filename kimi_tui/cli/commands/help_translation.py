"""Translation of a subcommand's help, including typer's own texts."""

from collections.abc import Sequence
from typing import Any

from kimi_tui.i18n.translate import tr, tr_lazy, translate_message

_HELP_FLAGS = ("-h", "--help")
_USAGE = "Usage:"
_TRANSLATED_TEXTS = {
    "OPTIONS_PANEL_TITLE": tr_lazy("Options"),
    "ARGUMENTS_PANEL_TITLE": tr_lazy("Arguments"),
    "COMMANDS_PANEL_TITLE": tr_lazy("Commands"),
    "DEFAULT_STRING": tr_lazy("[default: {}]"),
    "REQUIRED_LONG_STRING": tr_lazy("[required]"),
}
"""Translations by the names of typer's own texts, which typer sets at import time."""


def translate_help(command: Any, arguments: Sequence[str]) -> None:
    """Translate the help of a command, its options and its subcommands into the interface language."""
    if len(arguments) == 1 or set(_HELP_FLAGS).intersection(arguments):
        from typer import rich_utils  # imports rich, which only help needs

        for name, text in _TRANSLATED_TEXTS.items():
            setattr(rich_utils, name, tr(text))
    _translate_command(command)


def _translate_command(command: Any) -> None:
    paragraphs = (command.help or "").split("\n\n")
    command.help = "\n\n".join(translate_message(paragraph.replace("\n", " ")) for paragraph in paragraphs)
    for parameter in command.params:
        if getattr(parameter, "help", None):
            parameter.help = translate_message(parameter.help)
        _hide_type(parameter)
    usage, help_option = command.get_usage, command.get_help_option

    def format_usage(context: Any) -> str:
        return str(usage(context)).replace(_USAGE, tr(_USAGE), 1)

    def build_help_option(context: Any) -> Any:
        if (option := help_option(context)) is not None:
            option.help = tr("Show this help and exit.")
            _hide_type(option)
        return option

    command.get_usage, command.get_help_option = format_usage, build_help_option
    for inner in getattr(command, "commands", {}).values():
        _translate_command(inner)


def _hide_type(parameter: Any) -> None:
    """Show no type next to a flag, since it takes no value."""
    if getattr(parameter, "is_flag", False):
        parameter.display_type_rich = lambda **_: None
