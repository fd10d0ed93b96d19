"""Review: the changes between two checkpoints, and comments on lines, which are sent as one prompt."""

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
    """The ChangeReview in whose later state the line has this number; empty for the current files."""
    is_removed: bool = False
    """Whether the number is that of a removed line in the earlier state of the review, by default of the
    latest one.
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
    """List the comments, with the lines where they are now. The reply is a CommentList."""

    plan: str = ""
    """The ChangeReview in whose later state the lines are numbered; empty for the current files."""


@frozen
class SendComments(BaseCommand):
    """Send all comments to the agent as one prompt, and remove them."""


@frozen
class ReviewChanges(BaseCommand):
    """Compare the files for a review. The reply is a ChangeReview."""

    scheduling = "plan"

    before: int | None = None
    """The checkpoint from which changes are reviewed; None for the first one after the last review, or of the
    session.
    """
    after: int | None = None
    """None for the current files."""


@frozen
class ReadPlannedFile(BaseCommand):
    """Read the diff and the hunks of one file of a RevertPlan, ChangeReview or Comparison. The reply is a
    PlannedFileContent.

    They are kept until several newer ones have been sent.
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
    """Where the file is now."""
    line: int | None
    """The number of the line now, from 1; None if it was changed or removed."""
    removed_line: int | None = None
    """In a review: the number of the line in the earlier state; None if it isn't there."""
    is_removed: bool = False
    """Whether the line was a removed one when the comment was written."""
    code: str
    """The line as it was when the comment was written."""
    text: str


@frozen
class CommentList:
    """The comments that haven't been sent. Not in kimi-cli."""

    comments: tuple[ReviewComment, ...] = ()
    plan: str = ""
    """The ChangeReview in whose later state the lines are numbered; empty for the current files."""


@frozen(kw_only=True)
class ChangeReview:
    """The files that differ between two checkpoints, or a checkpoint and now. Not in kimi-cli.

    A file is described by what a revert of its change does, without diff and hunks: ReadPlannedFile reads
    those.
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
    """Why there is nothing to compare, or what is missing."""
    is_read_only: bool = False
    """Whether there can be no new comments, marks or reverts, since the session is open read-only."""


@frozen(kw_only=True)
class PlannedFileContent:
    """A file of a plan or review with its diff and hunks. Not in kimi-cli."""

    plan: str
    number: int
    """Its number in the plan, from 1."""
    file: PlannedFile
    can_revert: bool = False
    """Whether it is part of a ChangeReview of which hunks can be reverted."""
