"""Forks: copies of a conversation up to a checkpoint, as new sessions."""

import asyncio
import os
import shutil
from pathlib import Path

from kimi_tui.base.content_parts import system_note
from kimi_tui.base.errors import SessionError
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import msg
from kimi_tui.history.check_log import CHECK_LOG
from kimi_tui.history.checkpoint_tree import CheckpointNode
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.todo_log import FILE_NAME as TODO_LOG
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.workspaces.checkpoint.private_view import PrivateTree

FORK_NOTE = (
    "This conversation is a fork of an earlier one. The files on disk are in their current state, not the "
    "state they had then. Read a file again before you rely on what you remember of it."
)


async def fork_session(
    store: SessionStore,
    session: Session,
    context: Context,
    node: CheckpointNode | None,
    todos: tuple[TodoItem, ...],
    *,
    note: str = FORK_NOTE,
    tree: PrivateTree | None = None,
) -> Session:
    """Create a session with the conversation before the checkpoint `node`. None: the whole current branch.

    `todos` is the todo list at that point. `note` is a note for the model about the files. If `tree` is
    given, the new session works in this copy of the directories.
    Raises SessionError and JournalWriteError.
    """
    copy = store.create(Path(_place_in(tree, str(session.work_dir))))
    branch, before = (node.branch, node.checkpoint.id) if node is not None else (None, None)
    await context.copy_to(copy.context_file, branch=branch, before=before)
    await asyncio.to_thread(_copy_recording, session, copy)
    state = session.state
    suffix = f"fork at {before}" if before is not None else "fork"
    await copy.update_state(
        title=f"{state.title or 'session'} ({suffix})",
        grants=state.grants,
        grant_dates=state.grant_dates,
        additional_dirs=tuple(_place_in(tree, path) for path in state.additional_dirs),
        agent=state.agent,
        model=state.model,
        prompt_facts=state.prompt_facts,
        todos=todos,
        names=state.names,
    )
    forked_context = Context(copy.context_file)
    await forked_context.restore()
    files = node.files if node is not None else None
    await forked_context.checkpoint(
        False, kind="fork", label=msg("forked from {id}", id=session.id), files=files
    )
    if forked_context.history:
        await forked_context.append_message(Message("user", (system_note(note),)))
    await forked_context.close()
    return copy


def _place_in(tree: PrivateTree | None, path: str) -> str:
    """Return the counterpart of a directory in the copy; `path` itself if the directory isn't copied."""
    return (tree.counterpart_of(os.path.realpath(path)) if tree is not None else None) or path


def _copy_recording(session: Session, copy: Session) -> None:
    """Copy the recording and the logs of todo lists and checks. Raises SessionError.

    The recording has the display of tool results.
    """
    for name in (session.wire_file.name, TODO_LOG, CHECK_LOG):
        try:
            if (session.dir / name).exists():
                shutil.copyfile(session.dir / name, copy.dir / name)
                (copy.dir / name).chmod(0o600)
        except OSError as error:
            raise SessionError(
                msg(
                    "Can't copy the session: {reason} ({path}).",
                    reason=error.strerror or error,
                    path=copy.dir,
                ),
                hint="Free some disk space or make the directory writable, then try again.",
            ) from error
