"""Output of a command: truncated for the model, complete on disk."""

import os
from pathlib import Path
from typing import BinaryIO

from kimi_tui.base.frozen import frozen
from kimi_tui.base.ids import new_uid
from kimi_tui.base.paths import make_private_dir

MODEL_LIMIT = 50_000
"""Maximum number of characters of a command's output that the model gets."""
DISK_LIMIT = 64 * 1024 * 1024
"""Maximum number of bytes of a command's output that are saved on disk."""
_NOTICE_CHARS = 1_000
_MAX_CUT_SHIFT = 2_000
"""How many characters a cut may be moved to fall between two lines."""


@frozen
class OutputFolder:
    """Directory for output that is too long for the model, accessible only to the user."""

    path: Path

    def new_file(self, suffix: str = ".txt") -> tuple[Path, BinaryIO]:
        """Create a file in the directory. Return its path and the file, open for writing. Raises OSError."""
        path = make_private_dir(self.path) / f"{new_uid()}{suffix}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        return path, os.fdopen(os.open(path, flags, 0o600), "wb")


class CapturedOutput:
    """Collects text as it arrives, with bounded memory."""

    def __init__(
        self, folder: OutputFolder, *, limit: int = MODEL_LIMIT, disk_limit: int = DISK_LIMIT
    ) -> None:
        self._folder = folder
        self._limit = limit
        self._disk_left = disk_limit
        self._head = ""
        self._pieces: list[str] = []
        self._pending = 0
        self._tail = ""
        self._length = 0
        self._newlines = 0
        self._file: BinaryIO | None = None
        self._path: Path | None = None
        self._is_whole = True
        self._write_error = ""

    def add(self, text: str) -> None:
        """Add the next piece of text."""
        if not text:
            return
        self._pieces.append(text)
        self._pending += len(text)
        self._length += len(text)
        self._newlines += text.count("\n")
        if self._length > self._limit:
            self._write_to_disk(text if self._path else self._head + "".join(self._pieces))
        if self._pending > self._limit:
            self._flush_pieces()

    def close(self) -> None:
        """Close the file on disk."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self._set_write_error(error)
            self._file = None

    def text(self) -> str:
        """Return the text for the model: all of it, or its head and tail with a notice in between."""
        self._flush_pieces()
        if self._length <= self._limit:
            return self._head
        half = (self._limit - _NOTICE_CHARS) // 2
        head, tail = _cut_at_last_newline(self._head[:half]), _cut_at_first_newline(self._tail[-half:])
        cut = self._length - len(head) - len(tail)
        lines = self._newlines - head.count("\n") - tail.count("\n")
        notice = f"[… {cut:,} characters on {lines:,} lines left out; {self._location_notice} …]"
        return f"{head.rstrip()}\n{notice}\n{tail}"

    @property
    def is_cut(self) -> bool:
        """Whether the model doesn't get the full output."""
        return self._length > self._limit

    @property
    def lines(self) -> int:
        """Number of lines of the output."""
        last = (self._pieces[-1:] or [self._tail or self._head])[0]
        return self._newlines + bool(last and not last.endswith("\n"))

    @property
    def _location_notice(self) -> str:
        if self._path is None:
            return f"the full output could not be saved ({self._write_error})"
        if self._write_error:
            return f"{self._path} has only the beginning, because writing failed ({self._write_error})"
        if not self._is_whole:
            return f"{self._path} has only the beginning: read or search that file"
        return f"the full output is in {self._path}: read or search that file"

    def _flush_pieces(self) -> None:
        """Move the pieces to the head (the first `limit` characters) and the tail (the last)."""
        text = "".join(self._pieces)
        self._pieces.clear()
        self._pending = 0
        remaining = max(self._limit - len(self._head), 0)
        self._head += text[:remaining]
        self._tail = (self._tail + text[remaining:])[-self._limit :]

    def _write_to_disk(self, text: str) -> None:
        if self._write_error or not self._is_whole:
            return
        try:
            if self._path is None:
                self._path, self._file = self._folder.new_file()
            if self._file is not None:
                data = text.encode("utf-8", "replace")
                self._file.write(data[: self._disk_left])
                self._is_whole = len(data) <= self._disk_left
                self._disk_left -= len(data)
        except OSError as error:
            self._set_write_error(error)

    def _set_write_error(self, error: OSError) -> None:
        self._write_error = error.strerror or str(error)


def _cut_at_last_newline(text: str) -> str:
    """Return `text` up to its last newline, if that is near the end; else all of it."""
    newline = text.rfind("\n", max(len(text) - _MAX_CUT_SHIFT, 0))
    return text if newline < 0 else text[: newline + 1]


def _cut_at_first_newline(text: str) -> str:
    """Return `text` after its first newline, if that is near the beginning; else all of it."""
    newline = text.find("\n", 0, _MAX_CUT_SHIFT)
    return text[newline + 1 :]
