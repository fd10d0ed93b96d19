"""From what was typed to a CommandLine.

The standard library's parser, since it is on the path to the first frame: typer validates each option with
pydantic, which costs as much again as Textual does. The subcommands, which open no screen, are typer's.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from difflib import get_close_matches
from math import nan
from typing import Any, Literal, NoReturn, get_args, get_origin

from kimi_tui.base.errors import UsageError
from kimi_tui.base.terminal import plain_line
from kimi_tui.cli.command_line import SETTINGS_PANEL, CommandLine, default_of, is_positional
from kimi_tui.language.saying import later, say

PROGRAM = "kimi-tui"
_ACP = "acp"
"""As the first word it is short for `--mode acp`: editors' settings read so."""
_DESCRIPTION = later("A full-screen terminal coding agent with safe time travel.")
_USAGE = (
    "%(prog)s [OPTIONS] [PROMPT]\n"
    "       %(prog)s acp|sessions|checkpoints|agents|mcp|config|import|info|login|logout|completion ..."
)
_EPILOG = later(
    "A prompt that is one of the words acp, sessions, checkpoints, agents, mcp, config, import, info, login,"
    " logout and completion goes after -p; one that begins with a dash, after --."
)


def parse(arguments: Sequence[str]) -> CommandLine | None:
    """The command line; None when help was asked for and shown. Raises UsageError."""
    if not arguments:
        return CommandLine()  # how most runs begin, without the price of a parser
    parser = _Parser(
        prog=PROGRAM,
        usage=_USAGE,
        description=say(_DESCRIPTION),
        epilog=say(_EPILOG),
        add_help=False,
        formatter_class=_Help,
        allow_abbrev=False,
    )
    panels: dict[str, Any] = {}
    for item in fields(CommandLine):
        panel = item.metadata["panel"]
        if panel not in panels:
            panels[panel] = parser.add_argument_group(say(panel))
        _add(panels[panel], item)
    panels[SETTINGS_PANEL].add_argument(
        "-h", "--help", action="store_true", help=say("Show what is used most, and end.")
    )
    panels[SETTINGS_PANEL].add_argument("--help-all", action="store_true", help=say("Show this and end."))
    if arguments and arguments[0] == _ACP:
        arguments = ["--mode", _ACP, *arguments[1:]]
    options, prompt = _split(arguments)
    values = vars(parser.parse_intermixed_args(options))
    if values.pop("help_all"):
        parser.print_help()
        return None
    if values.pop("help"):
        from kimi_tui.cli.help import acp_help, short_help

        told = acp_help(PROGRAM) if values["mode"] == _ACP else short_help(PROGRAM)
        sys.stdout.write(f"{told}\n")
        return None
    if prompt:
        parser.check_one_prompt([*filter(None, [values["argument"]]), *prompt])
        values["argument"] = prompt[0]
    return CommandLine(**values)


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """What stands before and after a `--`."""
    if "--" not in arguments:
        return list(arguments), []
    end = list(arguments).index("--")
    return list(arguments[:end]), list(arguments[end + 1 :])


class _Help(argparse.HelpFormatter):
    """An option a line where that is possible: its value is named once, and help begins in one column."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=34)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"


class _Parser(argparse.ArgumentParser):
    """Tells what is wrong in our words."""

    def error(self, message: str) -> NoReturn:
        name, _, problem = message.partition("unrecognized arguments: ")
        if not name and problem:
            raise self._unknown(problem)
        message = plain_line(message.removeprefix("argument ").replace("/", " or ", 1)).rstrip(".")
        raise UsageError(f"{message}.", hint=f"`{PROGRAM} --help-all` lists the options.")

    def check_one_prompt(self, words: Sequence[str]) -> None:
        """Raises UsageError for a prompt in several words."""
        if len(words) > 1:
            raise _several_words(" ".join(words[1:]))

    def _unknown(self, words: str) -> UsageError:
        first = words.split()[0]
        if not first.startswith("-"):
            return _several_words(words)
        names = {spelling.lstrip("-"): spelling for spelling in self._option_string_actions}
        near = get_close_matches(first.partition("=")[0].lstrip("-"), names, n=1)  # dashes are alike in all
        hint = f"Did you mean {names[near[0]]}?" if near else f"`{PROGRAM} --help-all` lists the options."
        return UsageError(f"There is no option {plain_line(first)}.", hint=hint)


def _several_words(rest: str) -> UsageError:
    return UsageError(
        f"“{plain_line(rest)}” comes after the prompt.",
        hint=f'Put a prompt of several words in quotes: {PROGRAM} "fix the bug".',
    )


def _add(group: Any, item: "Field[Any]") -> None:
    told = item.metadata
    if is_positional(item):
        group.add_argument(item.name, nargs="?", metavar=told["metavar"], help=say(told["help"]))
        return
    how: dict[str, Any] = {"dest": item.name, "help": say(told["help"]), "default": default_of(item)}
    if item.type is bool:
        how["action"] = "store_true"
    elif item.type == bool | None:
        how["action"] = argparse.BooleanOptionalAction
    else:
        value_type = _value_type(item.type)
        how["metavar"] = told["metavar"]
        if get_origin(value_type) is Literal:
            how["choices"] = get_args(value_type)
            how["metavar"] = "|".join(get_args(value_type))
        else:
            how["type"] = _at_least(value_type, told["least"]) if told["least"] is not None else value_type
        if told["value_optional"]:
            how |= {"nargs": "?", "const": ""}
        elif get_origin(item.type) is list:
            how["action"] = "append"
    group.add_argument(*told["spellings"], **how)


def _value_type(annotation: Any) -> Any:
    """`T` of `T | None` and of `list[T]`."""
    if get_origin(annotation) is list:
        return get_args(annotation)[0]
    return next((of for of in get_args(annotation) if of is not type(None)), annotation)


def _at_least(of: type, least: float) -> Callable[[str], float]:
    kind = "whole number" if of is int else "number"

    def number(text: str) -> float:
        try:
            value: float = of(text)
        except ValueError:
            value = nan
        if not value >= least:
            raise argparse.ArgumentTypeError(f"“{text}” should be a {kind} of at least {least}")
        return value

    return number
