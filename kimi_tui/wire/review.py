"""Review: the changes between two checkpoints, and line comments that are sent as one prompt."""

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.base_command import BaseCommand
from kimi_tui.wire.timeline import PlannedFile


@frozen
class AddComment(BaseCommand):
    """Comment on a line of a file. The reply is a CommentList."""

    path: str
    """Relative to the working directory, or absolute."""
    line: int
    """From 1."""
    text: str
    plan: str = ""
    """The ChangeReview that `line` refers to, in its later state; empty for the current files."""
    is_removed: bool = False
    """Whether `line` is the number of a removed line, in the earlier state of the review. If `plan` is empty,
    this is the latest review.
    """


@frozen
class EditComment(BaseCommand):
    """Replace the text of a comment. The reply is a CommentList."""

    id: int
    text: str
    plan: str = ""
    """As in ListComments."""


@frozen
class RemoveComment(BaseCommand):
    """Remove a comment. The reply is a CommentList."""

    id: int
    plan: str = ""
    """As in ListComments."""


@frozen
class ListComments(BaseCommand):
    """List the comments with their current line numbers. The reply is a CommentList."""

    plan: str = ""
    """Number the lines as in the later state of this ChangeReview; empty for the current files."""


@frozen
class SendComments(BaseCommand):
    """Send all comments to the agent as one prompt, and remove them."""


@frozen
class ReviewChanges(BaseCommand):
    """Compare the files for a review. The reply is a ChangeReview."""

    scheduling = "plan"

    before: int | None = None
    """Review changes since this checkpoint. None for the first checkpoint after the last review, or the first
    checkpoint of the session.
    """
    after: int | None = None
    """None for the current files."""


@frozen
class ReadPlannedFile(BaseCommand):
    """Read the diff and the hunks of one file of a RevertPlan, ChangeReview or Comparison.

    The reply is a PlannedFileContent. Only the most recent plans, reviews and comparisons can be read.
    """

    scheduling = "plan"

    plan: str
    """The id of the plan, review or comparison; empty for the latest review."""
    path: str
    """The file as named in the plan, or its number there, from 1."""


@frozen
class MarkViewed(BaseCommand):
    """Mark files of a review as viewed, or remove the mark. A file loses its mark when it changes again."""

    plan: str
    paths: tuple[str, ...]
    viewed: bool = True


@frozen
class RevertHunks(BaseCommand):
    """Revert hunks of the latest review by their numbers, as one revert of files."""

    scheduling = "revert"
    needs_idle = True

    hunks: tuple[str, ...]
    """`2.1` is the first hunk of the second file, `2` the whole file."""


CommentCommand = AddComment | EditComment | RemoveComment | ListComments | SendComments
ReviewCommand = CommentCommand | ReviewChanges | ReadPlannedFile | MarkViewed | RevertHunks


@frozen(kw_only=True)
class ReviewComment:
    """A comment on a line. The comment follows the line through later edits and renames."""

    id: int
    path: str
    """Current path of the file."""
    line: int | None
    """Current number of the line, from 1; None if the line was changed or removed."""
    removed_line: int | None = None
    """In a review, the number of the line in the earlier state; None if that state doesn't have the line."""
    is_removed: bool = False
    """Whether the comment was written on a removed line."""
    code: str
    """The line as it was when the comment was written."""
    text: str


@frozen
class CommentList:
    """The comments that haven't been sent. Not in kimi-cli."""

    comments: tuple[ReviewComment, ...] = ()
    plan: str = ""
    """Lines are numbered as in the later state of this ChangeReview; empty for the current files."""


@frozen(kw_only=True)
class ChangeReview:
    """The files that differ between two checkpoints, or a checkpoint and now. Not in kimi-cli.

    Each file is described by the effect of reverting its change. ReadPlannedFile reads the diff and hunks.
    """

    id: str = ""
    """Names the review in other commands."""
    before: int
    after: int | None = None
    """None for the current files. Only then can hunks be reverted."""
    files: tuple[PlannedFile, ...] = ()
    viewed: tuple[str, ...] = ()
    """The paths of the files that are marked as viewed and haven't changed since."""
    note: str = ""
    """Why there is nothing to compare, or which changes are missing."""
    is_read_only: bool = False
    """Whether the session is read-only. Then comments, marks and reverts are disabled."""


@frozen(kw_only=True)
class PlannedFileContent:
    """A file of a plan or review with its diff and hunks. Not in kimi-cli."""

    plan: str
    number: int
    """Number of the file in the plan, from 1."""
    file: PlannedFile
    can_revert: bool = False
    """Whether RevertHunks can revert hunks of the file."""
