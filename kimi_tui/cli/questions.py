"""Questions that are asked on the plain terminal, before the app opens."""

import time
from pathlib import Path

from kimi_tui.base.errors import ConfigError, KimiTuiError, UsageError
from kimi_tui.base.terminal import plain
from kimi_tui.cli.places import Places
from kimi_tui.config.project import summary_of
from kimi_tui.config.project_mcp import summary_of_servers
from kimi_tui.config.source import Source
from kimi_tui.config.trust import Trust
from kimi_tui.language.errors import told
from kimi_tui.language.saying import retell

_MOST_SESSIONS = 15


def ask_for_trust(project: Source, share_dir: Path, *, fault: ConfigError | None = None) -> bool:
    """Whether the user trusts the project's config as it is now. A yes is remembered.

    One with a `fault` can't be used: that is said in place of a question.
    """
    if fault is not None:
        _say(told(fault))
        _say("The project's settings are left out.")
        return False
    _say(f"This project brings its own settings, {project.name}:")
    for line in summary_of(project.data):
        _say(f"  {line}")
    if not yes("Use them? They may allow or run commands without asking"):
        _say("They are left out. You will be asked again next time.")
        return False
    _grant(project, share_dir)
    return True


def ask_for_mcp_trust(project: Source, share_dir: Path) -> None:
    """Ask whether the user trusts the MCP servers of the project, as its file is now. A yes is remembered."""
    _say(f"This project brings its own MCP servers, {project.name}:")
    for line in summary_of_servers(project):
        _say(f"  {line}")
    if not yes("Start them? They are programs and services that somebody else chose"):
        _say("They are left out. You will be asked again next time.")
    else:
        _grant(project, share_dir)


def offer_import(share_dir: Path) -> None:
    """At the first start: bring over what Kimi CLI left, when it did and the user says yes."""
    from kimi_tui.cli.kimi_cli.share import usual_share  # found by a look at a few names

    share = usual_share()
    if share is None:
        return
    _say(f"Kimi CLI has worked here: {share.folder} holds its settings and sessions.")
    if not yes("Bring config, MCP servers, input history and sessions over? Nothing there changes"):
        _say("Nothing was brought over. `kimi-tui import` does it later.")
        return
    from kimi_tui.cli.commands.import_kimi_cli import tell
    from kimi_tui.cli.kimi_cli.bringing import bring_over

    account = bring_over(share, share_dir)
    tell(account)
    if account.problems or account.to_do:
        _asked("Press enter to go on.")


def ask_for_session(places: Places) -> str:
    """The ID of the session that the user chooses among those of the work dir. Raises UsageError."""
    from kimi_tui.history.session import SessionStore

    sessions = SessionStore(places.share_dir).list(places.work_dir)[:_MOST_SESSIONS]
    if not sessions:
        raise UsageError(
            f"No session was held in {places.work_dir} yet.", hint="Start one without --session."
        )
    for number, session in enumerate(sessions, 1):
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(session.updated))
        _say(f"{number:3}  {when}  {session.title}")
    while True:
        answer = _asked(f"Which session (1-{len(sessions)}, enter for 1)? ") or "1"
        if answer.isdecimal() and 1 <= int(answer) <= len(sessions):
            return sessions[int(answer) - 1].id


def _grant(project: Source, share_dir: Path) -> None:
    try:
        Trust(share_dir).grant(Path(project.name), project.text)
    except OSError as error:
        raise KimiTuiError(
            f"The answer can't be kept: {error.strerror or error}.",
            hint="Make the share folder writable, or set KIMI_SHARE_DIR.",
        ) from error


def yes(question: str) -> bool:
    """Whether the user says yes; anything else is a no."""
    return _asked(f"{retell(question)} [y/N]? ").lower() in ("y", "yes")


def _asked(question: str) -> str:
    try:
        return input(retell(question)).strip()
    except EOFError:
        raise KeyboardInterrupt from None


def _say(line: str) -> None:
    print(" ".join(plain(retell(line)).split("\n")))  # noqa: T201
