"""What was known of the work dir when it was last looked at: with it, unchanged files need no reading.

A file whose size, mtime, ctime, inode and mode are as they were holds what it held. Clocks of file systems
are coarse, so a file that changed within `RACY_NS` before it was read is read again the next time.
"""

import json
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import stat_result
from pathlib import Path
from typing import NamedTuple

from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.disk import Disk, replace_file
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.json_pieces import AT_ONCE, compact, pieces

RACY_NS = 2_000_000_000
Key = tuple[int, ...]
"""Of a file (mtime, ctime, size, inode, mode), of a folder (mode,), as `os.stat` gives them."""


def key_of(info: stat_result) -> Key:
    """What tells whether a file changed."""
    return (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino, info.st_mode)


def lasting_key(key: Key) -> Key:
    """The key by which a file that is read now is known from now on; empty when it is too fresh for that."""
    mtime, ctime, *_ = key
    return () if time.time_ns() - max(mtime, ctime) <= RACY_NS else key


def size_of(key: Key) -> int:
    """How large a file was when it had the key."""
    return key[2]


def written_key(key: Key) -> Key:
    """What of a key tells whether somebody wrote or changed the mode: (mtime, size, mode).

    The ctime changes also when another name of the file goes, and some file systems number inodes anew.
    """
    return (key[0], key[2], key[4]) if key else ()


class Put(NamedTuple):
    """A file or a link that was made here: while it has the `written_key`, it is the entry."""

    entry: Entry
    key: Key


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
    head = compact({"manifest": manifest, "rules": known.rules})
    make_private_dir(path.parent)
    replace_file(disk, path, [zlib.compress(b"\n".join([head, *_lines(known)]), 1)])


def load_known(path: Path) -> tuple[Known, str] | None:
    """What was kept, and the state's manifest; None when there is nothing of use."""
    try:
        head, *lines = zlib.decompress(path.read_bytes()).split(b"\n")
        record = json.loads(head)
        known = Known(rules=str(record["rules"]))
        for line in lines:
            for name, keys, skipped in json.loads(line):
                folder = known.folders.setdefault(name, Folder(skipped=frozenset(skipped)))
                folder.keys.update((file, tuple(key)) for file, key in keys.items())
        return known, str(record["manifest"])
    except (OSError, zlib.error, ValueError, KeyError, TypeError, AttributeError):
        return None


def _lines(known: Known) -> Iterator[bytes]:
    """Lists of folders, each [name, keys, skipped]; one that holds many files stands on several lines."""
    line: list[tuple[str, Mapping[str, Key], list[str]]] = []
    filled = 0
    for name, folder in known.folders.items():
        for keys in pieces(folder.keys):
            line.append((name, keys, sorted(folder.skipped)))
            filled += len(keys) + 1
            if filled > AT_ONCE:
                yield compact(line)
                line, filled = [], 0
    if line:
        yield compact(line)
