"""Effects of a command in a workspace: what it changed, as read from the layer that it wrote to."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kimi_tui.base.frozen import frozen

EffectKind = Literal["write", "delete", "folder", "attributes"]
"""What happens to a path.

- `write`: a file, link, pipe, socket or device is created, or its content is changed
- `delete`: a file or a directory is removed; there is one effect for each member of a directory
- `folder`: a directory is created, or takes the place of something else
- `attributes`: only mode, owner, times or extended attributes of a file or directory change
"""


@dataclass(frozen=True, slots=True)
class PathState:
    """Identity of a file or directory, as `lstat` describes it."""

    mode: int
    """`st_mode`: type and permission bits."""
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    n_links: int
    owner: tuple[int, int]
    """User and group."""

    @classmethod
    def of(cls, info: os.stat_result) -> "PathState":
        """Return the state that `info` describes."""
        return cls(
            info.st_mode,
            info.st_size,
            info.st_mtime_ns,
            info.st_ctime_ns,
            info.st_ino,
            info.st_dev,
            info.st_nlink,
            (info.st_uid, info.st_gid),
        )

    @property
    def is_folder(self) -> bool:
        """Whether it is a directory."""
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self.mode)

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return stat.S_ISLNK(self.mode)


@frozen(kw_only=True)
class PathEffect:
    """What a command did to one path."""

    path: str
    """Absolute; bytes that aren't UTF-8 are decoded with surrogate escapes, as by `os.fsdecode`."""
    kind: EffectKind
    before: PathState | None
    """The current state in the working directory; None if nothing exists there."""
    after: PathState | None
    """The state after the command; None if it deleted the path."""
    source: str = ""
    """Where the new content can be read until the workspace is committed or discarded."""
    moved_from: str = ""
    """The path from which the command moved it, if it did. That path has an effect of its own."""
    link_to: str = ""
    """The existing file that the command gave this path as another name."""
    is_in_place: bool = False
    """Whether the command changed the existing file; otherwise it put another one in its place."""
    doubt: str = ""
    """Why the command may have seen another state of the path than the current one; empty if it can't."""


@frozen
class Effects:
    """The effects of the commands in a workspace, sorted by path: a directory is before its members."""

    items: tuple[PathEffect, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    def by_path(self) -> Mapping[str, PathEffect]:
        """Return the effects by path."""
        return {effect.path: effect for effect in self.items}


@frozen(kw_only=True)
class CommitItem:
    """The plan for one effect."""

    effect: PathEffect
    conflict: str = ""
    """Why the effect isn't committed unless it is selected: the path changed during the command, or may have.
    Empty if nothing is in the way.
    """


@frozen
class CommitPlan:
    """What a commit will do."""

    items: tuple[CommitItem, ...] = ()

    @property
    def takes(self) -> tuple[PathEffect, ...]:
        """The effects to commit."""
        return tuple(item.effect for item in self.items if not item.conflict)

    @property
    def renames(self) -> Mapping[str, str]:
        """The renames among the effects to commit: new path -> old path."""
        return {effect.path: effect.moved_from for effect in self.takes if effect.moved_from}

    @property
    def conflicts(self) -> tuple[CommitItem, ...]:
        """The effects that need a decision."""
        return tuple(item for item in self.items if item.conflict)


@frozen
class CommitResult:
    """What a commit did."""

    done: tuple[str, ...] = ()
    """Paths that are now as the command left them."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Paths that were left alone, and why."""
