"""Parser of the command line.

Uses argparse because it runs before the first frame: typer validates each option with pydantic, and importing
that takes as long as importing Textual. Subcommands open no screen and use typer.
"""

import argparse
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import Field, fields
from difflib import get_close_matches
from math import nan
from typing import Any, Literal, NoReturn, get_args, get_origin

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.cli.options import SETTINGS_PANEL, CliOptions, default_of, is_positional
from kimi_tui.i18n.translate import tr, tr_lazy

PROGRAM = "kimi-tui"
_ACP = "acp"
"""Short for `--mode acp`, as in the settings of editors."""
_DESCRIPTION = tr_lazy("A full-screen coding agent for the terminal.")
_USAGE = (
    "%(prog)s [OPTIONS] [PROMPT]\n"
    "       %(prog)s acp|attach|ps|serve|web|sessions|search|why|checkpoints|attempts|agents|mcp|config|"
    "permissions|trust|fleet|import|info|debug|login|logout|completion ..."
)
_EPILOG = tr_lazy(
    "To use the name of a subcommand as the prompt, pass it with -p. If the prompt begins with a dash, put --"
    " before it."
)


def parse(arguments: Sequence[str], *, subcommands: Collection[str] = ()) -> CliOptions | None:
    """Return the parsed options, or None if help was requested and printed.

    The first argument isn't one of the `subcommands`. Raises UsageError, also if a later one is.
    """
    if not arguments:
        return CliOptions()  # the most common case; building a parser takes time
    parser = _Parser(
        prog=PROGRAM,
        usage=_USAGE,
        description=tr(_DESCRIPTION),
        epilog=tr(_EPILOG),
        add_help=False,
        formatter_class=_Help,
        allow_abbrev=False,
    )
    panels: dict[str, Any] = {}
    for item in fields(CliOptions):
        panel = item.metadata["panel"]
        if panel not in panels:
            panels[panel] = parser.add_argument_group(tr(panel))
        _add_option(panels[panel], item)
    panels[SETTINGS_PANEL].add_argument(
        "-h", "--help", action="store_true", help=tr("Show common options and exit.")
    )
    panels[SETTINGS_PANEL].add_argument(
        "--help-all", action="store_true", help=tr("Show all options and exit.")
    )
    options, prompt = _split(arguments)
    if arguments[0] == _ACP:
        options = ["--mode", _ACP, *options[1:]]
    namespace, unknown = parser.parse_known_intermixed_args(options)
    values = vars(namespace)
    if not prompt and values["argument"] == _ACP:
        values |= {"mode": values["mode"] or _ACP, "argument": None}
    elif values["argument"] in subcommands:
        after = ["--", *prompt] if prompt else []
        raise _misplaced_subcommand_error([values["argument"], *unknown, *after])
    if unknown:
        raise parser.unknown_argument_error(" ".join(unknown))
    if values.pop("help_all"):
        parser.print_help()
        return None
    if values.pop("help"):
        from kimi_tui.cli.help_text import acp_help, short_help

        help_text = acp_help(PROGRAM) if values["mode"] == _ACP else short_help(PROGRAM)
        sys.stdout.write(f"{help_text}\n")
        return None
    if prompt:
        parser.check_one_prompt([*filter(None, [values["argument"]]), *prompt])
        values["argument"] = prompt[0]
    return CliOptions(**values)


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments before and after a `--`."""
    if "--" not in arguments:
        return list(arguments), []
    end = list(arguments).index("--")
    return list(arguments[:end]), list(arguments[end + 1 :])


def _misplaced_subcommand_error(arguments: Sequence[str]) -> UsageError:
    command = sanitize_line(" ".join(arguments))
    return UsageError(
        msg("The subcommand “{name}” must come first.", name=arguments[0]),
        hint=msg("Run `{program} {command}`.", program=PROGRAM, command=command),
    )


class _Help(argparse.HelpFormatter):
    """Formatter that puts an option on one line where possible, with its metavar once and help in one
    column.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=34)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"


class _Parser(argparse.ArgumentParser):
    """Parser that raises UsageError with our own messages."""

    def error(self, message: str) -> NoReturn:
        message = sanitize_line(message.removeprefix("argument ").replace("/", " or ", 1)).rstrip(".")
        raise UsageError(
            f"{message}.", hint=msg("Run `{program} --help-all` for a list of options.", program=PROGRAM)
        )

    def check_one_prompt(self, prompts: Sequence[str]) -> None:
        """Check that the prompt is a single argument. Raises UsageError."""
        if len(prompts) > 1:
            raise _several_words_error(" ".join(prompts[1:]))

    def unknown_argument_error(self, arguments: str) -> UsageError:
        """Return the error for arguments that no option accepts."""
        first = arguments.split()[0]
        if not first.startswith("-"):
            return _several_words_error(arguments)
        names = {spelling.lstrip("-"): spelling for spelling in self._option_string_actions}
        near = get_close_matches(
            first.partition("=")[0].lstrip("-"), names, n=1
        )  # leading dashes would make all names similar
        hint = (
            msg("Did you mean {name}?", name=names[near[0]])
            if near
            else msg("Run `{program} --help-all` for a list of options.", program=PROGRAM)
        )
        return UsageError(msg("Unknown option {option}.", option=sanitize_line(first)), hint=hint)


def _several_words_error(rest: str) -> UsageError:
    return UsageError(
        msg("Unexpected argument “{argument}” after the prompt.", argument=sanitize_line(rest)),
        hint=msg('Put quotes around the prompt: {program} "fix the bug".', program=PROGRAM),
    )


def _add_option(group: Any, item: "Field[Any]") -> None:
    metadata = item.metadata
    if is_positional(item):
        group.add_argument(item.name, nargs="?", metavar=metadata["metavar"], help=tr(metadata["help"]))
        return
    arguments: dict[str, Any] = {"dest": item.name, "help": tr(metadata["help"]), "default": default_of(item)}
    if item.type is bool:
        arguments["action"] = "store_true"
    elif item.type == bool | None:
        arguments["action"] = argparse.BooleanOptionalAction
    else:
        value_type = _value_type(item.type)
        arguments["metavar"] = metadata["metavar"]
        if get_origin(value_type) is Literal:
            arguments["choices"] = get_args(value_type)
            arguments["metavar"] = "|".join(get_args(value_type))
        else:
            arguments["type"] = (
                _number_type(value_type, metadata["least"]) if metadata["least"] is not None else value_type
            )
        if metadata["value_optional"]:
            arguments |= {"nargs": "?", "const": ""}
        elif get_origin(item.type) is list:
            arguments["action"] = "append"
    group.add_argument(*metadata["spellings"], **arguments)
    if metadata["aliases"]:
        hidden = {"help": argparse.SUPPRESS, "default": argparse.SUPPRESS}
        group.add_argument(*metadata["aliases"], **{**arguments, **hidden})


def _value_type(annotation: Any) -> Any:
    """Return `T` of `T | None` or of `list[T]`."""
    if get_origin(annotation) is list:
        return get_args(annotation)[0]
    return next((of for of in get_args(annotation) if of is not type(None)), annotation)


def _number_type(of: type, least: float) -> Callable[[str], float]:
    kind = "whole number" if of is int else "number"

    def number(text: str) -> float:
        try:
            value: float = of(text)
        except ValueError:
            value = nan
        if not value >= least:
            raise argparse.ArgumentTypeError(f"“{text}” must be a {kind} of at least {least}")
        return value

    return number
