"""Diffs of the files in plans and comparisons. A file without a diff has a reason instead."""

from typing import TYPE_CHECKING

from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.coverage import unique_path
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.plan import PlanItem
from kimi_tui.wire.display_blocks import DiffBlock

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory

MAX_DIFFS = 100
"""Maximum number of diffs in a plan or comparison."""
DIFF_ON_REQUEST = msg("The diff isn't shown yet: there are many or large files.")
_MAX_DIFF_CHARACTERS = 100_000
"""Maximum total number of characters in the two texts of a diff."""


def build_diff(history: "FileHistory", item: PlanItem) -> tuple[DiffBlock | None, str]:
    """Return the diff of a file, or None and the reason why the file has no diff."""
    if item.action == "rename":
        return None, _describe_rename(item)
    if (reason := _describe_other_change(item.now, item.then)) is not None:
        return None, reason
    if (contents := history.contents(item.now, item.then)) is None:
        return None, history.no_text_reason(item)
    texts = contents[0].decode("utf-8", "replace"), contents[1].decode("utf-8", "replace")
    if texts[0] == texts[1]:
        return None, msg("No diff: the contents differ only in bytes that aren't UTF-8.")
    if sum(map(len, texts)) > _MAX_DIFF_CHARACTERS:
        return None, msg("No diff: the file is too long.")
    return DiffBlock(unique_path(item.path), *texts), ""


def _describe_rename(item: PlanItem) -> str:
    files = sum(member.now is not None and member.now.kind != "folder" for member in item.members)
    if item.members:
        return msg("Only the name changes. Files in the directory: {count}.", count=files)
    return msg("Only the name changes.")


def _describe_other_change(now: Entry | None, then: Entry | None) -> str | None:
    """Return a description of a change that isn't shown by a diff; None if a diff shows the change.

    The description is empty if the action says everything.
    """
    entries = [entry for entry in (now, then) if entry is not None]
    kinds = {entry.kind for entry in entries}
    if now is not None and then is not None and now[0::3] == then[0::3] and now.mode != then.mode:
        return msg(
            "Only the file permissions change: {now} → {then}.", now=f"{now.mode:o}", then=f"{then.mode:o}"
        )
    if kinds == {"file"} and all(entry.size == 0 for entry in entries):
        return msg("The file is empty.")
    if kinds == {"link"}:
        targets = [repr(entry.ref) if entry is not None else "–" for entry in (now, then)]
        return msg("Target of the symbolic link: {now} → {then}.", now=targets[0], then=targets[1])
    if len(kinds) > 1:
        return msg("No diff: it isn't a regular file both before and after.")
    return None if kinds == {"file"} else ""
