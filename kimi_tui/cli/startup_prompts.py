"""Questions asked in the terminal before the app opens."""

import contextlib
import time
from pathlib import Path

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.cli.run_paths import RunPaths
from kimi_tui.i18n.translate import translate_message

_MAX_SESSIONS = 15


def offer_import(data_dir: Path) -> None:
    """Offer to import data from Kimi CLI, if there is any."""
    from kimi_tui.history.kimi_cli.data_dir import default_data_dir  # cheap: checks a few file names

    kimi_cli_dir = default_data_dir()
    if kimi_cli_dir is None:
        return
    print_safely(msg("Found settings and sessions of Kimi CLI in {path}.", path=kimi_cli_dir.folder))
    if not confirm("Import a copy of its config, MCP servers, input history and sessions"):
        print_safely("Nothing imported. To import later, run `kimi-tui import`.")
        return
    from kimi_tui.cli.commands.import_kimi_cli import print_report
    from kimi_tui.cli.kimi_cli.importer import import_all

    report = import_all(kimi_cli_dir, data_dir)
    print_report(report)
    if report.problems or report.follow_ups:
        ask("Press enter to continue.")


def ask_for_session(paths: RunPaths) -> str:
    """Return the ID of the session that the user chooses for the working directory. Raises UsageError."""
    from kimi_tui.history.session import SessionStore

    sessions = SessionStore(paths.data_dir).list(paths.work_dir)[:_MAX_SESSIONS]
    if not sessions:
        raise UsageError(
            msg("No sessions in {work_dir}.", work_dir=paths.work_dir), hint="Start one without --session."
        )
    for number, session in enumerate(sessions, 1):
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(session.updated))
        print_safely(f"{number:3}  {when}  {session.title}")
    while True:
        answer = ask(msg("Which session (1-{count}, enter for 1)? ", count=len(sessions))) or "1"
        if answer.isdecimal() and 1 <= int(answer) <= len(sessions):
            return sessions[int(answer) - 1].id


def confirm(question: str) -> bool:
    """Return whether the user answers yes. Anything else means no."""
    return ask(f"{translate_message(question)} [y/N]? ").lower() in ("y", "yes")


def ask(question: str) -> str:
    """Return the answer to a question. Raises KeyboardInterrupt at the end of input."""
    with contextlib.suppress(ImportError):
        import readline  # edits the line; without it, the terminal echoes escape and the arrows as ^[

        readline.set_auto_history(False)
    try:
        return input(translate_message(question)).strip()
    except EOFError:
        raise KeyboardInterrupt from None


def print_safely(line: str) -> None:
    """Print a line of text that may come from a file."""
    print(" ".join(sanitize(translate_message(line)).split("\n")))  # noqa: T201
