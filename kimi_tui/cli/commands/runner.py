"""Runner of subcommands. Imports only the requested one."""

import re
from collections.abc import Sequence
from importlib import import_module

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.cli.commands.help_translation import translate_help
from kimi_tui.i18n.translate import translate_message

_SLASH_COMMAND = re.compile(r"(?<![\w/.~-])/(checkpoints|branches|revert|undo|redo|switch|sessions)\b(?!/)")
_SHELL_EQUIVALENTS = {"checkpoints": "checkpoints list", "sessions": "sessions list"}
"""Subcommands of slash commands that don't have the same name under `checkpoints`."""

_ATTEMPT_OPTION = re.compile(r"(?<![\w/.~-])/attempts --(list|show|adopt|discard)\b")

_MODULES = {"import": "import_kimi_cli"}
"""Modules of subcommands whose names aren't valid module names."""


def run_subcommand(arguments: Sequence[str]) -> int:
    """Run the subcommand that `arguments` begins with. Return the exit code. Raises KimiTuiError."""
    app: typer.Typer = import_module(f"kimi_tui.cli.commands.{module_of(arguments[0])}").app
    program = f"kimi-tui {arguments[0]}"
    try:
        command = get_command(app)
        translate_help(command, arguments)
        code = command.main(
            args=list(arguments[1:]),
            prog_name=program,
            standalone_mode=False,
            help_option_names=["-h", "--help"],
        )
    except TyperException as error:
        what = sanitize_line(error.format_message())
        if not what:  # no nested subcommand given: typer has printed the help
            return 2
        end = "" if what.endswith((".", "?", ")")) else "."
        raise UsageError(
            f"{what}{end}", hint=msg("Run `{program} --help` for usage.", program=program)
        ) from None
    except KimiTuiError as error:
        error.hint = to_shell_hint(translate_message(error.hint))  # written for the app
        raise
    except SystemExit:  # typer's reaction to a closed stdout
        return ExitCode.PIPE_CLOSED
    except typer.Abort:
        raise KeyboardInterrupt from None
    return code if isinstance(code, int) else 0


def to_shell_hint(hint: str) -> str:
    """Return `hint` with slash commands replaced by the equivalent subcommands."""

    def subcommand(found: re.Match[str]) -> str:
        name = found[1]
        return f"`kimi-tui {_SHELL_EQUIVALENTS.get(name, f'checkpoints {name}')}`"

    return _SLASH_COMMAND.sub(subcommand, _ATTEMPT_OPTION.sub(r"`kimi-tui attempts \1`", hint))


def module_of(subcommand: str) -> str:
    """Return the module under `cli.commands` that contains a subcommand."""
    return _MODULES.get(subcommand, subcommand)


def new_app(help_text: str) -> typer.Typer:
    """Return a group of commands."""
    return typer.Typer(
        help=help_text, add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False
    )


def print_line(line: str) -> None:
    """Print one line, translated and safe for the terminal."""
    typer.echo(_one_line(line))


def print_note(line: str) -> None:
    """Print one line like `print_line`, but to standard error, for the user and not for scripts."""
    typer.echo(_one_line(line), err=True)


def _one_line(line: str) -> str:
    return " ".join(sanitize(translate_message(line)).split("\n"))
