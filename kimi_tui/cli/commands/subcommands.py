"""Running a subcommand. These are typer's; only the one that was asked for is imported."""

import re
from collections.abc import Sequence
from importlib import import_module

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.cli.commands.help_frame import retell_help
from kimi_tui.language.saying import retell

_IN_A_SESSION = re.compile(r"(?<![\w/.~-])/(checkpoints|branches|revert|undo|redo|switch|sessions)\b(?!/)")
_OF_THE_SHELL = {"checkpoints": "checkpoints list", "sessions": "sessions list"}
"""Where a slash command and the subcommand that does the same differ; the others are of `checkpoints`."""

_MODULES = {"import": "import_kimi_cli"}
"""Where a subcommand's word can't be the name of its module."""


def run_subcommand(arguments: Sequence[str]) -> int:
    """Run what `arguments` name, whose first word is a subcommand. Raises KimiTuiError."""
    app: typer.Typer = import_module(f"kimi_tui.cli.commands.{module_of(arguments[0])}").app
    program = f"kimi-tui {arguments[0]}"
    try:
        command = get_command(app)
        retell_help(command, arguments)
        code = command.main(
            args=list(arguments[1:]),
            prog_name=program,
            standalone_mode=False,
            help_option_names=["-h", "--help"],
        )
    except TyperException as error:
        what = plain_line(error.format_message())
        if not what:  # without a subcommand of its own, the help was shown
            return 2
        end = "" if what.endswith((".", "?", ")")) else "."
        raise UsageError(f"{what}{end}", hint=f"`{program} --help` lists what there is.") from None
    except KimiTuiError as error:
        error.hint = for_shell(retell(error.hint))  # it was written for somebody in a session
        raise
    except SystemExit:  # how typer ends when the reader of stdout has gone
        return ExitCode.PIPE_CLOSED
    except typer.Abort:
        raise KeyboardInterrupt from None
    return code if isinstance(code, int) else 0


def for_shell(hint: str) -> str:
    """`hint` with the subcommands that do what its slash commands do."""

    def subcommand(found: re.Match[str]) -> str:
        name = found[1]
        return f"`kimi-tui {_OF_THE_SHELL.get(name, f'checkpoints {name}')}`"

    return _IN_A_SESSION.sub(subcommand, hint)


def module_of(subcommand: str) -> str:
    """The module under `cli.commands` that holds a subcommand."""
    return _MODULES.get(subcommand, subcommand)


def new_app(help_text: str) -> typer.Typer:
    """A group of commands."""
    return typer.Typer(
        help=help_text, add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False
    )


def say(line: str) -> None:
    """One line on stdout, in the user's language and fit for a terminal."""
    typer.echo(" ".join(plain(retell(line)).split("\n")))
