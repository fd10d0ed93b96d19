"""What to do when another process writes the session that was to be opened."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from kimi_tui.base.errors import SessionInUse
from kimi_tui.language.saying import retell, say
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.session_wish import SessionWish


async def offer_ways_on(
    error: SessionInUse,
    *,
    choose: Callable[[str, Sequence[Choice]], Coroutine[Any, Any, str | None]],
    open_session: Callable[[SessionWish], object],
    leave: Callable[[], None],
) -> None:
    """A session has one writer: the user goes on in a copy, or elsewhere."""
    choices = (
        Choice(value="copy", label=say("go on in a copy of it"), detail=say("with all that was said in it")),
        Choice(value="read", label=say("read it"), detail=say("and follow what the other process adds")),
        Choice(value="new", label=say("begin a new session")),
        Choice(value="leave", label=say("leave")),
    )
    match await choose(retell(error.what), choices):
        case "read":
            open_session(SessionWish(session_id=error.session_id, read_only=True))
        case "copy":
            open_session(SessionWish(session_id=error.session_id, fork=True))
        case "new":
            open_session(SessionWish())
        case "leave":
            leave()
        case _:
            pass
