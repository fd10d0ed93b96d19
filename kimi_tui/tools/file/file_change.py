"""A change of one file: proposed, approved or edited by the user, checked again and written."""

import asyncio

from kimi_tui.base.frozen import frozen
from kimi_tui.permission.subject import PathSubject
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.file.client_editor import Editor, write_content
from kimi_tui.tools.file.diff import FileDiff
from kimi_tui.tools.file.read_tracker import FileTracker, ReadState
from kimi_tui.tools.file.regular_file import FileContent
from kimi_tui.tools.file.user_edit import apply_user_text, build_proposal, describe_edit, diff_user_edit
from kimi_tui.tools.path_scope import LocatedPath
from kimi_tui.tools.tool import CallContext, success
from kimi_tui.wire.events import ToolReturn


@frozen(kw_only=True)
class FileChange:
    """A change that a tool wants to make to a file."""

    file: LocatedPath
    before: FileContent | None
    """Content the change is based on; None if the file didn't exist."""
    after: bytes
    diff: FileDiff
    verb: str
    """For the permission request: `Edit`, `Create`, `Overwrite`, `Append to`."""
    past_verb: str
    """For the result: `Edited`, `Created` ..."""
    is_full_content: bool
    """Whether the model provided the full content and therefore knows it afterwards."""
    requires_read: bool = True
    """Whether the model should have read the file first."""
    notes: tuple[str, ...] = ()
    """Further notes for the model."""


async def apply_change(
    change: FileChange, call: CallContext, *, approval: Approval, tracker: FileTracker, editor: Editor
) -> ToolReturn:
    """Request approval and write the file.

    Raises ToolRejected; FileProblem if the file has changed. The caller must have held the file's lock of
    `tracker.edit_locks` since before it read the content.
    """
    file = change.file
    before = change.before
    read_state = tracker.read_state(file.real, before.version) if before else "current"
    edited_text = await approval.request(
        call,
        action="edit file" if file.is_inside else "edit file outside of working directory",
        description=f"{change.verb} {file.display_path_with_target} ({change.diff.brief})",
        subject=PathSubject(file.real),
        display=change.diff.blocks,
        proposal=build_proposal(file, change.after, before),
    )
    after, diff, user_diff = change.after, change.diff, ""
    if edited_text is not None:
        after = apply_user_text(change.after, edited_text)
        user_diff = await asyncio.to_thread(describe_edit, file, change.after, after)
        if after == (before.data if before else b""):
            return success(
                user_diff,
                message=f"The user reverted the change: {file.display_path_with_target} is unchanged.",
            )
        diff = await asyncio.to_thread(diff_user_edit, file, before, after)
    async with call.exclusive(), tracker.write_locks.lock_for(file.real):
        version, note = await write_content(file, after, expected=before, editor=editor)
    if before is None:
        tracker.created_files.add(file.real)
    if change.is_full_content or read_state == "current":
        tracker.mark_read(file.real, version)
    notes = (*change.notes, *_build_notes(change, read_state), *filter(None, (note,)))
    if user_diff:
        notes = (
            *notes,
            "The user edited the change before it was written. The file has the user's version, which differs"
            " from yours as follows. Build on it.",
        )
    message = " ".join((f"{change.past_verb} {file.display_path_with_target}: {diff.brief}.", *notes))
    return success(user_diff, message=message, brief=diff.brief, display=diff.blocks)


def _build_notes(change: FileChange, read_state: ReadState) -> list[str]:
    notes = []
    if change.requires_read and read_state == "unread":
        notes.append(
            "You had not read this file in this session: check that nothing in it was lost or broken."
        )
    elif change.requires_read and read_state == "outdated":
        notes.append(
            "The file had changed on disk since you last read it: read it again to see its current content."
        )
    if change.before is not None and change.before.info.st_nlink > 1:
        notes.append("The file has other names (hard links), which have the new content, too.")
    return notes
