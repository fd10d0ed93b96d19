"""A task's output on disk: written as it comes, read in pieces while it grows."""

import logging
import os
from pathlib import Path

from kimi_tui.base.paths import make_private_dir
from kimi_tui.tools.shell.output import DISK_LIMIT

logger = logging.getLogger(__name__)

_FULL = "\n[… the task printed more than is kept …]\n"


class TaskLog:
    """The file of one task. Losing output never ends the task."""

    def __init__(self, path: Path, *, limit: int = DISK_LIMIT) -> None:
        self.path = path
        self._left = limit
        """Bytes that still fit."""
        self._file: int | None = None

    def open(self) -> None:
        """Make the file, for the user alone. Raises OSError."""
        make_private_dir(self.path.parent)
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)

    def write(self, text: str) -> None:
        """Append `text`; what is over the limit is left out, and the file says so."""
        if self._file is None or not text or self._left <= 0:
            return
        data = text.encode("utf-8", "replace")
        if len(data) > self._left:
            data = data[: self._left] + _FULL.encode()
        self._left -= len(data)
        try:
            os.write(self._file, data)
        except OSError:
            logger.warning("a task's output can't be kept: %s", self.path, exc_info=True)
            self.close()

    def close(self) -> None:
        """No more is written."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def read_piece(path: Path, offset: int, limit: int) -> tuple[int, str, int]:
    """Up to `limit` bytes from `offset` on, as where they begin, their text, and where the next piece begins.

    A negative offset counts from the end. Cut at characters. A file that isn't there is empty.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            start = max(0, size + offset) if offset < 0 else min(offset, size)
            file.seek(start)
            data = file.read(limit)
    except OSError:
        return 0, "", 0
    if offset < 0:
        torn = next((n for n, byte in enumerate(data[:3]) if byte & 0xC0 != 0x80), len(data[:3]))
        start, data = start + torn, data[torn:]
    whole = _without_torn_end(data)
    return start, whole.decode("utf-8", "replace"), start + len(whole)


def _without_torn_end(data: bytes) -> bytes:
    """`data` without the beginning of a character at its end."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return data[:-back] if length > back else data
    return data
