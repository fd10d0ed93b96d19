"""Reader of session previews: the last messages and the changed files, without opening the session."""

from collections.abc import Iterator
from pathlib import Path

from kimi_tui.base.errors import SessionError
from kimi_tui.base.message import Message
from kimi_tui.history.journal import raw_lines
from kimi_tui.history.message_history import is_note
from kimi_tui.history.record_codec import DamagedLine, parse
from kimi_tui.history.records import Checkpoint, FileStateRecord
from kimi_tui.wire.session_list import SessionExcerpt, SessionPreview
from kimi_tui.wire.timeline import FileChanges

_MAX_MESSAGES = 30
_MAX_CHARACTERS = 2_000
_MAX_PATHS = 30
_MAX_BYTES = 8_000_000
"""Only the end of a longer journal is read."""
_MAX_LINE_BYTES = 1_000_000
"""Longer lines, such as messages with images, are skipped."""


def read_messages(file: Path) -> Iterator[Message]:
    """Yield the messages of the user and the model in a journal; none if the journal can't be read."""
    return (record for record in _read_records(file) if isinstance(record, Message))


def read_preview(session_id: str, file: Path) -> SessionPreview:
    """Return the preview of a session with this journal. Blocks."""
    messages: list[Message] = []
    changes: dict[int, FileChanges] = {}
    start = max(0, file.stat().st_size - _MAX_BYTES) if file.exists() else 0
    for record in _read_records(file, start=start, max_line_bytes=_MAX_LINE_BYTES):
        if isinstance(record, Message):
            messages.append(record)
        elif record.changes is not None:
            changes[record.id] = record.changes
    paths = dict.fromkeys(path for it in reversed(changes.values()) for path in reversed(it.paths))
    return SessionPreview(
        session_id,
        _excerpts(messages[-_MAX_MESSAGES:]),
        changed_files=tuple(paths)[:_MAX_PATHS],
        more_files=max(len(paths) - _MAX_PATHS, 0),
        added_lines=sum(it.added_lines for it in changes.values()),
        removed_lines=sum(it.removed_lines for it in changes.values()),
    )


def _read_records(
    file: Path, *, start: int = 0, max_line_bytes: int | None = None
) -> Iterator[Message | Checkpoint | FileStateRecord]:
    try:
        for raw in raw_lines(file, start=start):
            if max_line_bytes is not None and len(raw.data) > max_line_bytes:
                continue
            try:
                record, _ = parse(raw.data)
            except DamagedLine:
                continue
            if isinstance(record, Checkpoint | FileStateRecord | Message) and not _is_generated(record):
                yield record
    except SessionError:
        return  # an unreadable journal has no records


def _is_generated(record: Checkpoint | FileStateRecord | Message) -> bool:
    """Return whether a message is from kimi-tui or a tool."""
    return isinstance(record, Message) and (record.role not in ("user", "assistant") or is_note(record))


def _excerpts(messages: list[Message]) -> tuple[SessionExcerpt, ...]:
    texts = ((message, message.text.strip()) for message in messages)
    return tuple(
        SessionExcerpt("user" if message.role == "user" else "agent", text[:_MAX_CHARACTERS])
        for message, text in texts
        if text
    )
