"""Prompt after a fork: open the new session or stay in this one."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.timeline import SessionForked


async def ask_after_fork(
    fork: SessionForked,
    *,
    choose: Callable[[str, Sequence[Choice]], Coroutine[Any, Any, str | None]],
    open_session: Callable[[SessionRequest], None],
) -> None:
    """Let the user open the fork or stay. The conversation also shows how to open it later."""
    choices = (
        Choice(value="open", label=tr("open the new session"), detail=fork.title),
        Choice(value="stay", label=tr("stay in this session")),
    )
    if await choose(tr("Session forked"), choices) == "open":
        open_session(SessionRequest(session_id=fork.session_id))
