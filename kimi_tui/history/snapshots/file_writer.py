"""Atomic writer for the working directory: at any moment a path has its old or its new content."""

import contextlib
import logging
import os
import stat
from collections.abc import Collection
from errno import EEXIST, ENOTEMPTY
from pathlib import Path
from types import TracebackType
from typing import Self

from kimi_tui.base.frozen import frozen
from kimi_tui.history.filesystem import write_all
from kimi_tui.history.snapshots.attributes.file_attributes import FileAttributes
from kimi_tui.history.snapshots.blob_store import BlobMissing, BlobStore
from kimi_tui.history.snapshots.dir_handles import DirectoryHandles, PathRejected
from kimi_tui.history.snapshots.entry import Entry, parents_of
from kimi_tui.history.snapshots.stat_cache import StatKey, key_of, modification_key
from kimi_tui.history.snapshots.work_filesystem import WorkFileSystem

logger = logging.getLogger(__name__)

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER_MODE = 0o755
_HOLE = 64 * 1024
"""Size in bytes of the blocks that become holes if they contain only zeros."""
_ZEROS = bytes(_HOLE)


@frozen
class WriteTarget:
    """A working directory, with everything needed to write to it."""

    root: Path
    blobs: BlobStore
    fs: WorkFileSystem
    added_dirs: Collection[str] = ()

    def open_writer(self) -> "AtomicFileWriter":
        """Return a writer, to be used in one thread."""
        return AtomicFileWriter(self.root, self.blobs, self.fs, added_dirs=self.added_dirs)


class PartlyOverwritten(Exception):
    """A file has parts of its old and its new content, since neither could be written completely.

    Has the arguments of the OSError.
    """


class AtomicFileWriter:
    """Changes paths below one working directory, within a `with` block.

    Each method may raise OSError and PathRejected. A file is only replaced or removed if it still has the
    `expected_key`, the stat key seen earlier. An empty key means that nothing exists at the path.
    """

    def __init__(
        self, root: Path, blobs: BlobStore, fs: WorkFileSystem, *, added_dirs: Collection[str] = ()
    ) -> None:
        self._blobs = blobs
        self._fs = fs
        self._folders = DirectoryHandles(root, added_dirs=added_dirs)
        self._to_sync: dict[int, int] = {}
        """Device numbers of the file systems written to, each with an open file on it."""
        self._overwritten: dict[tuple[int, int], Entry] = {}
        """The entries of files that were overwritten in place, by device and inode."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._to_sync:
            os.close(self._to_sync.popitem()[1])
        self._folders.__exit__(kind, error, trace)

    def remove(self, path: str, *, expected_key: StatKey) -> None:
        """Remove a file or link, if it exists."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            folder, name = self._folders.open_parent(path)
            if (key := _key(folder, name)) != () and key != modification_key(expected_key):
                raise PathRejected("changed in the meantime")
            self._fs.unlink(folder, name)

    def remove_folder(self, path: str) -> bool:
        """Remove a directory, if it exists. Return False if it isn't empty."""
        try:
            self._fs.rmdir(*self._folders.open_parent(path))
        except (FileNotFoundError, NotADirectoryError, PathRejected):
            return True
        except OSError as error:
            if error.errno in {ENOTEMPTY, EEXIST}:
                return False
            raise
        self._folders.close_below(path)
        return True

    def is_folder(self, path: str) -> bool:
        """Return whether `path` is a directory."""
        try:
            return stat.S_ISDIR(_mode(*self._folders.open_parent(path)))
        except (OSError, PathRejected):
            return False

    def names_in(self, path: str) -> list[str]:
        """Return the names of everything in a directory. Raises OSError, PathRejected."""
        parent, name = self._folders.open_parent(path)
        folder = os.open(name, _FOLDER_FLAGS, dir_fd=parent)
        try:
            return os.listdir(folder)  # noqa: PTH208
        finally:
            os.close(folder)

    def make_folder(self, path: str, mode: int, attributes: FileAttributes | None = None) -> None:
        """Create a directory with `attributes` that its owner can write to, if it doesn't exist."""
        folder, name = self._open_or_make_parent(path)
        if not stat.S_ISDIR(_mode(folder, name)):
            self._fs.mkdir(folder, name, mode | stat.S_IRWXU)
            if attributes is not None:
                file = os.open(name, _FOLDER_FLAGS, dir_fd=folder)
                try:
                    self._set_attributes(file, folder, name, attributes)
                finally:
                    os.close(file)

    def folder_info(self, path: str) -> os.stat_result:
        """Return the stat data of a directory. The empty path is the working directory."""
        folder, name = self._folders.open_parent_of_folder(path)
        return os.stat(name, dir_fd=folder, follow_symlinks=False)

    def set_mode(self, path: str, mode: int) -> None:
        """Set the permission bits of a directory, if they differ."""
        folder, name = self._folders.open_parent_of_folder(path)
        current_mode = _mode(folder, name)
        if not stat.S_ISDIR(current_mode):
            raise PathRejected("changed in the meantime")
        if stat.S_IMODE(current_mode) != mode:
            self._fs.chmod(folder, name, mode)

    def stage(
        self,
        path: str,
        entry: Entry,
        *,
        temporary: str,
        fsync: bool,
        attributes: FileAttributes | None = None,
    ) -> StatKey:
        """Create a file or link under a `temporary` name in the directory of `path`; return its key.

        A file gets the `attributes`, and is synced immediately if `fsync`, otherwise by the next `sync`.
        """
        folder, _ = self._open_or_make_parent(path)
        if entry.kind == "link":
            self._fs.symlink(entry.ref, folder, temporary)
            return _key(folder, temporary)
        file = self._fs.create(folder, temporary)
        try:
            self._write_sparse(file, entry)
            if attributes is not None:
                self._set_attributes(file, folder, temporary, attributes)
            self._fs.set_mode(file, entry.mode)
            info = os.fstat(file)
            if fsync:
                self._fs.fsync(file)
            elif info.st_dev not in self._to_sync:
                self._to_sync[info.st_dev] = os.dup(file)
        except BlobMissing as error:
            raise PathRejected("its content is no longer stored") from error
        finally:
            self._fs.close(file)
        return modification_key(key_of(info))

    def _set_attributes(self, file: int, folder: int, name: str, attributes: FileAttributes) -> None:
        """Set the owner and the extended attributes. An attribute that can't be set is skipped.

        Set the mode afterwards: it may forbid changes of attributes, and a change of the owner clears some of
        its bits.
        """
        for extended, value in attributes.extended.items():
            try:
                self._fs.set_extended_attribute(file, extended, value)
            except (OSError, AttributeError):
                logger.info("can't set %s of %s", extended, name, exc_info=True)
        try:
            self._fs.set_owner(folder, name, attributes.owner, attributes.group)
        except OSError:
            logger.info("can't set the owner of %s", name, exc_info=True)

    def _write_sparse(self, file: int, entry: Entry) -> None:
        """Write content to an empty file. Long runs of zeros become holes, which take no space."""
        position, ends_in_hole = 0, False
        for chunk in self._blobs.iter_chunks(entry.ref):
            blocks = [chunk]
            if _ZEROS in chunk:
                blocks = [chunk[start : start + _HOLE] for start in range(0, len(chunk), _HOLE)]
            for block in blocks:
                ends_in_hole = block == _ZEROS
                if ends_in_hole:
                    os.lseek(file, _HOLE, os.SEEK_CUR)
                else:
                    write_all(self._fs, file, block)
            position += len(chunk)
        if ends_in_hole:
            self._fs.truncate(file, position)

    def sync(self) -> None:
        """Sync all staged files together."""
        for file in self._to_sync.values():
            self._fs.sync(file)

    def commit(self, path: str, *, temporary: str, expected_key: StatKey) -> None:
        """Rename a staged file to its final path."""
        folder, name = self._folders.open_parent(path)
        if _key(folder, name) != modification_key(expected_key):
            raise PathRejected("changed in the meantime")
        self._fs.rename(folder, temporary, name)

    def rename(self, path: str, new: str, *, source_key: StatKey, expected_key: StatKey) -> None:
        """Rename a file or link with the key `source_key`. An existing file at `new` is replaced."""
        source = self._folders.open_parent(path)
        if _key(*source) != modification_key(source_key) or not source_key:
            raise PathRejected("changed in the meantime")
        target = self._open_or_make_parent(new)
        if _key(*target) != modification_key(expected_key):
            raise PathRejected("changed in the meantime")
        if _is_same_file(source, target):  # the system ignores a rename between two links to one file
            self._fs.unlink(*source)
        else:
            self._fs.move(*source, *target)

    def rename_folder(self, path: str, new: str) -> None:
        """Rename a directory with everything in it, if nothing exists at `new`."""
        source, target = self._folders.open_parent(path), self._open_or_make_parent(new)
        if _key(*target) != () or not stat.S_ISDIR(_mode(*source)):
            raise PathRejected("changed in the meantime")
        self._fs.move(*source, *target)
        self._folders.close_below(path)

    def overwrite(self, path: str, entry: Entry, *, old: Entry, expected_key: StatKey) -> StatKey:
        """Overwrite a file in place; return its new key. Its owner and its other names (hard links) stay.

        If the write fails, the current content, `old`, is restored. Raises PartlyOverwritten if the
        restoration fails too. After a kill, the file may have parts of both contents. A file that was just
        overwritten with `entry` under another name isn't written again.
        """
        folder, name = self._folders.open_parent(path)
        info = os.stat(name, dir_fd=folder, follow_symlinks=False)
        file_id = info.st_dev, info.st_ino
        is_done = self._overwritten.get(file_id) == entry
        if not is_done and modification_key(key_of(info)) != modification_key(expected_key):
            raise PathRejected("changed in the meantime")
        file = self._open_existing(folder, name, info)
        try:
            if not is_done:
                self._overwrite_content(file, entry, old)
                self._overwritten[file_id] = entry
            self._fs.set_mode(file, entry.mode)
            self._fs.fsync(file)
            return modification_key(key_of(os.fstat(file)))
        finally:
            self._fs.close(file)

    def _open_existing(self, folder: int, name: str, info: os.stat_result) -> int:
        """Open the file with the stat data `info` for writing, even a read-only file of this user."""
        try:
            file = self._fs.open_existing(folder, name)
        except PermissionError:
            self._fs.chmod(folder, name, stat.S_IMODE(info.st_mode) | stat.S_IRUSR | stat.S_IWUSR)
            file = self._fs.open_existing(folder, name)
        opened = os.fstat(file)
        if (opened.st_dev, opened.st_ino) != (info.st_dev, info.st_ino):
            self._fs.close(file)
            raise PathRejected("changed in the meantime")
        return file

    def _overwrite_content(self, file: int, entry: Entry, old: Entry) -> None:
        if entry.ref == old.ref:
            return
        try:
            for _ in self._blobs.iter_chunks(entry.ref):
                pass  # verified before anything is changed
        except BlobMissing as error:
            raise PathRejected("its content is no longer stored") from error
        try:
            self._write_from_start(file, entry)
        except OSError as error:
            try:
                self._write_from_start(file, old)
            except (OSError, BlobMissing):
                raise PartlyOverwritten(error.errno, error.strerror) from error
            raise

    def _write_from_start(self, file: int, entry: Entry) -> None:
        """Write content over the current content. Equal chunks aren't written."""
        position = 0
        for chunk in self._blobs.iter_chunks(entry.ref):
            if os.pread(file, len(chunk), position) != chunk:
                os.lseek(file, position, os.SEEK_SET)
                write_all(self._fs, file, chunk)
            position += len(chunk)
        if os.fstat(file).st_size != position:
            self._fs.truncate(file, position)

    def discard(self, path: str, *, temporary: str) -> None:
        """Remove a staged file, if possible."""
        with contextlib.suppress(OSError, PathRejected):
            folder, _ = self._folders.open_parent(path)
            self._fs.unlink(folder, temporary)

    def _open_or_make_parent(self, path: str) -> tuple[int, str]:
        """Return `DirectoryHandles.open_parent(path)`, after creating missing parent directories."""
        try:
            return self._folders.open_parent(path)
        except FileNotFoundError:
            for folder in reversed(list(parents_of(path))):
                with contextlib.suppress(FileExistsError):
                    self._fs.mkdir(*self._folders.open_parent(folder), _FOLDER_MODE)
            return self._folders.open_parent(path)


def _mode(folder: int, name: str) -> int:
    """Return `st_mode` of a directory entry; 0 if it doesn't exist."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return 0


def _key(folder: int, name: str) -> StatKey:
    """Return the `modification_key` of a directory entry; empty if it doesn't exist."""
    try:
        return modification_key(key_of(os.stat(name, dir_fd=folder, follow_symlinks=False)))
    except FileNotFoundError:
        return ()


def _is_same_file(first: tuple[int, str], second: tuple[int, str]) -> bool:
    """Return whether two directory entries are hard links to one file."""
    try:
        infos = [os.stat(name, dir_fd=folder, follow_symlinks=False) for folder, name in (first, second)]
    except FileNotFoundError:
        return False
    return os.path.samestat(*infos)
