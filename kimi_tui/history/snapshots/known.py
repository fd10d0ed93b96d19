"""What was known of the work dir when it was last looked at: with it, unchanged files need no reading.

A file whose size, mtime, ctime, inode and mode are as they were holds what it held. Clocks of file systems
are coarse, so a file that changed within `RACY_NS` before it was read is read again the next time.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import stat_result
from pathlib import Path
from typing import Any

from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.disk import Disk, replace_file
from kimi_tui.history.snapshots.compact_json import compact_json

RACY_NS = 2_000_000_000
Key = tuple[int, ...]
"""Of a file (mtime, ctime, size, inode, mode), of a folder (mode,), as `os.stat` gives them."""


def key_of(info: stat_result) -> Key:
    """What tells whether a file changed."""
    return (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino, info.st_mode)


@dataclass(slots=True)
class Folder:
    """What was known of one folder."""

    keys: dict[str, Key] = field(default_factory=dict)
    """Of each covered name; an empty key has to be looked at again."""
    skipped: frozenset[str] = frozenset()
    """The names that are ignored."""


@dataclass(slots=True)
class Known:
    """What was known of all covered folders, by their paths."""

    folders: dict[str, Folder] = field(default_factory=dict)
    rules: str = ""
    """What the ignore files outside the work dir were."""

    def forget(self, path: str) -> None:
        """Let a path be looked at again."""
        folder, _, name = path.rpartition("/")
        if (known := self.folders.get(folder)) is not None and name in known.keys:
            known.keys[name] = ()


def save_known(disk: Disk, path: Path, known: Known, manifest: str) -> None:
    """Keep what is known of the work dir in the state `manifest`. Raises OSError."""
    folders = {name: [folder.keys, sorted(folder.skipped)] for name, folder in known.folders.items()}
    record = {"manifest": manifest, "rules": known.rules, "folders": folders}
    make_private_dir(path.parent)
    replace_file(disk, path, [zlib.compress(compact_json(record), 1)])


def load_known(path: Path) -> tuple[Known, str] | None:
    """What was kept, and the state's manifest; None when there is nothing of use."""
    try:
        record: Mapping[str, Any] = json.loads(zlib.decompress(path.read_bytes()))
        folders = {
            name: Folder({file: tuple(key) for file, key in keys.items()}, frozenset(skipped))
            for name, (keys, skipped) in record["folders"].items()
        }
        return Known(folders, str(record["rules"])), str(record["manifest"])
    except (OSError, zlib.error, ValueError, KeyError, TypeError, AttributeError):
        return None
