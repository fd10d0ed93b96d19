"""Layers on disk: the directories that overlays write to."""

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from subprocess import DEVNULL
from types import MappingProxyType
from typing import Any

from kimi_tui.base.child_environment import helper_environment
from kimi_tui.base.frozen import frozen
from kimi_tui.base.ids import new_temporary_name
from kimi_tui.base.paths import make_private_dir
from kimi_tui.workspaces.overlay.file_comparison import own_attributes
from kimi_tui.workspaces.overlay.supervisor_client import Mode, View, ViewSpec

_OPTIONS = {
    "root": "redirect_dir=on,index=on,metacopy=off,volatile",
    "user": "userxattr,metacopy=off,volatile",
}
"""Mount options by mode: without `volatile`, each file that is copied up is synced."""
NOTHING_PREPARED: Mapping[str, str] = MappingProxyType({})
_TEMP_DIRS = ("/var/tmp", "/tmp", "/dev/shm")  # noqa: S108


@frozen
class Layer:
    """The layer of one workspace. It can be written to a record as JSON."""

    folder: str
    mode: Mode
    roots: tuple[str, ...]

    def views(self, prepared: Mapping[str, str] = NOTHING_PREPARED) -> tuple[View, ...]:
        """Return the views, outer directories first. `prepared` has the layer below this one by root."""
        return tuple(
            View(
                root=root,
                upper=f"{self.folder}/{number}/upper",
                work=f"{self.folder}/{number}/work",
                prepared=prepared.get(root, ""),
            )
            for number, root in enumerate(self.roots)
        )

    def spec(self, prepared: Mapping[str, str] = NOTHING_PREPARED) -> ViewSpec:
        """Return what to mount. The layers themselves are hidden from commands."""
        layers = (self.folder, *map(os.path.dirname, prepared.values()))
        hidden = tuple(dict.fromkeys(map(os.path.dirname, layers)))
        return ViewSpec(views=self.views(prepared), options=_OPTIONS[self.mode], hidden=hidden)

    def create(self) -> None:
        """Create the directories. Each has owner and mode of its root. Raises OSError."""
        for view in self.views():
            os.makedirs(view.work, 0o700)
            os.mkdir(view.upper)
            info = os.stat(view.root)
            if (info.st_uid, info.st_gid) != (os.geteuid(), os.getegid()):
                os.chown(view.upper, info.st_uid, info.st_gid)
            for name, value in own_attributes(view.root).items():
                with suppress(OSError):
                    os.setxattr(view.upper, name, value)
            os.chmod(view.upper, stat.S_IMODE(info.st_mode))
        self.copy_times()

    def copy_times(self) -> None:
        """Give the empty layer the current times of its roots. Raises OSError."""
        for view in self.views():
            info = os.stat(view.root)
            os.utime(view.upper, ns=(info.st_atime_ns, info.st_mtime_ns))

    def allow_remount(self) -> None:
        """Prepare the layer for another mount: nothing was lost since the last one. Raises OSError."""
        for view in self.views():
            # the kernel creates these directories without any permission
            for folder in (f"{view.work}/work", f"{view.work}/work/incompat"):
                with suppress(FileNotFoundError):
                    os.chmod(folder, 0o700)
            remove_tree(f"{view.work}/work/incompat")

    def staging(self, uid: str) -> dict[str, str]:
        """Return a directory for files on their way for each root, on its file system."""
        device = os.stat(self.folder).st_dev
        return {
            root: f"{self.folder}/staging-{number}"
            if os.stat(root).st_dev == device
            else f"{root}/{new_temporary_name(uid)}"
            for number, root in enumerate(self.roots)
        }

    def remove(self) -> None:
        """Remove the layer from disk. Errors are ignored."""
        remove_tree(self.folder)

    def to_record(self) -> dict[str, Any]:
        """Return the layer as JSON."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Layer":
        """Return the layer in a record. Raises KeyError, TypeError, ValueError."""
        mode = record["mode"]
        if mode not in ("root", "user"):
            raise ValueError(mode)
        return cls(str(record["folder"]), mode, tuple(map(str, record["roots"])))


def layer_parents(records: Path, roots: Sequence[str]) -> list[Path]:
    """Return directories for layers: outside of the `roots`, those on the file system of the first one first.

    A layer there needs no copies. Directories of all users get one of this user's.
    """
    outside = (path for path in _possible_parents(records) if not _is_inside(path, roots))
    usable = [path for path in outside if _is_private(path)]
    device = os.stat(roots[0]).st_dev
    return sorted(usable, key=lambda path: path.stat().st_dev != device)


def remove_unused_layers(records: Path, names: Sequence[str]) -> None:
    """Remove the layers of the records `names`, wherever `layer_parents` may have put them."""
    for parent in _possible_parents(records):
        for name in names:
            if (folder := layer_folder(parent, name)).is_dir():
                remove_tree(str(folder))


def layer_folder(parent: Path, name: str) -> Path:
    """Return the directory in `parent` of the layer of the record `name`."""
    return parent / f"{name}.layer"


def remove_tree(path: str) -> None:
    """Remove a directory, even if modes in it forbid that. Errors are ignored."""
    with suppress(OSError, RecursionError):
        for _, folders, _, handle in os.fwalk(path):
            for name in folders:
                mode = os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
                    os.chmod(name, 0o700, dir_fd=handle)
    with suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):  # too deep for Python
        for command in (["chmod", "-R", "u+rwx", "--", path], ["rm", "-rf", "--", path]):
            subprocess.run(
                command, env=helper_environment(), stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, check=False
            )


def _possible_parents(records: Path) -> list[Path]:
    return [records, *(Path(each) / f"kimi-tui-{os.geteuid()}" for each in _TEMP_DIRS)]


def _is_inside(path: Path, roots: Sequence[str]) -> bool:
    real = os.path.realpath(path)
    return any(f"{real}/".startswith(f"{root}/") for root in roots)


def _is_private(path: Path) -> bool:
    """Return whether `path` is a directory that only this user can write to. Create it if needed."""
    try:
        make_private_dir(path)
        info = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and not info.st_mode & 0o022
