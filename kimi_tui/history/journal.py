"""Journal: an append-only file of lines. Replaced versions are kept as rotations.

It handles bytes only; `records` defines the meaning of the lines. The methods block, so `Context` calls them
in a thread. Only one process writes at a time (`SessionLock`). A write that fails leaves the file unchanged.
"""

import contextlib
import errno
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from kimi_tui.base.disk_errors import is_full
from kimi_tui.base.errors import JournalGone, JournalWriteError, SessionError
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.filesystem import (
    APPEND_FLAGS,
    LOCAL_FILE_SYSTEM,
    TEMPORARY_SUFFIX,
    FileSystem,
    discard,
    read_range,
    replace_file,
    sync_folder,
    write_all,
    write_temporary,
)

_NO_LINKS = {errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}


class RawLine(NamedTuple):
    """A line of the file."""

    number: int
    """Counted from 1, the first line that was read."""
    offset: int
    data: bytes
    """Includes the newline, if there is one."""

    @property
    def end(self) -> int:
        """Offset of the next line."""
        return self.offset + len(self.data)

    @property
    def has_line_end(self) -> bool:
        """Whether it ends in a newline. Only the last line may lack it."""
        return self.data.endswith(b"\n")

    @property
    def is_blank(self) -> bool:
        """Whether it is empty or contains only whitespace."""
        return not self.data.strip()


def raw_lines(path: Path, *, start: int = 0) -> Iterator[RawLine]:
    r"""Yield the lines of a file from byte `start` on, split at `\n` only. Raises SessionError."""
    offset = start
    try:
        with path.open("rb") as file:
            file.seek(start)
            for number, data in enumerate(file, 1):
                yield RawLine(number, offset, data)
                offset += len(data)
    except OSError as error:
        raise SessionError(
            msg("Can't read {path}: {reason}.", path=path, reason=error.strerror or error),
            hint="Check that the file and its directory are readable, or open another session.",
        ) from error


class Journal:
    """The file `path`, its rotations `path.1`, `path.2` …, and `path.damaged` for truncated lines."""

    def __init__(self, path: Path, *, fs: FileSystem = LOCAL_FILE_SYSTEM) -> None:
        self.path = path
        self._fs = fs
        self._end: int | None = None
        """Offset of the next line; None until the file has been read."""
        self._line_is_open = False
        """Whether the last line lacks a newline."""
        self._has_debris = False
        """Whether bytes of a failed write may follow `_end`."""

    @property
    def size(self) -> int:
        """Size of the file in bytes; 0 if it doesn't exist."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    @property
    def is_gone(self) -> bool:
        """Whether the file had content and was then deleted or moved."""
        return bool(self._end) and not self.path.exists()

    @property
    def end(self) -> int:
        """Offset of the next line."""
        if self._end is None:
            self.resync()
        return self._end or 0

    def rotations(self) -> dict[int, Path]:
        """Return the rotations by number, including those with kimi-cli's names (`context_1.jsonl`)."""
        kimi_cli_pattern = re.compile(rf"{re.escape(self.path.stem)}_(\d+){re.escape(self.path.suffix)}")
        own_pattern = re.compile(rf"{re.escape(self.path.name)}\.(\d+)")
        paths: dict[int, Path] = {}
        with contextlib.suppress(FileNotFoundError):
            names = [path.name for path in self.path.parent.iterdir()]
            for pattern in (kimi_cli_pattern, own_pattern):
                matches = (pattern.fullmatch(name) for name in names)
                paths.update({int(match[1]): self.path.parent / match[0] for match in matches if match})
        return dict(sorted(paths.items()))

    def remove_leftovers(self) -> None:
        """Remove leftovers of an interrupted replacement: temporary files, and a second link to the file."""
        temporary = re.compile(rf"{re.escape(self.path.name)}(\.\d+)?{re.escape(TEMPORARY_SUFFIX)}")
        for path in self.path.parent.iterdir() if self.path.parent.is_dir() else ():
            if temporary.fullmatch(path.name):
                discard(self._fs, path)
        for path in self.rotations().values():
            if path.exists() and self.path.exists() and path.samefile(self.path):
                discard(self._fs, path)

    def move_torn_line(self, torn: RawLine) -> bool:
        """Move the last line, which was truncated, to `path.damaged`. Return False if that fails.

        In that case the line stays, and the next append adds the missing newline.
        """
        damaged = self.path.with_name(f"{self.path.name}.damaged")
        try:
            with self._open(damaged) as file:
                write_all(self._fs, file, torn.data.rstrip(b"\n") + b"\n")
                self._fs.fsync(file)
            with self._open(self.path) as file:
                self._fs.truncate(file, torn.offset)
                self._fs.fsync(file)
        except OSError:
            return False
        return True

    def append(self, data: bytes, *, sync: bool) -> int:
        """Append whole lines in one write, synced if `sync`; return the offset of the first one.

        Raises JournalWriteError; if the file was deleted or moved, its subclass JournalGone.
        """
        with self._mapping_errors():
            self._check_unchanged()
            end = self.end
            is_new = not self.path.exists()
            if is_new:
                make_private_dir(self.path.parent)
            with self._open(self.path) as file:
                if self._has_debris:
                    self._fs.truncate(file, end)
                prefix = b"\n" if self._line_is_open else b""
                self._has_debris = True
                try:
                    write_all(self._fs, file, prefix + data)
                    if sync:
                        self._fs.fsync(file)
                except OSError:
                    self._undo_write(file, end)
                    if is_new:
                        discard(self._fs, self.path)
                    raise
            if is_new and sync:
                sync_folder(self._fs, self.path.parent)
                sync_folder(self._fs, self.path.parent.parent)
        self._set_end(end + len(prefix) + len(data))
        return end + len(prefix)

    def rewrite(self, chunks: Iterable[bytes]) -> None:
        """Replace the content without keeping the old version. Raises JournalWriteError."""
        with self._mapping_errors():
            self._check_unchanged()
            make_private_dir(self.path.parent)
            replace_file(self._fs, self.path, chunks)
            self._set_end(self.size)

    def rotate(self, chunks: Callable[[int], Iterable[bytes]]) -> int:
        """Replace the content with `chunks(number)`, and keep the old content as rotation `number`.

        Return the number. The file never disappears in between. Raises JournalWriteError.
        """
        with self._mapping_errors():
            self._check_unchanged()
            number = max(self.rotations(), default=0) + 1
            rotation = self.path.with_name(f"{self.path.name}.{number}")
            temporary = write_temporary(self._fs, self.path, chunks(number))
            try:
                self._link_as(rotation)
                try:
                    self._fs.rename(temporary, self.path)
                except OSError:
                    discard(self._fs, rotation)
                    raise
            except OSError:
                discard(self._fs, temporary)
                raise
            sync_folder(self._fs, self.path.parent)
            self._set_end(self.size)
            return number

    def recreate(self, chunks: Iterable[bytes]) -> None:
        """Create the file again after it was deleted or moved. Raises JournalWriteError."""
        with self._mapping_errors():
            make_private_dir(self.path.parent)
            replace_file(self._fs, self.path, chunks)
            self._set_end(self.size)

    def lines_from(self, start: int) -> Iterator[bytes]:
        """Yield all whole lines from byte `start` on, in chunks."""
        yield from read_range(self.path, start, self.end)
        if self._line_is_open:
            yield b"\n"

    def resync(self) -> None:
        """Accept the current content of the file. Afterwards, only this object may write to the file."""
        size = self.size
        self._set_end(size)
        self._line_is_open = size > 0 and b"".join(read_range(self.path, size - 1, size)) != b"\n"

    def _set_end(self, end: int) -> None:
        self._end = end
        self._line_is_open = False
        self._has_debris = False

    def _check_unchanged(self) -> None:
        """Raise an error if another process has changed the file."""
        size = self.size
        if self._end is None:
            self.resync()
        elif self.is_gone:
            raise JournalGone(
                msg("{path} was deleted or moved while it was in use.", path=self.path),
                hint="Move it back, or send the message again to recreate the file.",
            )
        elif size != self._end and not (self._has_debris and size > self._end):
            raise JournalWriteError(
                msg("Another program changed {path} while it was in use.", path=self.path),
                hint="Quit and resume this session, or fork it with --fork.",
            )

    def _undo_write(self, file: int, size: int) -> None:
        """Truncate the file to `size` bytes after a failed write. If that fails, the next write retries."""
        with contextlib.suppress(OSError):
            self._fs.truncate(file, size)
            self._has_debris = False

    def _link_as(self, name: Path) -> None:
        """Add a hard link to the current file, or copy it where hard links aren't supported."""
        try:
            self._fs.link(self.path, name)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            replace_file(self._fs, name, read_range(self.path, 0, self.end))

    @contextlib.contextmanager
    def _open(self, path: Path) -> Iterator[int]:
        file = self._fs.open(path, APPEND_FLAGS)
        try:
            yield file
        finally:
            self._fs.close(file)

    @contextlib.contextmanager
    def _mapping_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise JournalWriteError(
                msg(
                    "Can't save the conversation: {reason} ({path}).",
                    reason=error.strerror or error,
                    path=self.path,
                ),
                hint=_hint(error, self.path),
            ) from error


def _hint(error: OSError, path: Path) -> str:
    if is_full(error):
        return "Free some disk space, then send the message again. Earlier messages are saved."
    match error.errno:
        case errno.EMFILE | errno.ENFILE:
            return (
                "Close some programs or raise the limit (ulimit -n), then send the message again. "
                "Earlier messages are saved."
            )
        case errno.EROFS | errno.EACCES | errno.EPERM:
            return msg(
                "Make {path} writable, or set KIMI_SHARE_DIR to a writable directory.", path=path.parent
            )
        case _:
            return "Check the disk, then send the message again. Earlier messages are saved."
