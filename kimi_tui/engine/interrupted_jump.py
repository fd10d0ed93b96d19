"""A jump that a crash cut off: completed when its files had changed, else it never happened."""

from typing import TYPE_CHECKING

from kimi_tui.base.content import system_note
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.history.snapshots.manifest import ManifestMissing
from kimi_tui.history.state import Jump, jumps_after

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory

_NOTE = (
    "The user took the conversation back to this point, and files on disk may have changed with it. Read a "
    "file again before you rely on what you remember of it."
)


async def settle_jump(session: Session, context: Context, files: SessionFiles, todos: SessionTodos) -> str:
    """Complete or drop the jump that was under way when the session ended; what was done, for the user.

    Empty when there was none. Raises KimiTuiError.
    """
    jump = session.state.jump
    if jump is None:
        return ""
    was_left = not any(known.id == jump.before for known in context.checkpoints)
    if not was_left and not await files.use(_files_went, jump.left):
        await session.update_state(jump=None)
        return "A jump was interrupted before it changed anything: nothing has been done."
    branch: int | None = None
    if jump.moves:
        if was_left:
            branch = next((it.branch for it in reversed(context.reverts) if it.next_id > jump.before), None)
        elif jump.branch is None:
            branch = (await context.revert_to(jump.to, reason=jump.reason)).branch
        else:
            reversion = await context.restore_from_rotation(
                jump.branch, reason=jump.reason, before=jump.until
            )
            branch = reversion.branch
        await todos.go_to(jump.to)
    left = Jump(jump.before, jump.left, branch)
    undos, redos = jumps_after(session.state, jump.reason, left)
    await context.append_message(Message("user", (system_note(_NOTE),)))
    await session.update_state(undos=undos, redos=redos, jump=None)
    return "A jump that had been interrupted was completed; /undo takes it back."


def _files_went(history: "FileHistory", left: str | None) -> bool:
    """Whether a revert changed files since the state `left`."""
    try:
        return left is not None and history.was_reverted_since(left)
    except (ManifestMissing, KimiTuiError):
        return False
