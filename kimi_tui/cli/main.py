"""The process entry: picks what to run, and turns every error into a sentence and an exit code."""

import sys
from collections.abc import Sequence

from kimi_tui import __version__

SUBCOMMANDS = (
    "sessions",
    "checkpoints",
    "agents",
    "mcp",
    "config",
    "import",
    "info",
    "completion",
    "login",
    "logout",
)
_HELP = {"-h", "--help", "--help-all"}


def run() -> None:
    """Run the program with the process's arguments, and end the process."""
    try:
        code = main(sys.argv[1:])
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        code = _reader_has_gone()
    sys.exit(code)


def main(arguments: Sequence[str]) -> int:
    """Run the program and return its exit code."""
    if list(arguments) in (["--version"], ["-V"]):
        sys.stdout.write(f"kimi-tui {__version__}\n")
        return 0
    from kimi_tui.base.errors import KimiTuiError

    try:
        return _dispatch(arguments)
    except KimiTuiError as error:
        from kimi_tui.cli.failures import tell

        return tell(error, arguments)
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 (the process entry: it is logged there)
        from kimi_tui.cli.failures import tell_unexpected

        return tell_unexpected(error, arguments)


def _dispatch(arguments: Sequence[str]) -> int:
    from kimi_tui.language.saying import speak

    speak("auto")  # until the settings are read
    if (arguments and arguments[0] in SUBCOMMANDS) or _HELP.intersection(arguments):
        from kimi_tui.cli.tongue import speak_as_configured

        speak_as_configured()
    if arguments and arguments[0] in SUBCOMMANDS:
        from kimi_tui.cli.commands.subcommands import run_subcommand

        return run_subcommand(arguments)
    from kimi_tui.cli.parsing import parse

    line = parse(arguments)
    if line is None:
        return 0
    if line.version:
        sys.stdout.write(f"kimi-tui {__version__}\n")
        return 0
    if line.is_acp_mode:
        from kimi_tui.cli.acp_front import run_acp_front

        return run_acp_front(line)
    if line.is_wire_mode:
        from kimi_tui.cli.wire_front import run_wire_front

        return run_wire_front(line)
    if line.is_print_mode and line.daemon:
        from kimi_tui.cli.daemon_front import run_daemon_front

        return run_daemon_front(line)
    from kimi_tui.base.collection import put_off_collection

    put_off_collection()  # until the engine is open
    if line.is_print_mode:
        from kimi_tui.cli.print_front import run_print_front

        return run_print_front(line)
    from kimi_tui.cli.screen_front import run_screen_front

    return run_screen_front(line)


def _reader_has_gone() -> int:
    """Quietly: what is still buffered goes nowhere."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141
