"""What to do with a fork that was made: go on in it, or here."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from kimi_tui.language.saying import say
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.session_wish import SessionWish
from kimi_tui.wire.timeline import SessionForked


async def offer_fork(
    fork: SessionForked,
    *,
    choose: Callable[[str, Sequence[Choice]], Coroutine[Any, Any, str | None]],
    open_session: Callable[[SessionWish], None],
) -> None:
    """Let the user choose; the conversation says how to open it later."""
    choices = (
        Choice(value="open", label=say("go on in the new session"), detail=fork.title),
        Choice(value="stay", label=say("stay here")),
    )
    if await choose(say("The session was forked"), choices) == "open":
        open_session(SessionWish(session_id=fork.session_id))
