"""Placing: making a path of the work dir what an entry says; at any time it is the old or the new."""

import contextlib
import os
import stat
from collections.abc import Collection
from errno import EEXIST, ENOTEMPTY
from pathlib import Path
from types import TracebackType
from typing import Self

from kimi_tui.history.disk import write_all
from kimi_tui.history.snapshots.blobs import BlobMissing, BlobStore
from kimi_tui.history.snapshots.entry import Entry, parents_of
from kimi_tui.history.snapshots.known import Key, key_of, written_key
from kimi_tui.history.snapshots.open_folders import OpenFolders, Refused
from kimi_tui.history.snapshots.work_disk import WorkDisk

_FOLDER_MODE = 0o755


class Placer:
    """Changes paths below one work dir, within a block. Each method may raise OSError and Refused.

    Nothing is taken away that isn't as it was `seen`, which is the key of what was looked at; an empty one
    stands for nothing.
    """

    def __init__(self, root: Path, blobs: BlobStore, disk: WorkDisk, *, added: Collection[str] = ()) -> None:
        self._blobs = blobs
        self._disk = disk
        self._folders = OpenFolders(root, added=added)
        self._to_sync: dict[int, int] = {}
        """File systems that were written to, by their numbers, with an open file that lies there."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._to_sync:
            os.close(self._to_sync.popitem()[1])
        self._folders.__exit__(kind, error, trace)

    def remove(self, path: str, *, seen: Key) -> None:
        """Take away a file or a link, if it is there."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            folder, name = self._folders.place(path)
            if (key := _key(folder, name)) != () and key != written_key(seen):
                raise Refused("it changed meanwhile")
            self._disk.unlink(folder, name)

    def remove_folder(self, path: str) -> bool:
        """Remove a folder. False when something is in it."""
        try:
            self._disk.rmdir(*self._folders.place(path))
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError as error:
            if error.errno in {ENOTEMPTY, EEXIST}:
                return False
            raise
        self._folders.forget(path)
        return True

    def is_there(self, path: str) -> bool:
        """Whether there is anything at `path`."""
        try:
            return _key(*self._folders.place(path)) != ()
        except (OSError, Refused):
            return False

    def make_folder(self, path: str, mode: int) -> None:
        """Make a folder, if it isn't there, that things can be put into."""
        folder, name = self._made_place(path)
        if not stat.S_ISDIR(_mode(folder, name)):
            self._disk.mkdir(folder, name, mode | stat.S_IRWXU)

    def set_mode(self, path: str, mode: int) -> None:
        """Set the permission bits of a folder, where they differ."""
        folder, name = self._folders.place(path)
        is_now = _mode(folder, name)
        if not stat.S_ISDIR(is_now):
            raise Refused("it changed meanwhile")
        if stat.S_IMODE(is_now) != mode:
            self._disk.chmod(folder, name, mode)

    def prepare(self, path: str, entry: Entry, *, temporary: str, to_medium: bool) -> Key:
        """Make a file or a link under a `temporary` name, beside where it is to be; the key that it has.

        A file is brought `to_medium` at once, or that is left to `sync`.
        """
        folder, _ = self._made_place(path)
        if entry.kind == "link":
            self._disk.symlink(entry.ref, folder, temporary)
            return _key(folder, temporary)
        file = self._disk.create(folder, temporary)
        try:
            for bite in self._blobs.bites(entry.ref):
                write_all(self._disk, file, bite)
            self._disk.set_mode(file, entry.mode)
            info = os.fstat(file)
            if to_medium:
                self._disk.fsync(file)
            elif info.st_dev not in self._to_sync:
                self._to_sync[info.st_dev] = os.dup(file)
        except BlobMissing as error:
            raise Refused("its content is not kept any more") from error
        finally:
            self._disk.close(file)
        return written_key(key_of(info))

    def sync(self) -> None:
        """Bring what was prepared to the medium, all of it together."""
        for file in self._to_sync.values():
            self._disk.sync(file)

    def put(self, path: str, *, temporary: str, seen: Key) -> None:
        """Put what was prepared in place of what is there."""
        folder, name = self._folders.place(path)
        if _key(folder, name) != written_key(seen):
            raise Refused("it changed meanwhile")
        self._disk.rename(folder, temporary, name)

    def discard(self, path: str, *, temporary: str) -> None:
        """Take away what was prepared, if that is possible."""
        with contextlib.suppress(OSError, Refused):
            folder, _ = self._folders.place(path)
            self._disk.unlink(folder, temporary)

    def _made_place(self, path: str) -> tuple[int, str]:
        """`OpenFolders.place`, with the folders on the way that the user removed made again."""
        try:
            return self._folders.place(path)
        except FileNotFoundError:
            for folder in reversed(list(parents_of(path))):
                with contextlib.suppress(FileExistsError):
                    self._disk.mkdir(*self._folders.place(folder), _FOLDER_MODE)
            return self._folders.place(path)


def _mode(folder: int, name: str) -> int:
    """What is there, as `st_mode`; 0 for nothing."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return 0


def _key(folder: int, name: str) -> Key:
    """`written_key` of what is there; empty for nothing."""
    try:
        return written_key(key_of(os.stat(name, dir_fd=folder, follow_symlinks=False)))
    except FileNotFoundError:
        return ()
