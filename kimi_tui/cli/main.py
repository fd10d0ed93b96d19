"""Process entry point: dispatches to a front end or subcommand and turns errors into messages and exit
codes.
"""

import sys
from collections.abc import Sequence

from kimi_tui.version import __version__

SUBCOMMANDS = (
    "attach",
    "ps",
    "serve",
    "web",
    "sessions",
    "search",
    "why",
    "checkpoints",
    "attempts",
    "agents",
    "mcp",
    "config",
    "permissions",
    "fleet",
    "trust",
    "import",
    "info",
    "debug",
    "completion",
    "login",
    "logout",
)
_HELP = {"-h", "--help", "--help-all"}


def run() -> None:
    """Run the program with the process's arguments and exit."""
    _require_utf8()
    try:
        code = main(sys.argv[1:])
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        code = _exit_on_broken_pipe()
    sys.exit(code)


def _require_utf8() -> None:
    """Start again in UTF-8 mode if the locale's encoding is ASCII, which can't represent most prompts."""
    if sys.getfilesystemencoding() not in ("ascii", "us-ascii"):
        return
    import os

    interpreter, *rest = sys.orig_argv
    os.execv(sys.executable, [interpreter, "-X", "utf8", *rest])  # the option overrides PYTHONUTF8


def main(arguments: Sequence[str]) -> int:
    """Run the program and return its exit code."""
    if list(arguments) in (["--version"], ["-V"]):
        sys.stdout.write(f"kimi-tui {__version__}\n")
        return 0
    from kimi_tui.base.errors import KimiTuiError

    try:
        return _dispatch(arguments)
    except KimiTuiError as error:
        from kimi_tui.cli.error_report import print_error

        return print_error(error, arguments)
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 (process entry point; `print_crash` logs it)
        from kimi_tui.cli.error_report import print_crash

        return print_crash(error, arguments)


def _dispatch(arguments: Sequence[str]) -> int:
    from kimi_tui.i18n.translate import set_language

    set_language("auto")  # until the settings are read
    if (arguments and arguments[0] in SUBCOMMANDS) or _HELP.intersection(arguments):
        from kimi_tui.cli.language_setup import set_language_from_config

        set_language_from_config()
    if arguments and arguments[0] in SUBCOMMANDS:
        from kimi_tui.cli.commands.runner import run_subcommand

        return run_subcommand(arguments)
    from kimi_tui.cli.parser import parse

    cli_options = parse(arguments, subcommands=SUBCOMMANDS)
    if cli_options is None:
        return 0
    if cli_options.version:
        sys.stdout.write(f"kimi-tui {__version__}\n")
        return 0
    if cli_options.is_acp_mode:
        from kimi_tui.cli.run_acp import run_acp_mode

        return run_acp_mode(cli_options)
    if cli_options.is_wire_mode:
        from kimi_tui.cli.run_wire import run_wire_mode

        return run_wire_mode(cli_options)
    if cli_options.is_print_mode and cli_options.daemon:
        from kimi_tui.cli.run_daemon import run_daemon_mode

        return run_daemon_mode(cli_options)
    from kimi_tui.base.gc_control import pause_gc

    pause_gc()  # until the engine is open
    if cli_options.is_print_mode:
        from kimi_tui.cli.run_print import run_print_mode

        return run_print_mode(cli_options)
    from kimi_tui.cli.run_tui import run_tui_mode

    return run_tui_mode(cli_options)


def _exit_on_broken_pipe() -> int:
    """Discard buffered output, so that the interpreter doesn't report an error. Return the exit code."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141
