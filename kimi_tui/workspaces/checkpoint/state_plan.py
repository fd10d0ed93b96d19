"""Plan of a layer that shows the files of another state over the real ones."""

import os
import stat
from collections.abc import Mapping
from typing import Literal, NamedTuple

from kimi_tui.history.snapshots.dir_handles import is_inside
from kimi_tui.history.snapshots.entry import Changes, Entry
from kimi_tui.workspaces.overlay.file_comparison import own_attributes


class PlannedNode(NamedTuple):
    """What the layer has at one path."""

    kind: Literal["file", "link", "folder", "merged folder", "gone"]
    """`merged folder`: its other members are those of the real one. `gone`: it hides what is there."""
    entry: Entry | None = None
    """Of a file or a link."""
    mode: int | None = None
    """Of a directory; None for that of a new one."""
    owner: tuple[int, int] | None = None
    attributes: tuple[tuple[str, bytes], ...] = ()
    """Extended attributes of the real directory."""
    replaced_s: int = 0
    """The mtime of the file that a file replaces, in whole seconds."""

    @property
    def is_folder(self) -> bool:
        """Whether it is a directory."""
        return self.kind in ("folder", "merged folder")


class _Rejected(Exception):
    """A path that leads through a file or a link."""


def plan_state(changes: Changes, root: str) -> tuple[dict[str, PlannedNode], list[str]]:
    """Return what a layer over `root` needs so that `changes` apply, and the paths where they can't, sorted.

    All paths are relative to `root`, and parents are planned before their members. Directories stay if they
    contain files that the states don't cover. Links are never followed. Blocks.
    """
    planner = _Planner(changes, root)
    failed = planner.add_files()
    planner.add_deletions()
    return {path: planner.nodes[path] for path in sorted(planner.nodes)}, failed


class _Planner:
    def __init__(self, changes: Changes, root: str) -> None:
        self._changes = changes
        self._root = root
        self._is_merged: dict[str, bool] = {"": True}
        """For each directory that was looked at: whether the view shows the members of the real one."""
        self.nodes: dict[str, PlannedNode] = {}

    def add_files(self) -> list[str]:
        """Plan what exists in the state, and return the paths that can't."""
        failed = []
        for path in sorted(self._changes):
            if (entry := self._changes[path]) is None:
                continue
            try:
                if entry.kind == "omitted" or not is_inside(path):
                    raise _Rejected
                self._add_entry(path, entry)
            except _Rejected:
                failed.append(path)
        return failed

    def _add_entry(self, path: str, entry: Entry) -> None:
        if entry.kind == "folder":
            self._look_at_folder(path)
            info = self._real(path)
            if not self._is_merged[path] or info is None or stat.S_IMODE(info.st_mode) != entry.mode:
                self._add_folder(path)
            return
        parent = _parent_of(path)
        self._look_at_folder(parent)
        self._add_folder(parent)
        info = self._real(path)
        replaced_s = int(info.st_mtime) if info is not None and not stat.S_ISDIR(info.st_mode) else 0
        if entry.kind == "link":
            self.nodes[path] = PlannedNode("link", entry)
        else:
            self.nodes[path] = PlannedNode("file", entry, replaced_s=replaced_s)

    def add_deletions(self) -> None:
        """Plan what doesn't exist in the state. Members come before their directory."""
        gone: set[str] = set()
        for path in sorted(self._changes, reverse=True):
            if self._changes[path] is not None or path in self.nodes or not is_inside(path):
                continue
            if (info := self._real(path)) is None:
                continue
            if stat.S_ISDIR(info.st_mode):
                members = {f"{path}/{name}" for name in os.listdir(f"{self._root}/{path}")}
                if not members <= gone:
                    continue
                gone -= members
            gone.add(path)
        for path in gone:
            self._add_folder(_parent_of(path))
            self.nodes[path] = PlannedNode("gone")

    def _real(self, path: str) -> os.stat_result | None:
        """Return the state of what the real directory has at `path`; None if the view doesn't show that."""
        try:
            self._look_at_folder(parent := _parent_of(path))
        except _Rejected:
            return None
        if not self._is_merged[parent]:
            return None
        try:
            return os.lstat(f"{self._root}/{path}")
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _look_at_folder(self, path: str) -> None:
        """Find out whether a directory is merged with the real one. Raises _Rejected if it can't exist."""
        if path in self._is_merged:
            return
        self._look_at_folder(_parent_of(path))
        info = self._real(path)
        is_replaced, entry = path in self._changes, self._changes.get(path)
        if entry is not None and entry.kind != "folder":
            raise _Rejected
        is_merged = info is not None and stat.S_ISDIR(info.st_mode)
        if info is not None and not is_merged and not is_replaced:
            raise _Rejected
        self._is_merged[path] = is_merged

    def _add_folder(self, path: str) -> None:
        """Plan a directory and its parents."""
        if not path or path in self.nodes:
            return
        self._add_folder(_parent_of(path))
        entry = self._changes.get(path)
        mode = entry.mode if entry is not None else None
        info = self._real(path) if self._is_merged[path] else None
        if info is None:
            self.nodes[path] = PlannedNode("folder", mode=mode)
            return
        attributes: Mapping[str, bytes] = own_attributes(f"{self._root}/{path}")
        self.nodes[path] = PlannedNode(
            "merged folder",
            mode=stat.S_IMODE(info.st_mode) if mode is None else mode,
            owner=(info.st_uid, info.st_gid),
            attributes=tuple(sorted(attributes.items())),
        )


def _parent_of(path: str) -> str:
    return path.rpartition("/")[0]
