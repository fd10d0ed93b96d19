"""Catalog of options and subcommands for shell completion and the manual page."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from kimi_tui.cli.commands.runner import module_of
from kimi_tui.cli.main import SUBCOMMANDS
from kimi_tui.cli.options import CliOptions, is_positional

ValueKind = Literal["nothing", "text", "file", "folder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CliOption:
    """An option of the main command line."""

    flags: tuple[str, ...]
    panel: str
    help: str
    value_kind: ValueKind
    metavar: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subcommand:
    """A subcommand and its own subcommands, as (name, help) pairs."""

    name: str
    help: str
    subcommands: tuple[tuple[str, str], ...] = ()


def options() -> Iterator[CliOption]:
    """Yield the options in the order of the help."""
    for item in fields(CliOptions):
        if is_positional(item):
            continue
        metadata = item.metadata
        spellings = tuple(metadata["spellings"])
        kinds = [kind for kind in _type_members(item.type) if kind is not type(None)]
        choices = tuple(choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind))
        if bool in kinds:
            if item.type is not bool:
                spellings += tuple(f"--no-{name[2:]}" for name in spellings if name.startswith("--"))
            value_kind: ValueKind = "nothing"
        elif Path in kinds:
            value_kind = "folder" if metadata["metavar"] == "DIR" else "file"
        else:
            value_kind = "text"
        yield CliOption(
            flags=spellings,
            panel=metadata["panel"],
            help=metadata["help"],
            value_kind=value_kind,
            metavar=metadata["metavar"] or "|".join(choices),
            choices=choices,
        )
    for spellings, help_text in (
        (("-h", "--help"), "Show common options and exit."),
        (("--help-all",), "Show all options and exit."),
    ):
        yield CliOption(flags=spellings, panel="Settings", help=help_text, value_kind="nothing")


def _type_members(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the item type of a list."""
    if get_origin(annotation) is Literal:
        return (annotation,)
    return get_args(annotation) or (annotation,)


def subcommands() -> Iterator[Subcommand]:
    """Yield the subcommands. Imports each one."""
    from typer.main import get_command

    yield Subcommand("acp", "Serve an editor over ACP.")
    for name in SUBCOMMANDS:
        command: Any = get_command(import_module(f"kimi_tui.cli.commands.{module_of(name)}").app)
        below = tuple((word, _line(one.help)) for word, one in getattr(command, "commands", {}).items())
        yield Subcommand(name, _line(command.help), below)


def _line(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split())
