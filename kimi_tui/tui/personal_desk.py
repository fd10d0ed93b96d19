"""What the user's own commands do to the screen that is open."""

import os
import platform
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.screen import Screen

from kimi_tui.base.logging import end_of_log, log_path
from kimi_tui.tui.commands.personal import PersonalActs
from kimi_tui.tui.dialogs.agents import AgentsDialog
from kimi_tui.tui.dialogs.pager import Pager
from kimi_tui.tui.dialogs.sessions import SessionsDialog
from kimi_tui.tui.images.reading import photo_in
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.lent_terminal import suspend
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.prompt.prompt import Prompt
from kimi_tui.tui.scrollback import PrintWanted
from kimi_tui.tui.session_wish import SessionWanted, SessionWish
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.channel import Wire


def personal_acts(
    *,
    screen: Screen[Any],
    wire: Wire,
    options: TuiOptions,
    names: KeyNames,
    state: Callable[[], ScreenState],
    copy: Callable[[str], None],
    edit_prompt: Callable[[Prompt], Awaitable[None]],
) -> PersonalActs:
    """The acts, on `screen`."""

    def prompt() -> Prompt:
        return screen.query_one(Prompt)

    def open_session(wish: SessionWish) -> None:
        screen.app.post_message(SessionWanted(wish))

    def print_all() -> None:
        screen.app.post_message(PrintWanted())

    def read(title: str, text: str) -> None:
        screen.app.push_screen(Pager(title=title, text=text, copy=copy, names=names))

    async def attach(path: str) -> None:
        file = options.work_dir / Path(path.strip("\"'")).expanduser()
        await prompt().attachments.attach(lambda: photo_in(file))

    async def choose_session() -> SessionWish | None:
        dialog = SessionsDialog(
            owner=screen,
            state=state,
            command=wire.command,
            copy=copy,
            names=names,
            wall_clock=options.wall_clock,
        )
        return await screen.app.push_screen_wait(dialog)

    async def choose_agent(name: str) -> SessionWish | None:
        dialog = AgentsDialog(wanted=name, owner=screen, state=state, command=wire.command, names=names)
        chosen = await screen.app.push_screen_wait(dialog)
        return SessionWish(agent=chosen) if chosen is not None else None

    def facts() -> tuple[tuple[str, str], ...]:
        terminal = f"{os.environ.get('TERM', '')} {os.environ.get('TERM_PROGRAM', '')}"
        return (
            ("kimi-tui", options.version),
            ("python", platform.python_version()),
            ("system", platform.platform()),
            ("terminal", f"{terminal.strip()}, {screen.app.size.width}x{screen.app.size.height}"),
            ("share dir", str(options.share_dir)),
            ("log", str(log_path(options.share_dir))),
        )

    return PersonalActs(
        open_session=open_session,
        choose_session=choose_session,
        choose_agent=choose_agent,
        attach=attach,
        edit_prompt=lambda: edit_prompt(prompt()),
        read=read,
        suspend=lambda: suspend(screen.app),
        print_all=print_all,
        facts=facts,
        log=lambda: end_of_log(options.share_dir),
    )
