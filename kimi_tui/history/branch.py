"""Previews of branches: the rotations left by reverts, clears, compactions and switches."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message
from kimi_tui.history.journal import raw_lines
from kimi_tui.history.record_codec import DamagedLine, parse, role_of
from kimi_tui.history.records import Checkpoint, FileStateRecord, RevertRecord
from kimi_tui.history.step_summary import summarize_step
from kimi_tui.wire.timeline import RevertReason

_MESSAGE_ROLES = {"user", "assistant", "tool", "system"}
_TREE_ROLES = {"_checkpoint", "_files", "_revert"}


@frozen(kw_only=True)
class Branch:
    """A branch other than the current one, including the part that both share."""

    number: int
    path: Path
    time: float
    """Time of the last write, in seconds since the epoch."""
    messages: int
    checkpoints: tuple[Checkpoint, ...]
    reason: RevertReason | None = None
    """Why the branch was left; None if unknown, as for a rotation by kimi-cli."""
    to: int | None = None
    """The checkpoint that the conversation continued from."""


@frozen
class BranchPreview:
    """A rotation, read without its messages."""

    branch: Branch
    reverts: tuple[RevertRecord, ...]
    """In file order. A branch may have been reverted more than once."""


def preview_branch(number: int, path: Path) -> BranchPreview:
    """Preview a rotation: only checkpoints, reverts and the last messages are parsed. Raises SessionError."""
    messages = 0
    checkpoints: list[Checkpoint] = []
    reverts: list[RevertRecord] = []
    index_by_id: dict[int, int] = {}
    """Index of each checkpoint in the list, by its id."""
    parent: str | None = None
    tail: list[bytes] = []
    """The messages after the last checkpoint."""
    for raw in raw_lines(path):
        role = role_of(raw.data)
        messages += role in _MESSAGE_ROLES
        if role in _MESSAGE_ROLES:
            tail.append(raw.data)
        if role not in _TREE_ROLES:
            continue
        try:
            record, _ = parse(raw.data)
        except DamagedLine:
            continue
        match record:
            case Checkpoint():
                tail.clear()
                index_by_id[record.id] = len(checkpoints)
                checkpoints.append(replace(record, parent=record.parent or parent))
                parent = record.uid
            case FileStateRecord(id=checkpoint_id, files=files, changes=changes) if (
                checkpoint_id in index_by_id
            ):
                index = index_by_id[checkpoint_id]
                checkpoints[index] = replace(checkpoints[index], files=files, changes=changes)
            case RevertRecord():
                reverts.append(record)
                parent = record.parent or parent
            case _:
                pass
    if (
        checkpoints
        and checkpoints[-1].kind == "step"
        and (done := summarize_step(_parse_messages(tail))) is not None
    ):
        checkpoints[-1] = replace(checkpoints[-1], label=done.label or checkpoints[-1].label)
    time = path.stat().st_mtime
    return BranchPreview(
        Branch(number=number, path=path, time=time, messages=messages, checkpoints=tuple(checkpoints)),
        tuple(reverts),
    )


def _parse_messages(lines: Iterable[bytes]) -> list[Message]:
    """Return the messages in some lines of a journal. Damaged lines are skipped."""
    messages = []
    for line in lines:
        with suppress(DamagedLine):
            record, _ = parse(line)
            if isinstance(record, Message):
                messages.append(record)
    return messages


def resolve_branches(
    previews: Iterable[BranchPreview], current_reverts: Iterable[RevertRecord]
) -> tuple[Branch, ...]:
    """Return the branches with the reason why each was left.

    The reason is in a revert record of the branch that replaced it.
    """
    previews = list(previews)
    revert_by_branch = {revert.branch: revert for preview in previews for revert in preview.reverts}
    revert_by_branch |= {revert.branch: revert for revert in current_reverts}
    branches: list[Branch] = []
    for preview in previews:
        revert = revert_by_branch.get(preview.branch.number)
        reason, to = (revert.reason, revert.to) if revert is not None else (None, None)
        branches.append(replace(preview.branch, reason=reason, to=to))
    return tuple(branches)
