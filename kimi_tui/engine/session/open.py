"""Opening of a session: its selection, its lock and its conversation.

Imports little, because a resumed conversation is shown before the rest of the engine is imported.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from kimi_tui.base.errors import SessionError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.ids import new_id
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import msg
from kimi_tui.engine.recording.index import read_last_context_usage
from kimi_tui.engine.recording.replay_sender import read_replay_tail, send_replay
from kimi_tui.engine.session.data_dir_permissions import restrict_permissions
from kimi_tui.engine.session.partial_response import save_partial_response
from kimi_tui.history.context import Context
from kimi_tui.history.kimi_cli.data_dir import KimiCliDataDir, KimiCliSession
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.wire.events import Event, StatusUpdate


@frozen(kw_only=True)
class SessionSelector:
    """Selection of the session to open."""

    data_dir: Path
    work_dir: Path
    session_id: str | None = None
    """Session to resume."""
    continue_last: bool = False
    """Resume the latest session of the working directory. Without one, create a session."""
    fork: bool = False
    """Open a copy of the session."""
    create: bool = False
    """Create a session with `session_id` if none exists."""
    read_only: bool = False
    """Open a session of Kimi CLI without copying it. The session can then only be read."""

    def resolve(self) -> Session:
        """Return the selected session, a copy of it, or a new one. Blocks. Raises SessionError."""
        restrict_permissions(self.data_dir)
        store = SessionStore(self.data_dir)
        earlier: Session | None = None
        if self.session_id is not None:
            if self.create and not any(known.id == self.session_id for known in store.list()):
                return store.create(self.work_dir, self.session_id)
            earlier = store.find(self.session_id)
        elif self.continue_last:
            earlier = store.latest(self.work_dir)
        if earlier is None:
            return store.create(self.work_dir)
        if not earlier.work_dir.is_dir():
            raise SessionError(
                msg("The session's working directory doesn't exist: {work_dir}.", work_dir=earlier.work_dir),
                hint=msg(
                    "Restore it, or move the conversation to another directory: run `kimi-tui sessions "
                    "export {id} -o talk.json`, then `kimi-tui sessions import talk.json` in that "
                    "directory.",
                    id=earlier.id[:8],
                ),
            )
        if earlier.kimi_cli_session is None:
            earlier = self._refresh_copy(store, earlier)
            return store.fork(earlier) if self.fork else earlier
        return earlier if self.read_only else self._copy(store, earlier.kimi_cli_session)

    def _refresh_copy(self, store: SessionStore, session: Session) -> Session:
        """Replace an earlier copy of a session of Kimi CLI, if only Kimi CLI continued the session."""
        if session.state.origin is None or self.read_only:
            return session
        from kimi_tui.engine.kimi_cli.sessions import is_outdated_copy

        theirs = KimiCliDataDir(self.data_dir).find(session.id)
        if theirs is None or not is_outdated_copy(session.dir, theirs):
            return session
        store.delete(session)
        return self._copy(store, replace(theirs, work_dir=session.work_dir))

    def _copy(self, store: SessionStore, theirs: KimiCliSession) -> Session:
        from kimi_tui.engine.kimi_cli.sessions import copy_session  # imported on demand

        copy_id = new_id() if self.fork else theirs.id
        try:
            copy_session(theirs, self.data_dir, new_id=copy_id)
        except OSError as error:
            raise SessionError(
                msg("Can't copy the session: {reason}.", reason=error.strerror or error),
                hint="Free some disk space or make the data directory writable, then try again.",
            ) from error
        return store.find(copy_id)


class OpenedSession:
    """Session that this process has locked, with its conversation."""

    def __init__(
        self,
        session: Session,
        context: Context,
        *,
        tail_sent: bool = False,
        usage: StatusUpdate | None = None,
    ) -> None:
        """`tail_sent`: whether front ends have received the latest turns.

        `usage`: context usage to send with the replay.
        """
        self.session = session
        self.context = context
        self._tail_sent = tail_sent
        self._usage = usage
        self.sent_history: Sequence[Message] | None = None
        """Conversation that front ends have received. None: not sent yet."""

    async def send_replay(self, send: Callable[[Event], None]) -> None:
        """Replay the conversation to front ends."""
        await send_replay(send, self.session, self.context, replace_previous=self._tail_sent)
        if self._usage is not None:
            send(self._usage)
        self.sent_history = self.context.history

    def close(self) -> None:
        """Release the session's lock. Can be called repeatedly."""
        self.session.release()


async def open_session(
    selector: SessionSelector, *, on_preview: Callable[[Event], None] | None = None
) -> OpenedSession:
    """Open the selected session. Raises SessionError.

    `on_preview` first receives the end of a long conversation and the context usage. Both are sent together,
    because a front end shows later events only in its next frame. For the same reason, the usage of a short
    conversation is sent with its replay.
    """
    session = await asyncio.to_thread(selector.resolve)
    session.acquire()
    usage: StatusUpdate | None = None
    tail: Sequence[Event] = ()
    try:
        if on_preview is not None:
            usage, tail = await asyncio.to_thread(_read_preview, session)
            if tail and usage is not None:
                tail = (*tail, usage)
            for event in tail:
                on_preview(event)
        context = Context(session.context_file)
        await context.restore()
        await save_partial_response(session, context)
    except BaseException:
        session.release()
        raise
    return OpenedSession(session, context, tail_sent=bool(tail), usage=usage)


def _read_preview(session: Session) -> tuple[StatusUpdate | None, Sequence[Event]]:
    return read_last_context_usage(session.wire_file), read_replay_tail(session)
