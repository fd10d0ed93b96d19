"""Actions of the user commands on the open screen."""

import os
import platform
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.screen import Screen

from kimi_tui.base.logging import log_path, log_tail
from kimi_tui.frontend.image_loader import load_image_file
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.user import UserActions
from kimi_tui.tui.dialogs.agents import AgentsDialog
from kimi_tui.tui.dialogs.pager import Pager
from kimi_tui.tui.dialogs.sessions import SessionsDialog
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.prompt.prompt import PromptBox
from kimi_tui.tui.session_request import SessionRequest, SessionRequested
from kimi_tui.tui.terminal.scrollback import PrintRequested
from kimi_tui.tui.terminal.suspend import suspend_to_shell


def build_user_actions(
    *,
    screen: Screen[Any],
    options: TuiOptions,
    key_labels: KeyLabels,
    copy: Callable[[str], None],
    edit_prompt: Callable[[PromptBox], Awaitable[None]],
) -> UserActions:
    """Return the actions for `screen`."""

    def prompt() -> PromptBox:
        return screen.query_one(PromptBox)

    def open_session(request: SessionRequest) -> None:
        screen.app.post_message(SessionRequested(request))

    def print_all() -> None:
        screen.app.post_message(PrintRequested())

    def open_pager(title: str, text: str) -> None:
        screen.app.push_screen(Pager(title=title, text=text, copy=copy, key_labels=key_labels))

    async def attach(path: str) -> None:
        file = options.work_dir / Path(path.strip("\"'")).expanduser()
        await prompt().attachments.attach(lambda: load_image_file(file))

    async def choose_session(host: CommandHost) -> SessionRequest | None:
        dialog = SessionsDialog(owner=screen, host=host, key_labels=key_labels, wall_clock=options.wall_clock)
        return await screen.app.push_screen_wait(dialog)

    async def choose_agent(host: CommandHost, name: str) -> SessionRequest | None:
        dialog = AgentsDialog(initial_agent=name, owner=screen, host=host, key_labels=key_labels)
        agent = await screen.app.push_screen_wait(dialog)
        return SessionRequest(agent=agent) if agent is not None else None

    def facts() -> tuple[tuple[str, str], ...]:
        terminal = f"{os.environ.get('TERM', '')} {os.environ.get('TERM_PROGRAM', '')}"
        return (
            ("kimi-tui", options.version),
            ("python", platform.python_version()),
            ("system", platform.platform()),
            ("terminal", f"{terminal.strip()}, {screen.app.size.width}x{screen.app.size.height}"),
            ("data directory", str(options.data_dir)),
            ("log", str(log_path(options.data_dir))),
        )

    return UserActions(
        open_session=open_session,
        choose_session=choose_session,
        choose_agent=choose_agent,
        attach=attach,
        edit_prompt=lambda: edit_prompt(prompt()),
        open_pager=open_pager,
        suspend=lambda: suspend_to_shell(screen.app),
        print_all=print_all,
        facts=facts,
        log=lambda: log_tail(options.data_dir),
    )
