"""Marks of viewed files and the checkpoints of the last review, as stored in `viewed.json`."""

import json
import logging
from collections.abc import Iterable
from dataclasses import field

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.base.message_text import msg
from kimi_tui.history.session import Session
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.plan import PlanItem

logger = logging.getLogger(__name__)

_FILE = "viewed.json"


@frozen(kw_only=True)
class ViewedFiles:
    """The state of the reviews of a session."""

    marks: dict[str, str] = field(default_factory=dict)
    """Marks of the viewed files by path, from `content_mark`."""
    begun_at: int | None = None
    """The checkpoint at which the last complete review began."""
    ended_at: int | None = None
    """The newest checkpoint when that review ended."""


def content_mark(item: PlanItem) -> str:
    """Return the mark for a file's change. The mark is different once the file changes again."""
    return f"{_name(item.now)} {_name(item.then)} {item.renamed_to}"


def read_viewed_files(session: Session) -> ViewedFiles:
    """Return the state of the reviews. Blocks."""
    try:
        return from_jsonable(ViewedFiles, json.loads((session.dir / _FILE).read_text("utf-8")))
    except FileNotFoundError:
        return ViewedFiles()
    except (OSError, ValueError, TypeError, RecursionError):
        logger.warning("can't read %s", _FILE, exc_info=True)
        return ViewedFiles()


def write_viewed_files(session: Session, viewed: ViewedFiles) -> None:
    """Store the state of the reviews. Blocks. Raises KimiTuiError."""
    text = json.dumps(to_jsonable(viewed), ensure_ascii=False, indent=2)
    try:
        write_private_atomic(session.dir / _FILE, f"{text}\n")
    except (OSError, ValueError) as error:
        raise KimiTuiError(
            msg("Can't save which files were viewed: {reason}.", reason=reason_of(error)),
            hint="Free some disk space.",
        ) from error


def viewed_items(viewed: ViewedFiles, items: Iterable[PlanItem]) -> list[PlanItem]:
    """Return the items that are marked and haven't changed since."""
    return [item for item in items if viewed.marks.get(item.path) == content_mark(item)]


def _name(entry: Entry | None) -> str:
    return f"{entry.kind} {entry.mode:o} {entry.ref}" if entry is not None else "-"
