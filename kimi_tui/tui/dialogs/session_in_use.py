"""Prompt shown when another process is using the session to open."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from kimi_tui.base.errors import SessionInUse
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.tui.widgets.choice_list import Choice


async def offer_alternatives(
    error: SessionInUse,
    *,
    choose: Callable[[str, Sequence[Choice]], Coroutine[Any, Any, str | None]],
    open_session: Callable[[SessionRequest], object],
    leave: Callable[[], None],
) -> None:
    """Let the user fork the session, open it read-only or start a new one: a session has a single writer."""
    choices = (
        Choice(value="copy", label=tr("fork the session"), detail=tr("with the whole conversation")),
        Choice(value="read", label=tr("open read-only"), detail=tr("and follow the other process")),
        Choice(value="new", label=tr("start a new session")),
        Choice(value="leave", label=tr("quit")),
    )
    match await choose(translate_message(error.what), choices):
        case "read":
            open_session(SessionRequest(session_id=error.session_id, read_only=True))
        case "copy":
            open_session(SessionRequest(session_id=error.session_id, fork=True))
        case "new":
            open_session(SessionRequest())
        case "leave":
            leave()
        case _:
            pass
