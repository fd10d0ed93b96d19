"""Placing: making a path of the work dir what an entry says; at any time it is the old or the new."""

import contextlib
import os
import stat
from collections.abc import Collection
from itertools import takewhile
from pathlib import Path
from typing import Protocol

from kimi_tui.history.disk import Disk, LocalDisk, write_all
from kimi_tui.history.snapshots.blobs import BlobMissing, BlobStore
from kimi_tui.history.snapshots.entry import Entry, on_disk, parents_of

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_FOLDER_MODE = 0o755


class WorkDisk(Disk, Protocol):
    """The system calls that change a work dir; each raises OSError."""

    def mkdir(self, path: Path, mode: int) -> None:
        """Make a folder with these permission bits, as far as the umask lets it."""
        ...

    def rmdir(self, path: Path) -> None:
        """Remove an empty folder."""
        ...

    def symlink(self, target: str, path: Path) -> None:
        """Make a symbolic link."""
        ...

    def chmod(self, path: Path, mode: int) -> None:
        """Set the permission bits of what is no link."""
        ...


class LocalWorkDisk(LocalDisk):
    """The operating system's."""

    def mkdir(self, path: Path, mode: int) -> None:
        """`WorkDisk.mkdir`."""
        path.mkdir(mode=mode)

    def rmdir(self, path: Path) -> None:
        """`WorkDisk.rmdir`."""
        path.rmdir()

    def symlink(self, target: str, path: Path) -> None:
        """`WorkDisk.symlink`."""
        path.symlink_to(target)

    def chmod(self, path: Path, mode: int) -> None:
        """`WorkDisk.chmod`."""
        path.chmod(mode)


LOCAL_WORK_DISK = LocalWorkDisk()


class Refused(Exception):
    """A path can't be changed; the text says why."""


class Placer:
    """Changes paths below one work dir. Each method may raise OSError and Refused."""

    def __init__(self, root: Path, blobs: BlobStore, disk: WorkDisk, *, added: Collection[str] = ()) -> None:
        self._added = added
        self._start = str(root)
        self._blobs = blobs
        self._disk = disk

    def whole_path(self, path: str) -> Path:
        """Where `path` is. Raises Refused when it isn't below the work dir or a folder on the way is none."""
        folder, _, rest = path.partition("//") if path.startswith("/") else ("", "", path)
        if not is_inside(rest) or (path.startswith("/") and folder not in self._added):
            raise Refused("it is not in the work dir")
        for folder in parents_of(path):
            try:
                info = os.lstat(on_disk(self._start, folder))
            except FileNotFoundError:
                continue
            if not stat.S_ISDIR(info.st_mode):
                raise Refused(f"{folder} is no folder any more")
        return Path(on_disk(self._start, path))

    def remove(self, path: str) -> None:
        """Take away a file or a link, if it is there."""
        whole = self.whole_path(path)
        with contextlib.suppress(FileNotFoundError):
            self._disk.unlink(whole)

    def remove_folder(self, path: str) -> bool:
        """Remove a folder. False when something is in it."""
        whole = self.whole_path(path)
        try:
            self._disk.rmdir(whole)
        except FileNotFoundError:
            return True
        except OSError:
            if any(whole.iterdir()):
                return False
            raise
        return True

    def make_folder(self, path: str, mode: int) -> None:
        """Make a folder, if it isn't there, that things can be put into."""
        whole = self.whole_path(path)
        self._make_parents(path)
        if not whole.is_dir():
            self._disk.mkdir(whole, mode | stat.S_IRWXU)

    def set_mode(self, path: str, mode: int) -> None:
        """Set the permission bits of a folder, where they differ."""
        whole = self.whole_path(path)
        if stat.S_IMODE(whole.stat().st_mode) != mode:
            self._disk.chmod(whole, mode)

    def prepare(self, path: str, entry: Entry, *, temporary: str) -> None:
        """Make a file or a link under a `temporary` name, beside where it is to be, down to the medium.

        May be called from several threads.
        """
        whole = self.whole_path(path)
        self._make_parents(path)
        beside = whole.with_name(temporary)
        if entry.kind == "link":
            self._disk.symlink(entry.ref, beside)
        else:
            self._write(beside, entry)

    def put(self, path: str, entry: Entry, *, temporary: str) -> None:
        """Put what was prepared in place of what is there."""
        whole = self.whole_path(path)
        beside = whole.with_name(temporary)
        if entry.kind == "file":
            self._disk.chmod(beside, entry.mode)
        self._disk.rename(beside, whole)

    def _make_parents(self, path: str) -> None:
        """Make the folders on the way that the user removed."""
        folders = (on_disk(self._start, folder) for folder in parents_of(path))
        missing = takewhile(lambda folder: not os.path.isdir(folder), folders)  # noqa: PTH112
        for folder in reversed(list(missing)):
            with contextlib.suppress(FileExistsError):  # made for the file beside it
                self._disk.mkdir(Path(folder), _FOLDER_MODE)

    def _write(self, path: Path, entry: Entry) -> None:
        try:
            content = self._blobs.read(entry.ref)
        except BlobMissing as error:
            raise Refused("its content is not kept any more") from error
        file = self._disk.open(path, _NEW)
        try:
            write_all(self._disk, file, content)
            self._disk.fsync(file)
        finally:
            self._disk.close(file)


def is_inside(path: str) -> bool:
    """Whether a relative path stays below where it starts."""
    return bool(path) and not path.startswith("/") and not {"", ".", ".."} & set(path.split("/"))
