"""The index of a work dir's sessions: `index.jsonl` beside their folders.

A line is `{"id", "work_dir", "title", "updated"}`, and the newest line about a session counts. What the index
lacks is made up from the folders, so losing it costs nothing: they decide which sessions there are.
"""

import json
import logging
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import SessionError
from kimi_tui.base.message import Message
from kimi_tui.base.paths import work_dir_key
from kimi_tui.base.terminal import plain_line
from kimi_tui.base.value import value
from kimi_tui.history.conversation import is_note
from kimi_tui.history.disk import LOCAL_DISK, Disk
from kimi_tui.history.journal import Journal, raw_lines
from kimi_tui.history.notation import DamagedLine, parse
from kimi_tui.history.state import read_state

logger = logging.getLogger(__name__)

TITLE_LENGTH = 80
_LINES_TO_THE_FIRST_WORDS = 20


@value(kw_only=True)
class SessionSummary:
    """A session, as lists show it."""

    id: str
    dir: Path
    work_dir: Path | None
    """None when nothing says so any more."""
    title: str
    updated: float
    """When it was last used, whether or not that ended well; in seconds since the epoch."""


class SessionIndex:
    """The sessions in one folder, which is named after the work dir's key."""

    def __init__(self, folder: Path, *, disk: Disk = LOCAL_DISK) -> None:
        self._folder = folder
        self._path = folder / "index.jsonl"
        self._disk = disk

    def note(self, session_id: str, *, work_dir: Path, title: str, updated: float) -> None:
        """Note the state of a session. A disk that refuses is left alone: the folders say it too."""
        self._append({"id": session_id, "work_dir": str(work_dir), "title": title, "updated": updated})

    def summaries(self) -> list[SessionSummary]:
        """The sessions in which something was said, in no order. What the index lacked is added to it."""
        used = dict(self._used())
        known = self._read()
        for session_id in used:
            entry = known.get(session_id)
            if entry is None or not entry["title"]:
                known[session_id] = self._completed(session_id, entry)
        return [self._summary(known[session_id], time) for session_id, time in used.items()]

    def _used(self) -> Iterator[tuple[str, float]]:
        """The sessions with a conversation, and when it was last written."""
        if not self._folder.is_dir():
            return
        for folder in self._folder.iterdir():
            try:
                conversation = (folder / "context.jsonl").stat()
            except OSError:
                continue
            if conversation.st_size and not folder.name.startswith("."):
                yield folder.name, conversation.st_mtime

    def _read(self) -> dict[str, dict[str, Any]]:
        if not self._path.exists():
            return {}
        entries: dict[str, dict[str, Any]] = {}
        try:
            for raw in raw_lines(self._path):
                entry = _entry_in(raw.data)
                if entry is not None:
                    entries[entry["id"]] = entry
        except SessionError:
            logger.warning("the index can't be read: %s", self._path)
        return entries

    def _append(self, entry: dict[str, Any]) -> None:
        try:
            Journal(self._path, disk=self._disk).append(json.dumps(entry).encode() + b"\n", sync=False)
        except SessionError:
            logger.warning("the index can't be written: %s", self._path)

    def _completed(self, session_id: str, entry: dict[str, Any] | None) -> dict[str, Any]:
        """An entry that was lost, or that has no title yet, as the session's own files have it."""
        folder = self._folder / session_id
        state = read_state(folder / "state.json")
        title = (state.title if state is not None else "") or _first_words(folder / "context.jsonl")
        known = entry or {"work_dir": state.work_dir if state is not None else "", "updated": 0.0}
        completed = {"id": session_id, **known, "title": title}
        if completed != entry:
            self._append(completed)
        return completed

    def _summary(self, entry: dict[str, Any], written: float) -> SessionSummary:
        work_dir = Path(entry["work_dir"])
        return SessionSummary(
            id=entry["id"],
            dir=self._folder / entry["id"],
            work_dir=work_dir if work_dir_key(work_dir) == self._folder.name else None,
            title=entry["title"],
            updated=max(written, entry["updated"]),
        )


def _entry_in(data: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("updated"), int | float):
        return None
    return entry if all(isinstance(entry.get(name), str) for name in ("id", "work_dir", "title")) else None


def _first_words(conversation: Path) -> str:
    """The beginning of what the user said first."""
    try:
        for raw in islice(raw_lines(conversation), _LINES_TO_THE_FIRST_WORDS):
            try:
                record, _ = parse(raw.data)
            except DamagedLine:
                continue
            if isinstance(record, Message) and record.role == "user" and not is_note(record):
                return plain_line(record.text)[:TITLE_LENGTH]
    except SessionError:
        logger.warning("a conversation can't be read: %s", conversation)
    return ""
