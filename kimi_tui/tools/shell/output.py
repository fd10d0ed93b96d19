"""What a command printed: as much as the model may read, the rest kept on disk."""

import os
from pathlib import Path
from typing import BinaryIO

from kimi_tui.base.identity import new_uid
from kimi_tui.base.paths import make_private_dir
from kimi_tui.base.value import value

MODEL_LIMIT = 50_000
"""Characters that the model receives of one command."""
DISK_LIMIT = 64 * 1024 * 1024
"""Bytes that are kept on disk of one command."""
_ROOM_FOR_NOTICE = 1_000
_LINE_REACH = 2_000
"""How many characters a cut may move to fall between two lines."""


@value
class OutputFolder:
    """Where output too long for the model is kept, for the user alone."""

    path: Path

    def new_file(self, ending: str = ".txt") -> tuple[Path, BinaryIO]:
        """A new file in it, open for writing. Raises OSError."""
        path = make_private_dir(self.path) / f"{new_uid()}{ending}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        return path, os.fdopen(os.open(path, flags, 0o600), "wb")


class OutputKeeper:
    """Takes text as it comes; memory stays bounded however much that is."""

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
        self._problem = ""

    def add(self, text: str) -> None:
        """Take the next piece."""
        if not text:
            return
        self._pieces.append(text)
        self._pending += len(text)
        self._length += len(text)
        self._newlines += text.count("\n")
        if self._length > self._limit:
            self._write(text if self._path else self._head + "".join(self._pieces))
        if self._pending > self._limit:
            self._settle()

    def close(self) -> None:
        """Close the file on disk."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self._fail(error)
            self._file = None

    def text(self) -> str:
        """What the model reads: all of it, or its head and tail around a line on what is missing."""
        self._settle()
        if self._length <= self._limit:
            return self._head
        half = (self._limit - _ROOM_FOR_NOTICE) // 2
        head, tail = _head_lines(self._head[:half]), _tail_lines(self._tail[-half:])
        cut = self._length - len(head) - len(tail)
        lines = self._newlines - head.count("\n") - tail.count("\n")
        notice = f"[… {cut:,} characters on {lines:,} lines are cut here; {self._whereabouts} …]"
        return f"{head.rstrip()}\n{notice}\n{tail}"

    @property
    def is_cut(self) -> bool:
        """Whether the model gets less than all."""
        return self._length > self._limit

    @property
    def lines(self) -> int:
        """How many lines there are."""
        last = (self._pieces[-1:] or [self._tail or self._head])[0]
        return self._newlines + bool(last and not last.endswith("\n"))

    @property
    def _whereabouts(self) -> str:
        if self._path is None:
            return f"the whole could not be kept on disk ({self._problem})"
        if self._problem:
            return f"{self._path} holds the beginning, until writing failed ({self._problem})"
        if not self._is_whole:
            return f"{self._path} holds the beginning of it: read or search that file"
        return f"the whole is in {self._path}: read or search that file"

    def _settle(self) -> None:
        """Move the pieces to where they stay: the first `limit` characters, and the last."""
        text = "".join(self._pieces)
        self._pieces.clear()
        self._pending = 0
        room = max(self._limit - len(self._head), 0)
        self._head += text[:room]
        self._tail = (self._tail + text[room:])[-self._limit :]

    def _write(self, text: str) -> None:
        if self._problem or not self._is_whole:
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
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self._problem = error.strerror or str(error)


def _head_lines(text: str) -> str:
    """`text` up to its last newline, when that isn't far from its end."""
    newline = text.rfind("\n", max(len(text) - _LINE_REACH, 0))
    return text if newline < 0 else text[: newline + 1]


def _tail_lines(text: str) -> str:
    """`text` from behind its first newline, when that isn't far from its beginning."""
    newline = text.find("\n", 0, _LINE_REACH)
    return text[newline + 1 :]
