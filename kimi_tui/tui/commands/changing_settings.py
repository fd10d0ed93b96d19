"""The settings dialog on a screen, and what comes of it."""

from collections.abc import Callable
from typing import Any

from textual.screen import Screen

from kimi_tui.language.saying import say
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.commands.registry import Host
from kimi_tui.tui.dialogs.settings import SettingsDialog
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.live_settings import LiveSettings
from kimi_tui.tui.session_wish import SessionWanted, SessionWish
from kimi_tui.tui.state import ScreenState


async def change_settings(
    host: Host, *, screen: Screen[Any], state: Callable[[], ScreenState], names: KeyNames
) -> None:
    """Let the user change settings; where some wait for another session, offer to open this one anew."""
    live = LiveSettings(app=screen.app, names=names, command=host.command)
    dialog = SettingsDialog(
        owner=screen,
        state=state,
        command=host.command,
        changed=live.use,
        completed=live.with_keys,
        names=names,
    )
    waiting = await screen.app.push_screen_wait(dialog)
    session = state().session
    if not waiting or session is None or state().turn is not None:
        return
    choices = (
        Choice(value="now", label=say("open it anew now"), detail=say("what was said stays")),
        Choice(value="later", label=say("later"), detail=say("/new, or the next start")),
    )
    title = say("{keys}: this session still goes by the old values.", keys=", ".join(waiting))
    if await host.choose(title, choices) == "now":
        # Nothing is on disk of a session in which nothing was said.
        screen.app.post_message(
            SessionWanted(SessionWish(session_id=session.session_id if session.title else None))
        )
