"""Index of a working directory's sessions: `index.jsonl`, next to the session directories.

A line is `{"id", "work_dir", "title", "updated"}`. A rebuilt line also has `state_time`, the time of the last
write to `state.json`. Times are in seconds since the epoch. The newest line of a session counts.

The session directories are the source of truth: missing entries are rebuilt from them, so losing the index
does no harm.
"""

import json
import logging
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import SessionError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message
from kimi_tui.base.paths import work_dir_key
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM, FileSystem
from kimi_tui.history.journal import Journal, raw_lines
from kimi_tui.history.kimi_cli.data_dir import KimiCliSession
from kimi_tui.history.message_history import is_note
from kimi_tui.history.record_codec import DamagedLine, parse
from kimi_tui.history.session_state import read_state

logger = logging.getLogger(__name__)

TITLE_LENGTH = 80
_CLOCK_TOLERANCE_S = 2.0
"""An entry may have a time up to this much earlier than the modification time of `state.json`."""
_MAX_LINES_TO_FIRST_PROMPT = 20


@frozen(kw_only=True)
class SessionSummary:
    """A session as shown in lists."""

    id: str
    dir: Path
    work_dir: Path | None
    """None if it is unknown."""
    title: str
    updated: float
    """Time of the last use in seconds since the epoch, even if the session ended in a crash."""
    kimi_cli_session: KimiCliSession | None = None
    """Set if the session belongs to Kimi CLI."""


class SessionIndex:
    """The sessions in one directory, which is named after the working directory's key."""

    def __init__(self, folder: Path, *, fs: FileSystem = LOCAL_FILE_SYSTEM) -> None:
        self._folder = folder
        self._path = folder / "index.jsonl"
        self._fs = fs

    def record(self, session_id: str, *, work_dir: Path, title: str, updated: float) -> None:
        """Record the current data of a session. Write errors are ignored, since the entry can be rebuilt."""
        self._append({"id": session_id, "work_dir": str(work_dir), "title": title, "updated": updated})

    def summaries(self) -> list[SessionSummary]:
        """Return the sessions that have messages, in no particular order. Missing index entries are added."""
        used = dict(self._used_sessions())
        known = self._read()
        for session_id in used:
            entry = known.get(session_id)
            if entry is None or not entry["title"] or self._is_stale(entry):
                known[session_id] = self._complete_entry(session_id, entry)
        return [self._summary(known[session_id], time) for session_id, time in used.items()]

    def _is_stale(self, entry: dict[str, Any]) -> bool:
        """Return whether the state was written after the entry, as by a program that then crashed."""
        seen: float = max(entry["updated"], entry.get("state_time", 0.0))
        return _modified(self._folder / entry["id"] / "state.json") > seen + _CLOCK_TOLERANCE_S

    def _used_sessions(self) -> Iterator[tuple[str, float]]:
        """Yield the sessions that have a conversation, with the time of its last write."""
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
                entry = _parse_entry(raw.data)
                if entry is not None:
                    entries[entry["id"]] = entry
        except SessionError:
            logger.warning("can't read the index: %s", self._path)
        return entries

    def _append(self, entry: dict[str, Any]) -> None:
        try:
            Journal(self._path, fs=self._fs).append(json.dumps(entry).encode() + b"\n", sync=False)
        except SessionError:
            logger.warning("can't write the index: %s", self._path)

    def _complete_entry(self, session_id: str, entry: dict[str, Any] | None) -> dict[str, Any]:
        """Complete a missing or untitled entry from the session's own files."""
        folder = self._folder / session_id
        state = read_state(folder / "state.json")
        title = (state.title if state is not None else "") or first_prompt(folder / "context.jsonl")
        work_dir = (state.work_dir if state is not None else "") or (entry["work_dir"] if entry else "")
        completed = {
            "id": session_id,
            "work_dir": work_dir,
            "updated": entry["updated"] if entry else 0.0,
            "title": title,
            "state_time": _modified(folder / "state.json"),
        }
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


def _modified(path: Path) -> float:
    """Return the time of a file's last write; 0 if it doesn't exist."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _parse_entry(data: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("updated"), int | float):
        return None
    if not isinstance(entry.get("state_time", 0.0), int | float):
        return None
    return entry if all(isinstance(entry.get(name), str) for name in ("id", "work_dir", "title")) else None


def first_prompt(conversation: Path) -> str:
    """Return the beginning of the user's first prompt."""
    try:
        for raw in islice(raw_lines(conversation), _MAX_LINES_TO_FIRST_PROMPT):
            try:
                record, _ = parse(raw.data)
            except DamagedLine:
                continue
            if isinstance(record, Message) and record.role == "user" and not is_note(record):
                return sanitize_line(record.text)[:TITLE_LENGTH]
    except SessionError:
        logger.warning("can't read a conversation: %s", conversation)
    return ""
