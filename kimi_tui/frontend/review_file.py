"""File of a review, with its change from the earlier state to the later one.

A review is built from the files of a plan. A plan leads from the later state to the earlier one, so this
module swaps additions and removals.
"""

from typing import Literal, assert_never

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.display_blocks import DiffBlock
from kimi_tui.wire.timeline import ConflictChoice, FileChoice, PlannedFile, PlannedHunk

ReviewedChange = Literal["added", "removed", "renamed", "changed", "uncovered"]


@frozen(kw_only=True)
class ReviewedHunk:
    """A run of changed lines."""

    id: str
    """Id of the planned hunk that reverts this hunk."""
    added: int
    removed: int
    diff: DiffBlock
    """The changed lines, with some unchanged lines before and after them."""
    is_yours: bool
    """Whether the hunk contains lines that the user changed."""


@frozen(kw_only=True)
class ReviewFile:
    """The change of a file, as a review shows it."""

    path: str
    old_path: str
    """The earlier path of a renamed file. Empty if the file wasn't renamed."""
    change: ReviewedChange
    added: int
    removed: int
    hunks: tuple[ReviewedHunk, ...]
    """The hunks. Empty before they arrive, or if the change can't be shown by lines."""
    is_on_request: bool
    """Whether the hunks have to be requested."""
    no_diff: str
    """Message with the reason why the change has no hunks. Empty if it has, or if the reason is obvious."""
    note: str
    """Message with special facts about the change."""
    by: str
    """Who changed it."""
    choice: ConflictChoice | None
    """Choice that reverts the whole change. None unless both the agent and the user changed the file."""

    @property
    def names(self) -> str:
        """The path, or "earlier path → path" for a renamed file."""
        return f"{self.old_path} → {self.path}" if self.old_path else self.path

    @property
    def can_be_reverted(self) -> bool:
        """Whether a revert can restore the earlier state."""
        return self.change != "uncovered"


def to_review_file(file: PlannedFile) -> ReviewFile:
    """Return the change that a planned file would undo."""
    whole = next((it for it in file.choices if it.choice == "checkpoint"), None)
    kept = [hunk.id for it in file.choices if it.choice == "merge" for hunk in it.hunks]
    hunks = whole.hunks if whole is not None else file.hunks
    return ReviewFile(
        path=file.path,
        old_path=file.renamed_to,
        change=_change(file),
        added=file.removed,
        removed=file.added,
        hunks=tuple(
            _reviewed_hunk(it, is_yours=file.by == "you" or (whole is not None and it.id not in kept))
            for it in hunks
        ),
        is_on_request=file.is_on_request,
        no_diff=file.no_diff,
        note=file.note,
        by=file.by,
        choice="checkpoint" if whole is not None else None,
    )


def revert_choice(file: ReviewFile, ids: frozenset[str]) -> FileChoice:
    """Return the decision to revert the hunks with these ids. Without hunks, it reverts the whole file."""
    known = [hunk.id for hunk in file.hunks]
    is_whole = not known or ids.issuperset(known)
    return FileChoice(file.path, file.choice, None if is_whole else tuple(it for it in known if it in ids))


def _reviewed_hunk(hunk: PlannedHunk, *, is_yours: bool) -> ReviewedHunk:
    diff = hunk.diff
    return ReviewedHunk(
        id=hunk.id,
        added=hunk.removed,
        removed=hunk.added,
        diff=DiffBlock(diff.path, diff.new_text, diff.old_text, diff.new_start, diff.old_start),
        is_yours=is_yours,
    )


def _change(file: PlannedFile) -> ReviewedChange:
    if file.action == "not covered":
        return "uncovered"
    match file.action:
        case "delete":
            return "added"
        case "recreate":
            return "removed"
        case "rename":
            return "renamed"
        case "restore" | "merge" | "conflict" | "keep":
            return "changed"
        case _:
            assert_never(file.action)
