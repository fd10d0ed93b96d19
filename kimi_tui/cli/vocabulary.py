"""What can be typed after `kimi-tui`, for whoever lists it: completion in shells and the manual page."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from kimi_tui.cli.command_line import CommandLine, is_positional
from kimi_tui.cli.commands.subcommands import module_of
from kimi_tui.cli.main import SUBCOMMANDS

Takes = Literal["nothing", "text", "file", "folder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option of the main command line."""

    spellings: tuple[str, ...]
    panel: str
    help: str
    takes: Takes
    metavar: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subcommand:
    """A subcommand, and those below it."""

    name: str
    help: str
    below: tuple[tuple[str, str], ...] = ()


def options() -> Iterator[Option]:
    """The options, in the order of the help."""
    for item in fields(CommandLine):
        if is_positional(item):
            continue
        told = item.metadata
        spellings = tuple(told["spellings"])
        kinds = [kind for kind in _kinds(item.type) if kind is not type(None)]
        choices = tuple(choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind))
        if bool in kinds:
            if item.type is not bool:
                spellings += tuple(f"--no-{name[2:]}" for name in spellings if name.startswith("--"))
            takes: Takes = "nothing"
        elif Path in kinds:
            takes = "folder" if told["metavar"] == "DIR" else "file"
        else:
            takes = "text"
        yield Option(
            spellings=spellings,
            panel=told["panel"],
            help=told["help"],
            takes=takes,
            metavar=told["metavar"] or "|".join(choices),
            choices=choices,
        )
    for spellings, help_text in (
        (("-h", "--help"), "Show what is used most, and end."),
        (("--help-all",), "Show every option, and end."),
    ):
        yield Option(spellings=spellings, panel="Settings", help=help_text, takes="nothing")


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """The members of a union, and of what a list holds."""
    if get_origin(annotation) is Literal:
        return (annotation,)
    return get_args(annotation) or (annotation,)


def subcommands() -> Iterator[Subcommand]:
    """The subcommands. Each is imported for it."""
    from typer.main import get_command

    yield Subcommand("acp", "Serve an editor, which starts it.")
    for name in SUBCOMMANDS:
        command: Any = get_command(import_module(f"kimi_tui.cli.commands.{module_of(name)}").app)
        below = tuple((word, _line(one.help)) for word, one in getattr(command, "commands", {}).items())
        yield Subcommand(name, _line(command.help), below)


def _line(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split())
