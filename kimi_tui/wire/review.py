"""Review: comments on lines, which are sent to the agent as one prompt."""

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.base_command import BaseCommand


@frozen
class AddComment(BaseCommand):
    """Comment on a line of a file. The reply is a CommentList."""

    path: str
    """Relative to the working directory, or absolute."""
    line: int
    """From 1."""
    text: str


@frozen
class RemoveComment(BaseCommand):
    """Remove a comment. The reply is a CommentList."""

    id: int


@frozen
class ListComments(BaseCommand):
    """List the comments, with the lines where they are now. The reply is a CommentList."""


@frozen
class SendComments(BaseCommand):
    """Send all comments to the agent as one prompt, and remove them."""


ReviewCommand = AddComment | RemoveComment | ListComments | SendComments


@frozen(kw_only=True)
class ReviewComment:
    """A comment on a line. The comment follows the line through later edits and renames."""

    id: int
    path: str
    """Where the file is now."""
    line: int | None
    """The number of the line now, from 1; None if it was changed or removed."""
    code: str
    """The line as it was when the comment was written."""
    text: str


@frozen
class CommentList:
    """The comments that haven't been sent. Not in kimi-cli."""

    comments: tuple[ReviewComment, ...] = ()
