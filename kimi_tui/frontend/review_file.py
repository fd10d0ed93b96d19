"""A file of a review: its change as seen by a reader, from the earlier state to the later one.

A review consists of the files of a plan, which leads from the later state back. So additions and removals are
swapped here.
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
    """The id of the hunk that reverts it."""
    added: int
    removed: int
    diff: DiffBlock
    """The changed lines with some unchanged ones before and after them."""
    is_yours: bool
    """Whether it contains lines that the user changed."""


@frozen(kw_only=True)
class ReviewFile:
    """The change of a file, as a review shows it."""

    path: str
    old_path: str
    """Its earlier path, if it was renamed; otherwise empty."""
    change: ReviewedChange
    added: int
    removed: int
    hunks: tuple[ReviewedHunk, ...]
    """Empty if they aren't known yet, or if the change can't be shown by lines."""
    is_on_request: bool
    """Whether the hunks have to be requested."""
    no_diff: str
    """Why the change can't be shown by lines, as a message; empty if it can or if that is obvious."""
    note: str
    """What is special about the change, as a message."""
    by: str
    """Who changed it."""
    choice: ConflictChoice | None
    """How a revert of the whole change is requested if both the agent and the user changed the file."""

    @property
    def names(self) -> str:
        """The path, after the earlier one if it was renamed."""
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
    """Return the decision to revert the hunks with these ids; without hunks, the whole file."""
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
