"""Copy of directories, for systems without workspaces."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from kimi_tui.base.message_text import msg
from kimi_tui.workspaces.checkpoint.private_view import ChangedPath, PrivateTree
from kimi_tui.workspaces.command_process import CommandProcess, DirectStarter
from kimi_tui.workspaces.overlay.layer import remove_tree

MAX_COPIED_BYTES = 8 << 30
"""Largest directory that is copied."""


class CopyTooLarge(OSError):
    """The directories are too large for a copy."""


class CopiedView:
    """A copy in a temporary directory for one command. It is a `PrivateView`.

    The command can change the real files by their absolute paths.
    """

    is_copy = True
    is_bounded = False
    stop_reason = ""

    def __init__(self) -> None:
        """Create an empty copy."""
        self._folder: Path | None = None
        self._stamps: dict[str, tuple[int, ...]] = {}
        """The identity of each file of the copy before the command, by real path."""
        self.tree = PrivateTree({})
        """Implements `PrivateView.tree`."""

    def add_roots(self, roots: Sequence[str], *, max_bytes: int = MAX_COPIED_BYTES) -> None:
        """Copy the directories with everything in them, times and modes included. Raises OSError. Blocks."""
        self._folder = Path(tempfile.mkdtemp(prefix="kimi-tui-copy-")).resolve()
        copied: dict[str, str] = {}
        for number, root in enumerate(roots):
            copied[root] = str(self._folder / str(number) / (os.path.basename(root) or "root"))
            max_bytes = _copy_tree(root, copied[root], max_bytes)
        self.tree = PrivateTree(copied)

    async def start_process(
        self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], output: int
    ) -> CommandProcess:
        """Implement `PrivateView.start_process`."""
        private = self.tree.counterpart_of(str(cwd.resolve()))
        if private is None:
            raise NotADirectoryError(str(cwd))
        return await DirectStarter().start_process(
            argv, cwd=Path(private), environment={**environment, "PWD": private}, output=output
        )

    def begin(self) -> None:
        """Implement `PrivateView.begin`."""
        self._stamps = {path: _stamp_of(info) for path, info, _ in self._walk()}

    def read_changes(self) -> list[ChangedPath]:
        """Implement `PrivateView.read_changes`, for changes since `begin`."""
        changes, missing = [], set(self._stamps)
        for path, info, private in self._walk():
            missing.discard(path)
            if self._stamps.get(path) != _stamp_of(info):
                changes.append(ChangedPath(path, info.st_mode, private))
        changes += [ChangedPath(path, 0) for path in missing]
        return sorted(changes, key=lambda change: change.path)

    def _walk(self) -> Iterator[tuple[str, os.stat_result, str]]:
        """Yield the real path, the state and the path in the copy of everything in it."""
        for root, private_root in self.tree.folders.items():
            for folder, names, files in os.walk(private_root):
                for name in (*names, *files):
                    private = f"{folder}/{name}"
                    with suppress(FileNotFoundError):
                        yield root + private[len(private_root) :], os.lstat(private), private

    def remove(self) -> None:
        """Remove the copy. Blocks."""
        if self._folder is not None:
            remove_tree(str(self._folder))


def _stamp_of(info: os.stat_result) -> tuple[int, ...]:
    if stat.S_ISDIR(info.st_mode):
        return (info.st_mode,)
    return info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino


def _copy_tree(source: str, target: str, max_bytes: int) -> int:
    """Copy a directory, and return the rest of `max_bytes`.

    Files that vanish are left out, and so are sockets, pipes and devices. Raises OSError.
    """
    os.makedirs(target)
    folders = []
    for folder, names, files in os.walk(source):
        private = target + folder[len(source) :]
        folders.append((folder, private))
        for name in list(names):
            if os.path.islink(f"{folder}/{name}"):
                files.append(name)
            else:
                os.mkdir(f"{private}/{name}")
        for name in files:
            with suppress(FileNotFoundError):
                max_bytes -= _copy_file(f"{folder}/{name}", f"{private}/{name}")
            if max_bytes < 0:
                raise CopyTooLarge(msg("{path} is too large to be copied", path=source))
    for folder, private in reversed(folders):
        with suppress(FileNotFoundError):
            shutil.copystat(folder, private)
    return max_bytes


def _copy_file(source: str, target: str) -> int:
    """Copy a file or a link, and return the number of bytes. Raises OSError."""
    info = os.lstat(source)
    if stat.S_ISLNK(info.st_mode) or stat.S_ISREG(info.st_mode):
        shutil.copy2(source, target, follow_symlinks=False)
        return info.st_size
    return 0
