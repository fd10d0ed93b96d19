"""Input history: the prompts sent in a working directory, kept across sessions (`docs/formats.md`)."""

import json
import os
from functools import cached_property
from pathlib import Path

from kimi_tui.base.paths import make_private_dir, work_dir_key

MAX_ENTRIES = 5000
"""Maximum number of entries to load. Older entries stay in the file."""


class InputHistory:
    """The prompts of one working directory, oldest first, without duplicates."""

    def __init__(self, *, data_dir: Path, work_dir: Path) -> None:
        self._folder = data_dir / "user-history"
        self._work_dir = work_dir
        self._entries: list[str] = []

    @cached_property
    def _file(self) -> Path:
        # Computed lazily, so that the first frame doesn't wait for the digest in the name.
        return self._folder / f"{work_dir_key(self._work_dir)}.jsonl"

    @property
    def entries(self) -> tuple[str, ...]:
        """The loaded and added entries, oldest first."""
        return tuple(self._entries)

    def load(self) -> None:
        """Read the file. Damaged lines are skipped, and a missing file means an empty history."""
        try:
            lines = self._file.read_bytes().split(b"\n")
        except OSError:
            lines = []
        unique = dict.fromkeys(reversed([text for line in lines if (text := _content(line))]))
        loaded = list(unique)[:MAX_ENTRIES]
        loaded.reverse()
        sent_while_loading = [entry for entry in self._entries if entry not in unique]
        self._entries = loaded + sent_while_loading

    def append(self, text: str) -> None:
        """Add `text`. Raises OSError if the file can't be written. The entry is still kept in memory."""
        if not text.strip():
            return
        newest = self._entries[-1] if self._entries else None
        if text == newest:
            return
        if text in self._entries:
            self._entries.remove(text)
        self._entries.append(text)
        make_private_dir(self._file.parent)
        line = json.dumps({"content": text}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        descriptor = os.open(self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            os.write(file.fileno(), line if _ends_line(file.fileno()) else b"\n" + line)


class HistoryCursor:
    """Moves through the history, starting and ending at the draft."""

    def __init__(self, history: InputHistory) -> None:
        self._history = history
        self._draft = ""
        self._position: int | None = None
        self._shown = ""

    def older(self, current: str) -> str | None:
        """Return the entry before the displayed one, or None at the oldest. From the draft, save `current` as
        the draft.
        """
        entries = self._history.entries
        if self._position is None or current != self._shown:
            self._draft, self._position = current, len(entries)
        if self._position == 0:
            return None
        self._position -= 1
        self._shown = entries[self._position]
        return self._shown

    def newer(self, current: str) -> str | None:
        """Return the entry after the displayed one, or the draft after the newest entry. At the draft, return
        None.
        """
        if self._position is None or current != self._shown:
            return None
        entries = self._history.entries
        self._position += 1
        if self._position >= len(entries):
            self._position = None
            return self._draft
        self._shown = entries[self._position]
        return self._shown

    def reset(self) -> None:
        """Move the cursor back to the draft."""
        self._position = None


def _content(line: bytes) -> str:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    content = entry.get("content") if isinstance(entry, dict) else None
    return content if isinstance(content, str) and content.strip() else ""


def _ends_line(descriptor: int) -> bool:
    size = os.lseek(descriptor, 0, os.SEEK_END)
    return size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"
