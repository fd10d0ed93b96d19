"""Forking: a checkpoint made the end of a session of its own."""

import asyncio
import shutil

from kimi_tui.base.content import system_note
from kimi_tui.base.errors import SessionError
from kimi_tui.base.message import Message
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.todo_log import FILE_NAME as TODO_LOG
from kimi_tui.history.tree import Place
from kimi_tui.wire.display import TodoItem

_NOTE = (
    "This conversation is a copy of an earlier one up to here. The files on disk are as they are now, not as "
    "they were then: read a file before you rely on what you remember of it."
)


async def forked(
    store: SessionStore,
    session: Session,
    context: Context,
    place: Place | None,
    todos: tuple[TodoItem, ...],
) -> Session:
    """A new session with the conversation just before a checkpoint, or all of the live line without one.

    `todos` is the list that stood there. Raises SessionError, JournalWriteError.
    """
    copy = store.create(session.work_dir)
    branch, before = (place.branch, place.checkpoint.id) if place is not None else (None, None)
    await context.copy_to(copy.context_file, branch=branch, before=before)
    await asyncio.to_thread(_copy_recording, session, copy)
    state = session.state
    at = f"fork at {before}" if before is not None else "fork"
    await copy.update_state(
        title=f"{state.title or 'session'} ({at})",
        grants=state.grants,
        additional_dirs=state.additional_dirs,
        agent=state.agent,
        model=state.model,
        todos=todos,
        names=state.names,
    )
    own = Context(copy.context_file)
    await own.restore()
    files = place.files if place is not None else None
    await own.checkpoint(False, kind="fork", label=f"forked from {session.id}", files=files)
    if own.history:
        await own.append_message(Message("user", (system_note(_NOTE),)))
    await own.close()
    return copy


def _copy_recording(session: Session, copy: Session) -> None:
    """What the transcript shows of tool results, and the todo lists. Raises SessionError."""
    for name in (session.wire_file.name, TODO_LOG):
        try:
            if (session.dir / name).exists():
                shutil.copyfile(session.dir / name, copy.dir / name)
                (copy.dir / name).chmod(0o600)
        except OSError as error:
            raise SessionError(
                f"The session can't be copied: {error.strerror or error} ({copy.dir}).",
                hint="Free some space or make the folder writable, then try again.",
            ) from error
