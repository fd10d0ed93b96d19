"""An opened session: found, claimed and read. All that is needed to show what was said in it.

Imports little: a resumed conversation stands on the screen before the rest of the engine is imported.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from kimi_tui.base.errors import SessionError
from kimi_tui.base.message import Message
from kimi_tui.base.private_share import take_rights_from_others
from kimi_tui.base.value import value
from kimi_tui.engine.broken_off import keep_what_broke_off
from kimi_tui.engine.past import tell_end, tell_past
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.wire.events import Event


@value(kw_only=True)
class WantedSession:
    """Which session to open."""

    share_dir: Path
    work_dir: Path
    session_id: str | None = None
    """An earlier one."""
    continue_last: bool = False
    """The one last used in the work dir; a new one when there is none."""
    fork: bool = False
    """Rather a copy of it."""

    def found(self) -> Session:
        """It: an earlier one, a copy of it, or a new one. Blocks. Raises SessionError."""
        take_rights_from_others(self.share_dir)
        store = SessionStore(self.share_dir)
        earlier: Session | None = None
        if self.session_id is not None:
            earlier = store.find(self.session_id)
        elif self.continue_last:
            earlier = store.last(self.work_dir)
        if earlier is None:
            return store.create(self.work_dir)
        if not earlier.work_dir.is_dir():
            raise SessionError(
                f"The folder that the session worked in is gone: {earlier.work_dir}.",
                hint="Put it back where it was, or take the conversation to another folder: "
                f"`kimi-tui sessions export {earlier.id[:8]} -o talk.json`, and there "
                "`kimi-tui sessions import talk.json`.",
            )
        return store.fork(earlier) if self.fork else earlier


class OpenedSession:
    """A session that is this process's to write, and the conversation in it."""

    def __init__(self, session: Session, context: Context, *, end_is_shown: bool = False) -> None:
        """`end_is_shown`: front ends know its latest turns already."""
        self.session = session
        self.context = context
        self._end_is_shown = end_is_shown
        self.shown: Sequence[Message] | None = None
        """The conversation, when front ends know it already."""

    async def show(self, send: Callable[[Event], None]) -> None:
        """Tell front ends what was said."""
        await tell_past(send, self.session, self.context, anew=self._end_is_shown)
        self.shown = self.context.history

    def close(self) -> None:
        """Let others write it. To close twice changes nothing."""
        self.session.release()


async def open_session(
    wanted: WantedSession, *, glimpse: Callable[[Event], None] | None = None
) -> OpenedSession:
    """The session that is wanted; if it is long, its latest turns go to `glimpse` first.

    Raises SessionError.
    """
    session = await asyncio.to_thread(wanted.found)
    session.acquire()
    try:
        end_is_shown = glimpse is not None and await tell_end(glimpse, session)
        context = Context(session.context_file)
        await context.restore()
        await keep_what_broke_off(session, context)
    except BaseException:
        session.release()
        raise
    return OpenedSession(session, context, end_is_shown=end_is_shown)
