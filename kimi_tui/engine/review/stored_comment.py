"""A comment as it is stored in `review.json`."""

from kimi_tui.base.frozen import frozen

MAX_COMMENT_TEXT = 10_000
"""Maximum number of characters of a comment."""


@frozen(kw_only=True)
class StoredComment:
    """A comment, and the line that it was written on."""

    id: int
    path: str
    """In the file history."""
    state: str
    """The manifest in which the line has the number `line`."""
    line: int
    """From 0."""
    code: str
    text: str
    is_removed: bool = False
    """Whether the line was removed after `state`, in the review in which the comment was written."""
