"""Writes the file state of a checkpoint to a copy of the files."""

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from kimi_tui.history.snapshots.dir_handles import DirectoryHandles, PathRejected
from kimi_tui.history.snapshots.entry import Changes, Entry
from kimi_tui.workspaces.checkpoint.private_view import PrivateTree
from kimi_tui.workspaces.checkpoint.state_layer import Contents

_SECOND_NS = 1_000_000_000
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_changes(changes: Changes, contents: Contents, tree: PrivateTree, *, work_dir: Path) -> list[str]:
    """Apply `changes` to a copy of the current files. Return the paths that can't be written, sorted.

    Directories stay if they contain files that the states don't cover. Links are never followed: a path
    leads out of the copy neither by an old link nor by one that a program creates at the same time.
    Raises OSError.
    """
    roots = _find_roots(changes, tree, str(work_dir.resolve()))
    failed: list[str] = []
    by_root: dict[str, dict[str, Entry | None]] = {}
    for path, entry in changes.items():
        start, within = _split(path)
        if start not in roots or (entry is not None and entry.kind == "omitted"):
            failed.append(path)
        else:
            by_root.setdefault(start, {})[within] = entry
    for start, entries in by_root.items():
        with DirectoryHandles(Path(roots[start])) as handles:
            writer = _RootWriter(handles, contents)
            rejected = writer.write(entries)
        failed += [f"{start}//{path}" if start else path for path in rejected]
    return sorted(failed)


def _split(path: str) -> tuple[str, str]:
    """Return the starting directory of a path, empty for the working directory, and the path in it."""
    if not path.startswith("/"):
        return "", path
    start, _, within = path.partition("//")
    return start, within


def _find_roots(changes: Changes, tree: PrivateTree, work_dir: str) -> dict[str, str]:
    roots: dict[str, str] = {}
    for start in {_split(path)[0] for path in changes}:
        private = tree.counterpart_of(start or work_dir)
        if private is not None:
            roots[start] = private
    return roots


class _RootWriter:
    """Writes to the files below one directory."""

    def __init__(self, handles: DirectoryHandles, contents: Contents) -> None:
        self._handles = handles
        self._contents = contents
        self._mtime_ns = 0
        """The newest mtime of a replaced file."""

    def write(self, entries: Changes) -> list[str]:
        """Apply the changes, and return the paths that are rejected. Raises OSError."""
        paths = sorted(entries)
        rejected = {path for path in reversed(paths) if not self._clear(path, entries[path])}
        wanted = {
            path: entry for path in paths if (entry := entries[path]) is not None and path not in rejected
        }
        for path, entry in wanted.items():
            try:
                self._create(path, entry)
            except (PathRejected, FileNotFoundError, NotADirectoryError):
                rejected.add(path)
        for path in reversed(wanted):  # a directory may become read-only once its files are written
            if wanted[path].kind == "folder" and path not in rejected:
                folder, name = self._handles.open_parent(path)
                _change_mode(folder, name, wanted[path].mode)
        return sorted(rejected)

    def _clear(self, path: str, entry: Entry | None) -> bool:
        """Remove the file or directory that `entry` replaces. Return False if the path is rejected."""
        try:
            folder, name = self._handles.open_parent(path)
            info = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return True
        except PathRejected:
            return True  # the link is replaced by a directory; otherwise `_create` rejects the path
        if not stat.S_ISDIR(info.st_mode):
            self._mtime_ns = max(self._mtime_ns, info.st_mtime_ns)
            os.unlink(name, dir_fd=folder)
        elif entry is None:
            self._handles.close_below(path)
            with suppress(OSError):  # it contains files that aren't covered
                os.rmdir(name, dir_fd=folder)
        elif entry.kind != "folder":
            self._handles.close_below(path)
            shutil.rmtree(name, dir_fd=folder)
        return True

    def _create(self, path: str, entry: Entry) -> None:
        folder, name = self._open_parent(path)
        match entry.kind:
            case "folder":
                with suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=folder)
            case "link":
                os.symlink(entry.ref, name, dir_fd=folder)
            case "file" | "omitted":
                self._write_file(folder, name, entry)

    def _open_parent(self, path: str) -> tuple[int, str]:
        """Return `DirectoryHandles.open_parent`, and create missing directories."""
        try:
            return self._handles.open_parent(path)
        except FileNotFoundError:
            parent, _, _ = path.rpartition("/")
            if not parent:
                raise
            folder, name = self._open_parent(parent)
            os.mkdir(name, dir_fd=folder)
            return self._handles.open_parent(path)

    def _write_file(self, folder: int, name: str, entry: Entry) -> None:
        file = os.open(name, _CREATE, 0o600, dir_fd=folder)
        with os.fdopen(file, "wb") as stream:
            for chunk in self._contents.iter_chunks(entry.ref):
                stream.write(chunk)
            stream.flush()
            os.fchmod(file, entry.mode)
            # Caches of compiled files recognize a changed source by its mtime, often in whole seconds.
            if (replaced := self._mtime_ns // _SECOND_NS) >= os.fstat(file).st_mtime_ns // _SECOND_NS:
                os.utime(file, ns=((replaced + 1) * _SECOND_NS,) * 2)


def _change_mode(folder: int, name: str, mode: int) -> None:
    handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        if stat.S_IMODE(os.fstat(handle).st_mode) != mode:
            os.fchmod(handle, mode)
    finally:
        os.close(handle)
