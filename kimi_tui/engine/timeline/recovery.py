"""Recovery of an interrupted revert: completed if it had changed anything, otherwise dropped."""

from typing import TYPE_CHECKING

from kimi_tui.base.content_parts import system_note
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.history.session_state import UndoEntry, push_undo
from kimi_tui.history.snapshots.manifest import ManifestMissing

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory

_NOTE = (
    "The user reverted the conversation to this point, and files on disk may have changed too. Read a file "
    "again before you rely on what you remember of it."
)


async def recover_revert(session: Session, context: Context, files: SessionFiles, todos: SessionTodos) -> str:
    """Complete or drop the revert that was running when the session ended. Raises KimiTuiError.

    Return a sentence about the outcome for the user; empty if no revert was running.
    """
    pending = session.state.jump
    if pending is None:
        return ""
    conversation_moved = not any(checkpoint.id == pending.before for checkpoint in context.checkpoints)
    if not conversation_moved and not await files.worker.use(_were_files_reverted, pending.left):
        await session.update_state(jump=None)
        return "An interrupted revert was dropped. It hadn't changed anything."
    branch: int | None = None
    if pending.moves:
        if conversation_moved:
            branch = next(
                (it.branch for it in reversed(context.reverts) if it.next_id > pending.before), None
            )
        elif pending.branch is None:
            branch = (await context.revert_to(pending.to, reason=pending.reason)).branch
        else:
            result = await context.restore_from_rotation(
                pending.branch, reason=pending.reason, before=pending.until
            )
            branch = result.branch
        await todos.restore(pending.to)
    undo_entry = UndoEntry(pending.before, pending.left, branch)
    undos, redos = push_undo(session.state, pending.reason, undo_entry)
    await context.append_message(Message("user", (system_note(_NOTE),)))
    await session.update_state(undos=undos, redos=redos, jump=None, adopted=pending.adopted)
    return "An interrupted revert was completed. Use /undo to undo it."


def _were_files_reverted(history: "FileHistory", state_before: str | None) -> bool:
    """Return whether a revert has changed files since `state_before`."""
    try:
        return state_before is not None and history.was_reverted_since(state_before)
    except (ManifestMissing, KimiTuiError):
        return False
