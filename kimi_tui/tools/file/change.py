"""A change of one file: proposed, approved or edited by the user, checked again and written."""

import asyncio
from dataclasses import dataclass

from kimi_tui.tools.approval import Approval, PathSubject
from kimi_tui.tools.file.diff import FileDiff
from kimi_tui.tools.file.edited import edited_bytes, edited_diff, proposal_of, told_edit
from kimi_tui.tools.file.editor import Editor, put
from kimi_tui.tools.file.ledger import FileLedger, Knowledge
from kimi_tui.tools.file.regular import Content
from kimi_tui.tools.tool import RunningCall, ok
from kimi_tui.tools.workspace import Located
from kimi_tui.wire.events import ToolReturn


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What a tool wants to do to a file."""

    file: Located
    before: Content | None
    """What the file held when the change was worked out; None when there was no file."""
    after: bytes
    diff: FileDiff
    verb: str
    """Of the request: `Edit`, `Create`, `Overwrite`, `Append to`."""
    done: str
    """Of the result: `Edited`, `Created` ..."""
    is_whole: bool
    """Whether the model wrote the whole content, and so knows it afterwards."""
    builds_on_content: bool = True
    """Whether the model should have read the file first."""
    notes: tuple[str, ...] = ()
    """What the model should know besides."""


async def carry_out(
    change: FileChange, call: RunningCall, *, approval: Approval, ledger: FileLedger, editor: Editor
) -> ToolReturn:
    """Ask for consent and write. Raises ToolRejected; FileProblem when the file changed meanwhile.

    The caller holds `ledger.order` of the file since before it looked at the content.
    """
    file = change.file
    before = change.before
    knowledge = ledger.knowledge(file.real, before.version) if before else "current"
    edited = await approval.request(
        call,
        action="edit file" if file.inside else "edit file outside of working directory",
        description=f"{change.verb} {file.named} ({change.diff.brief})",
        subject=PathSubject(file.real),
        display=change.diff.blocks,
        proposal=proposal_of(file, change.after, before),
    )
    after, diff, told = change.after, change.diff, ""
    if edited is not None:
        after = edited_bytes(change.after, edited)
        told = await asyncio.to_thread(told_edit, file, change.after, after)
        if after == (before.data if before else b""):
            return ok(told, message=f"The user took the change back: {file.named} is as it was.")
        diff = await asyncio.to_thread(edited_diff, file, before, after)
    async with call.turn(), ledger.writes.of(file.real):
        version, note = await put(file, after, expected=before, editor=editor)
    if change.is_whole or knowledge == "current":
        ledger.saw(file.real, version)
    notes = (*change.notes, *_notes(change, knowledge), *filter(None, (note,)))
    if told:
        notes = (
            *notes,
            "The user edited the change before it was written: the file holds the user's version, which"
            " differs from what you asked for as follows. Build on it.",
        )
    message = " ".join((f"{change.done} {file.named}: {diff.brief}.", *notes))
    return ok(told, message=message, brief=diff.brief, display=diff.blocks)


def _notes(change: FileChange, knowledge: Knowledge) -> list[str]:
    notes = []
    if change.builds_on_content and knowledge == "unread":
        notes.append(
            "You had not read this file in this session: check that nothing in it was lost or broken."
        )
    elif change.builds_on_content and knowledge == "outdated":
        notes.append(
            "The file had changed on disk since you last read it: read it again to see what it holds."
        )
    if change.before is not None and change.before.info.st_nlink > 1:
        notes.append("It had other names (hard links), which keep the old content.")
    return notes
