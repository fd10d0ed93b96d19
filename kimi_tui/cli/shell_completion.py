"""Completion scripts for shells, with options, their values and subcommands."""

import argparse
from collections.abc import Sequence
from typing import Any, Literal

import shtab

from kimi_tui.cli.option_catalog import CliOption, Subcommand

Shell = Literal["bash", "zsh", "fish"]

_COMPLETIONS = {"file": shtab.FILE, "folder": shtab.DIRECTORY}
_ZSH_STARTUP = """\
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit }}
eval "$(cat <<'KIMI_TUI_COMPLETION'
{script}
KIMI_TUI_COMPLETION
)"
"""
"""shtab's script completes a command when it is run, unless by `eval`."""


def completion_script(shell: Shell, options: Sequence[CliOption], subcommands: Sequence[Subcommand]) -> str:
    """Return the script for a shell's startup file."""
    script = shtab.complete(_build_parser(options, subcommands), shell, root_prefix="kimi_tui")
    return _ZSH_STARTUP.format(script=script) if shell == "zsh" else f"{script}\n"


def _build_parser(options: Sequence[CliOption], subcommands: Sequence[Subcommand]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kimi-tui", add_help=False)
    for one in options:
        if one.value_kind == "nothing":
            parser.add_argument(*one.flags, help=one.help, action="store_true")
            continue
        action: Any = parser.add_argument(*one.flags, help=one.help, choices=one.choices or None)
        if one.value_kind in _COMPLETIONS:
            action.complete = _COMPLETIONS[one.value_kind]
    commands = parser.add_subparsers()
    for subcommand in subcommands:
        below = commands.add_parser(subcommand.name, help=subcommand.help, add_help=False)
        if not subcommand.subcommands:
            _add_file_argument(below)
            continue
        commands_below = below.add_subparsers()
        for name, help_text in subcommand.subcommands:
            _add_file_argument(commands_below.add_parser(name, help=help_text, add_help=False))
    return parser


def _add_file_argument(parser: argparse.ArgumentParser) -> None:
    """Offer files as arguments, as shells do by default."""
    action: Any = parser.add_argument("file", nargs="*")
    action.complete = shtab.FILE
