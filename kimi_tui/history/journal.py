"""A journal: a file of lines that grows at its end, and whose replaced states are kept as rotations.

It knows bytes only; `records` knows what the lines say. Its methods block, so `Context` calls them in a
thread; one process writes at a time (`claim`). A write that fails leaves the file as it was.
"""

import contextlib
import errno
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from kimi_tui.base.disk_errors import is_full
from kimi_tui.base.errors import JournalGone, JournalWriteError, SessionError
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.disk import (
    APPENDING,
    LOCAL_DISK,
    TEMPORARY,
    Disk,
    discard,
    part_of,
    replace_file,
    sync_folder,
    write_all,
    write_beside,
)

_NO_LINKS = {errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}


class RawLine(NamedTuple):
    """A line as it lies in the file."""

    number: int
    """From 1."""
    offset: int
    data: bytes
    """With its line end, if it has one."""

    @property
    def end(self) -> int:
        """Where the next line begins."""
        return self.offset + len(self.data)

    @property
    def is_ended(self) -> bool:
        """Whether it has a line end; only the last line may lack it."""
        return self.data.endswith(b"\n")

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in it."""
        return not self.data.strip()


def raw_lines(path: Path, *, start: int = 0) -> Iterator[RawLine]:
    r"""The lines of a file from byte `start` on, split at `\n` alone. Raises SessionError."""
    offset = start
    try:
        with path.open("rb") as file:
            file.seek(start)
            for number, data in enumerate(file, 1):
                yield RawLine(number, offset, data)
                offset += len(data)
    except OSError as error:
        raise SessionError(
            f"The conversation can't be read: {error.strerror or error} ({path}).",
            hint="Check that the file and its folder can be read, or open another session.",
        ) from error


class Journal:
    """The file `path`, its rotations `path.1`, `path.2` …, and `path.damaged` for lines that were cut off."""

    def __init__(self, path: Path, *, disk: Disk = LOCAL_DISK) -> None:
        self.path = path
        self._disk = disk
        self._end: int | None = None
        """Where the next line goes; None before the file was looked at."""
        self._line_is_open = False
        """Whether the last line lacks its line end."""
        self._has_debris = False
        """Whether bytes of a failed write may lie after `_end`."""

    @property
    def size(self) -> int:
        """How long the file is, in bytes; 0 when there is none."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    @property
    def is_gone(self) -> bool:
        """Whether the file held something here, and was deleted or moved since."""
        return bool(self._end) and not self.path.exists()

    @property
    def end(self) -> int:
        """Where the next line goes."""
        if self._end is None:
            self.look()
        return self._end or 0

    def rotations(self) -> dict[int, Path]:
        """The rotations by number, kimi-cli's names (`context_1.jsonl`) included."""
        theirs = re.compile(rf"{re.escape(self.path.stem)}_(\d+){re.escape(self.path.suffix)}")
        ours = re.compile(rf"{re.escape(self.path.name)}\.(\d+)")
        found: dict[int, Path] = {}
        with contextlib.suppress(FileNotFoundError):
            names = [path.name for path in self.path.parent.iterdir()]
            for pattern in (theirs, ours):
                matches = (pattern.fullmatch(name) for name in names)
                found.update({int(match[1]): self.path.parent / match[0] for match in matches if match})
        return dict(sorted(found.items()))

    def tidy(self) -> None:
        """Take away what an interrupted replacement left: half-written files, a second name of the file."""
        half_written = re.compile(rf"{re.escape(self.path.name)}(\.\d+)?{re.escape(TEMPORARY)}")
        for path in self.path.parent.iterdir() if self.path.parent.is_dir() else ():
            if half_written.fullmatch(path.name):
                discard(self._disk, path)
        for path in self.rotations().values():
            if path.exists() and self.path.exists() and path.samefile(self.path):
                discard(self._disk, path)

    def set_aside(self, torn: RawLine) -> bool:
        """Move the last line, which was cut off, to `path.damaged`. Whether the disk allowed it.

        Otherwise the line stays, and gets its line end with the next one that is appended.
        """
        damaged = self.path.with_name(f"{self.path.name}.damaged")
        try:
            with self._opened(damaged) as file:
                write_all(self._disk, file, torn.data.rstrip(b"\n") + b"\n")
                self._disk.fsync(file)
            with self._opened(self.path) as file:
                self._disk.truncate(file, torn.offset)
                self._disk.fsync(file)
        except OSError:
            return False
        return True

    def append(self, data: bytes, *, sync: bool) -> int:
        """Append whole lines in one write and return where they begin; with `sync`, down to the medium.

        Raises JournalWriteError, of which JournalGone is told apart.
        """
        with self._telling_errors():
            self._check()
            end = self.end
            is_new = not self.path.exists()
            if is_new:
                make_private_dir(self.path.parent)
            with self._opened(self.path) as file:
                if self._has_debris:
                    self._disk.truncate(file, end)
                lead = b"\n" if self._line_is_open else b""
                self._has_debris = True
                try:
                    write_all(self._disk, file, lead + data)
                    if sync:
                        self._disk.fsync(file)
                except OSError:
                    self._take_back(file, end)
                    if is_new:
                        discard(self._disk, self.path)
                    raise
            if is_new and sync:
                sync_folder(self._disk, self.path.parent)
                sync_folder(self._disk, self.path.parent.parent)
        self._is_at(end + len(lead) + len(data))
        return end + len(lead)

    def rewrite(self, chunks: Iterable[bytes]) -> None:
        """Replace the content; what it was is not kept. Raises JournalWriteError."""
        with self._telling_errors():
            self._check()
            make_private_dir(self.path.parent)
            replace_file(self._disk, self.path, chunks)
            self._is_at(self.size)

    def rotate(self, chunks: Callable[[int], Iterable[bytes]]) -> int:
        """Replace the content by `chunks(number)`; what it was is kept as rotation `number`.

        Returns the number. The file exists at every instant. Raises JournalWriteError.
        """
        with self._telling_errors():
            self._check()
            number = max(self.rotations(), default=0) + 1
            kept = self.path.with_name(f"{self.path.name}.{number}")
            beside = write_beside(self._disk, self.path, chunks(number))
            try:
                self._keep_as(kept)
                try:
                    self._disk.rename(beside, self.path)
                except OSError:
                    discard(self._disk, kept)
                    raise
            except OSError:
                discard(self._disk, beside)
                raise
            sync_folder(self._disk, self.path.parent)
            self._is_at(self.size)
            return number

    def put_back(self, chunks: Iterable[bytes]) -> None:
        """Write the file anew after it was deleted or moved. Raises JournalWriteError."""
        with self._telling_errors():
            make_private_dir(self.path.parent)
            replace_file(self._disk, self.path, chunks)
            self._is_at(self.size)

    def lines_from(self, start: int) -> Iterator[bytes]:
        """All whole lines from byte `start` on, in pieces."""
        yield from part_of(self.path, start, self.end)
        if self._line_is_open:
            yield b"\n"

    def look(self) -> None:
        """Take the file as it is now for what it should be: from here on only this object writes it."""
        size = self.size
        self._is_at(size)
        self._line_is_open = size > 0 and b"".join(part_of(self.path, size - 1, size)) != b"\n"

    def _is_at(self, end: int) -> None:
        self._end = end
        self._line_is_open = False
        self._has_debris = False

    def _check(self) -> None:
        """Make sure that nobody else wrote."""
        size = self.size
        if self._end is None:
            self.look()
        elif self.is_gone:
            raise JournalGone(
                f"{self.path} was deleted or moved while it was in use here.",
                hint="Put it back where it was, or say it again to have it written anew.",
            )
        elif size != self._end and not (self._has_debris and size > self._end):
            raise JournalWriteError(
                f"Another program changed {self.path} while it was in use here.",
                hint="Leave this session and resume it, or go on in a copy with --fork.",
            )

    def _take_back(self, file: int, size: int) -> None:
        """Undo a failed write. What can't be undone now is undone before the next one."""
        with contextlib.suppress(OSError):
            self._disk.truncate(file, size)
            self._has_debris = False

    def _keep_as(self, name: Path) -> None:
        """Give the live file a second name, or where names can't be had, a copy."""
        try:
            self._disk.link(self.path, name)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            replace_file(self._disk, name, part_of(self.path, 0, self.end))

    @contextlib.contextmanager
    def _opened(self, path: Path) -> Iterator[int]:
        file = self._disk.open(path, APPENDING)
        try:
            yield file
        finally:
            self._disk.close(file)

    @contextlib.contextmanager
    def _telling_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise JournalWriteError(
                f"The conversation can't be saved: {error.strerror or error} ({self.path}).",
                hint=_hint(error, self.path),
            ) from error


def _hint(error: OSError, path: Path) -> str:
    if is_full(error):
        return "Free some space on that disk, then say it again; nothing said before is lost."
    match error.errno:
        case errno.EMFILE | errno.ENFILE:
            return "Close some programs or raise the limit (ulimit -n), then say it again; nothing is lost."
        case errno.EROFS | errno.EACCES | errno.EPERM:
            return f"Make {path.parent} writable, or set KIMI_SHARE_DIR to a folder that is."
        case _:
            return "Check that disk, then say it again; nothing said before is lost."
