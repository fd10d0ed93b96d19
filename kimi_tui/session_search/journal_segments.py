"""Files with the messages of a session, and the lines that two of these files share."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.history.journal import Journal, raw_lines
from kimi_tui.history.session_index import SessionSummary
from kimi_tui.session_search.journal_message import CheckpointMark, is_checkpoint, read_line

CONVERSATION = "context.jsonl"
SUBAGENTS = "subagents"


@frozen(kw_only=True)
class SegmentFile:
    """A journal or one of its rotations. A file keeps its inode when it becomes a rotation."""

    session_id: str
    path: Path
    is_current: bool
    size: int
    inode: int
    modified: float
    """Seconds since the epoch."""


def find_segments(summary: SessionSummary) -> list[SegmentFile]:
    """Return the files of a session: other branches, oldest first, the current branch, then sub-agents."""
    theirs = summary.kimi_cli_session
    if theirs is not None:
        return list(_segments_of(summary.id, theirs.context_file, Journal(theirs.context_file).rotations()))
    return list(_segments_in(summary.id, summary.dir))


def _segments_in(session_id: str, folder: Path) -> Iterator[SegmentFile]:
    try:
        names = os.listdir(folder)  # noqa: PTH208 - most folders have no rotation to look for
    except OSError:
        return
    journal = folder / CONVERSATION
    has_rotations = any(name.startswith("context") and name != CONVERSATION for name in names)
    yield from _segments_of(session_id, journal, Journal(journal).rotations() if has_rotations else {})
    if SUBAGENTS in names:
        for subagent in sorted((folder / SUBAGENTS).iterdir()):
            yield from _segments_in(session_id, subagent)


def _segments_of(session_id: str, journal: Path, rotations: Mapping[int, Path]) -> Iterator[SegmentFile]:
    for path in (*rotations.values(), journal):
        try:
            status = path.stat()
        except OSError:
            continue
        yield SegmentFile(
            session_id=session_id,
            path=path,
            is_current=path == journal,
            size=status.st_size,
            inode=status.st_ino,
            modified=status.st_mtime,
        )


def read_shared_part(path: Path, other: Path) -> tuple[int, CheckpointMark | None]:
    """Return the size in bytes of the lines that both journals begin with, and the last checkpoint in them.

    Journals share lines, since a revert copies the lines that it keeps to a new file. Raises SessionError.
    """
    size, checkpoint = 0, None
    for line, other_line in zip(raw_lines(path), raw_lines(other), strict=False):
        if line.data != other_line.data or not line.has_line_end:
            break
        size = line.end
        if is_checkpoint(line.data) and isinstance(mark := read_line(line.data), CheckpointMark):
            checkpoint = mark
    return size, checkpoint
