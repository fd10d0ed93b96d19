"""Questions asked in the terminal before the app opens."""

import time
from pathlib import Path

from kimi_tui.base.errors import ConfigError, KimiTuiError, UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.cli.run_paths import RunPaths
from kimi_tui.config.config_source import ConfigSource
from kimi_tui.config.project_config import summarize_settings
from kimi_tui.config.project_mcp import summarize_servers
from kimi_tui.config.project_trust import ProjectTrust
from kimi_tui.i18n.translate import translate_error, translate_message

_MAX_SESSIONS = 15


def ask_for_trust(project: ConfigSource, data_dir: Path, *, project_error: ConfigError | None = None) -> bool:
    """Return whether the user trusts the project's config. Trust is stored for the current content only.

    With `project_error` the config is unusable: the error is printed and no question asked.
    """
    if project_error is not None:
        _print_line(translate_error(project_error))
        _print_line("The project's settings are ignored.")
        return False
    _print_line(msg("This project has its own settings in {file}:", file=project.name))
    for line in summarize_settings(project.data):
        _print_line(f"  {line}")
    _print_line("They can allow or run commands without asking.")
    if not confirm("Trust these settings"):
        _print_line("Settings ignored. You'll be asked again next time.")
        return False
    _save_trust(project, data_dir)
    return True


def ask_for_mcp_trust(project: ConfigSource, data_dir: Path) -> None:
    """Ask whether to trust the project's MCP servers. Trust is stored for the current content only."""
    _print_line(msg("This project has its own MCP servers in {file}:", file=project.name))
    for line in summarize_servers(project):
        _print_line(f"  {line}")
    _print_line("They can run programs and connect to services.")
    if not confirm("Trust these servers"):
        _print_line("Servers ignored. You'll be asked again next time.")
    else:
        _save_trust(project, data_dir)


def offer_import(data_dir: Path) -> None:
    """Offer to import data from Kimi CLI, if there is any."""
    from kimi_tui.history.kimi_cli.data_dir import default_data_dir  # cheap: checks a few file names

    kimi_cli_dir = default_data_dir()
    if kimi_cli_dir is None:
        return
    _print_line(msg("Found settings and sessions of Kimi CLI in {path}.", path=kimi_cli_dir.folder))
    if not confirm("Import a copy of its config, MCP servers, input history and sessions"):
        _print_line("Nothing imported. To import later, run `kimi-tui import`.")
        return
    from kimi_tui.cli.commands.import_kimi_cli import print_report
    from kimi_tui.cli.kimi_cli.importer import import_all

    report = import_all(kimi_cli_dir, data_dir)
    print_report(report)
    if report.problems or report.follow_ups:
        _prompt("Press enter to continue.")


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
        _print_line(f"{number:3}  {when}  {session.title}")
    while True:
        answer = _prompt(msg("Which session (1-{count}, enter for 1)? ", count=len(sessions))) or "1"
        if answer.isdecimal() and 1 <= int(answer) <= len(sessions):
            return sessions[int(answer) - 1].id


def _save_trust(project: ConfigSource, data_dir: Path) -> None:
    try:
        ProjectTrust(data_dir).trust(Path(project.name), project.text)
    except OSError as error:
        raise KimiTuiError(
            msg("Can't save your answer: {reason}.", reason=error.strerror or error),
            hint="Make the data directory writable, or set KIMI_SHARE_DIR.",
        ) from error


def confirm(question: str) -> bool:
    """Return whether the user answers yes. Anything else means no."""
    return _prompt(f"{translate_message(question)} [y/N]? ").lower() in ("y", "yes")


def _prompt(question: str) -> str:
    try:
        return input(translate_message(question)).strip()
    except EOFError:
        raise KeyboardInterrupt from None


def _print_line(line: str) -> None:
    print(" ".join(sanitize(translate_message(line)).split("\n")))  # noqa: T201
