"""Input history: what was sent in a work dir, kept across sessions (`docs/formats.md`)."""

import json
import os
from functools import cached_property
from pathlib import Path

from kimi_tui.base.paths import make_private_dir, work_dir_key

ENTRIES_KEPT = 5000
"""How many entries are read back; older ones stay in the file."""


class InputHistory:
    """The prompts of one work dir, oldest first, each once."""

    def __init__(self, *, share_dir: Path, work_dir: Path) -> None:
        self._folder = share_dir / "user-history"
        self._work_dir = work_dir
        self._entries: list[str] = []

    @cached_property
    def _file(self) -> Path:
        # The first frame waits for the constructor, and not for the digest that names the file.
        return self._folder / f"{work_dir_key(self._work_dir)}.jsonl"

    @property
    def entries(self) -> tuple[str, ...]:
        """What is known, oldest first."""
        return tuple(self._entries)

    def load(self) -> None:
        """Read the file; damaged lines are skipped, and no file is no history."""
        try:
            lines = self._file.read_bytes().split(b"\n")
        except OSError:
            lines = []
        unique = dict.fromkeys(reversed([text for line in lines if (text := _content(line))]))
        loaded = list(unique)[:ENTRIES_KEPT]
        loaded.reverse()
        sent_meanwhile = [entry for entry in self._entries if entry not in unique]
        self._entries = loaded + sent_meanwhile

    def append(self, text: str) -> None:
        """Remember `text`. Raises OSError when the file can't be written; memory has it all the same."""
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


class HistoryWalk:
    """A walk through the history that starts and ends at the draft."""

    def __init__(self, history: InputHistory) -> None:
        self._history = history
        self._draft = ""
        self._position: int | None = None
        self._shown = ""

    def older(self, current: str) -> str | None:
        """The entry before the one shown; None at the oldest. `current` is kept as the draft at the start."""
        entries = self._history.entries
        if self._position is None or current != self._shown:
            self._draft, self._position = current, len(entries)
        if self._position == 0:
            return None
        self._position -= 1
        self._shown = entries[self._position]
        return self._shown

    def newer(self, current: str) -> str | None:
        """The entry after the one shown, at the end the draft; None when the walk has not begun."""
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
        """The next walk starts at the end."""
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
