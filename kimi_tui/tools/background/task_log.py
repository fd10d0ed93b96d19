"""A task's output file: written while the task runs, read in chunks."""

import logging
import os
from pathlib import Path

import aiofiles

from kimi_tui.base.paths import make_private_dir
from kimi_tui.tools.shell.captured_output import DISK_LIMIT

logger = logging.getLogger(__name__)

_TRUNCATION_NOTICE = "\n[… limit reached: the rest of the output is not saved …]\n"


class TaskLog:
    """Output file of one task. A write error never ends the task."""

    def __init__(self, path: Path, *, limit: int = DISK_LIMIT) -> None:
        self.path = path
        self._bytes_left = limit
        """How many bytes may still be written."""
        self._file: int | None = None

    def open(self) -> None:
        """Create the file, accessible only to the user. Raises OSError."""
        make_private_dir(self.path.parent)
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)

    def write(self, text: str) -> None:
        """Append `text`. Beyond the limit, output is replaced by a single notice."""
        if self._file is None or not text or self._bytes_left <= 0:
            return
        data = text.encode("utf-8", "replace")
        if len(data) > self._bytes_left:
            data = data[: self._bytes_left] + _TRUNCATION_NOTICE.encode()
        self._bytes_left -= len(data)
        try:
            os.write(self._file, data)
        except OSError:
            logger.warning("can't save a task's output: %s", self.path, exc_info=True)
            self.close()

    def close(self) -> None:
        """Close the file. Later writes are dropped."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


async def read_chunk(path: Path, offset: int, limit: int) -> tuple[int, str, int]:
    """Read up to `limit` bytes from `offset` on. Return the start offset, the text and the end offset.

    A negative `offset` counts from the end. Chunks never split a character. A missing file is empty.
    """
    try:
        async with aiofiles.open(path, "rb") as file:
            size = await file.seek(0, os.SEEK_END)
            start = max(0, size + offset) if offset < 0 else min(offset, size)
            await file.seek(start)
            data = await file.read(limit)
    except OSError:
        return 0, "", 0
    if offset < 0:
        skipped = next((n for n, byte in enumerate(data[:3]) if byte & 0xC0 != 0x80), len(data[:3]))
        start, data = start + skipped, data[skipped:]
    data = _strip_partial_character(data)
    return start, data.decode("utf-8", "replace"), start + len(data)


def _strip_partial_character(data: bytes) -> bytes:
    """Return `data` without an incomplete character at its end."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return data[:-back] if length > back else data
    return data
