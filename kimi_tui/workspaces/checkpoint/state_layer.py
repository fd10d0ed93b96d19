"""Layer with the differences of a state, which several workspaces show over the real files."""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.workspaces.checkpoint.state_plan import PlannedNode
from kimi_tui.workspaces.overlay.layer import remove_tree

_SECOND_NS = 1_000_000_000
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
StatePlans = Mapping[str, Mapping[str, PlannedNode]]
"""What the layer of each root has, by path in it."""


class Contents(Protocol):
    """Stored contents of files."""

    def iter_chunks(self, digest: str) -> Iterable[bytes]:
        """Yield a file's content in pieces. Raises OSError if it isn't stored."""
        ...


class StateLayer:
    """Directories that overlays read, one for each root. While a view uses it, it must not change.

    Another state changes only what differs from the last one. The methods block.
    """

    def __init__(self, folder: str, record: Path, roots: Sequence[str]) -> None:
        """Create it in `folder`. The directory `record` marks it as used by this process."""
        self.folder = folder
        self.record = record
        self.folders: dict[str, str] = {root: f"{folder}/{number}" for number, root in enumerate(roots)}
        """The directory of each root."""
        self.plans: StatePlans = {root: {} for root in roots}
        """What it has now."""
        self.users = 0
        """How many views use it, or will."""

    def create(self) -> None:
        """Create the directories. Raises OSError."""
        for folder in self.folders.values():
            os.makedirs(folder, 0o700)

    def write(self, plans: StatePlans, contents: Contents) -> None:
        """Change the layer to what `plans` say. After an error it has to be removed. Raises OSError."""
        for root, folder in self.folders.items():
            _LayerWriter(folder, contents).write(self.plans[root], plans.get(root, {}))
        self.plans = {root: plans.get(root, {}) for root in self.folders}

    def remove(self) -> None:
        """Remove it from disk."""
        remove_tree(self.folder)


class _LayerWriter:
    """Writes to the layer of one root."""

    def __init__(self, folder: str, contents: Contents) -> None:
        self._folder = folder
        self._contents = contents

    def write(self, old: Mapping[str, PlannedNode], new: Mapping[str, PlannedNode]) -> None:
        """Turn `old` into `new`. Both have parents before their members. Raises OSError."""
        for path, node in old.items():
            if node.is_folder and not _is_writable(node):
                os.chmod(self._path(path), 0o700)
        for path in reversed(list(old)):
            if old[path] != (now := new.get(path)) and not _are_folders(old[path], now):
                self._remove(path, old[path])
        for path, node in new.items():
            if (before := old.get(path)) is None or before != node:
                self._create(path, node, has_folder=_are_folders(node, before))
        for path in reversed(list(new)):
            if (node := new[path]).is_folder and (node != old.get(path) or not _is_writable(node)):
                self._set_attributes(self._path(path), node)

    def _path(self, path: str) -> str:
        return f"{self._folder}/{path}"

    def _remove(self, path: str, node: PlannedNode) -> None:
        if node.is_folder:
            os.rmdir(self._path(path))
        else:
            os.unlink(self._path(path))

    def _create(self, path: str, node: PlannedNode, *, has_folder: bool) -> None:
        target, entry = self._path(path), node.entry
        match node.kind:
            case "folder" | "merged folder":
                if not has_folder:
                    os.mkdir(target)
            case "gone":
                os.mknod(target, stat.S_IFCHR, os.makedev(0, 0))
            case "link":
                assert entry is not None
                os.symlink(entry.ref, target)
            case "file":
                assert entry is not None
                self._write_file(target, entry, node.replaced_s)

    def _write_file(self, target: str, entry: Entry, replaced_s: int) -> None:
        file = os.open(target, _CREATE, 0o600)
        with os.fdopen(file, "wb") as stream:
            for chunk in self._contents.iter_chunks(entry.ref):
                stream.write(chunk)
            stream.flush()
            os.fchmod(file, entry.mode)
            # Caches of compiled files recognize a changed source by its mtime, often in whole seconds.
            if replaced_s >= os.fstat(file).st_mtime_ns // _SECOND_NS:
                os.utime(file, ns=((replaced_s + 1) * _SECOND_NS,) * 2)

    def _set_attributes(self, target: str, node: PlannedNode) -> None:
        if node.owner is not None and node.owner != (os.geteuid(), os.getegid()):
            with suppress(PermissionError):
                os.chown(target, *node.owner)
        for name, value in node.attributes:
            with suppress(OSError):
                os.setxattr(target, name, value)
        if node.mode is not None:
            os.chmod(target, node.mode)


def _are_folders(node: PlannedNode, other: PlannedNode | None) -> bool:
    return node.is_folder and other is not None and other.is_folder


def _is_writable(node: PlannedNode) -> bool:
    """Return whether this process may create and remove the members of a directory."""
    return node.mode is None or node.mode & stat.S_IRWXU == stat.S_IRWXU
