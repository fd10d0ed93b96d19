"""A comment as it is stored in `review.json`."""

import json
import logging
from collections.abc import Sequence

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.base.message_text import msg
from kimi_tui.history.session import Session

logger = logging.getLogger(__name__)

_FILE = "review.json"

MAX_COMMENT_TEXT = 10_000
"""Maximum number of characters of a comment."""


@frozen(kw_only=True)
class StoredComment:
    """A comment and its line."""

    id: int
    path: str
    """Path in the file history."""
    state: str
    """The manifest that contains the line."""
    line: int
    """Line number in `state`, from 0."""
    code: str
    text: str
    is_removed: bool = False
    """Whether the review that the comment was written in shows the line as removed."""


def read_comments(session: Session) -> list[StoredComment]:
    """Return the comments of a session. Blocks."""
    try:
        items = json.loads((session.dir / _FILE).read_text("utf-8"))
        return [from_jsonable(StoredComment, item) for item in items]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, RecursionError):
        logger.warning("can't read %s", _FILE, exc_info=True)
        return []


def write_comments(session: Session, comments: Sequence[StoredComment]) -> None:
    """Store the comments of a session. Blocks. Raises KimiTuiError."""
    text = json.dumps([to_jsonable(comment) for comment in comments], ensure_ascii=False, indent=2)
    try:
        write_private_atomic(session.dir / _FILE, f"{text}\n")
    except (OSError, ValueError) as error:
        raise KimiTuiError(
            msg("Can't save the comments: {reason}.", reason=reason_of(error)),
            hint="Free some disk space.",
        ) from error
