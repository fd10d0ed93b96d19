"""A look: the changes that a scan, or the paths that a tool named, turn out to be once contents are read."""

import os
import stat
import time
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from kimi_tui.history.snapshots.blobs import BlobSink, BlobStore
from kimi_tui.history.snapshots.caps import Caps
from kimi_tui.history.snapshots.content import Content, read_content
from kimi_tui.history.snapshots.entry import Entries, Entry, on_disk, parents_of
from kimi_tui.history.snapshots.known import RACY_NS, Key, Known, key_of
from kimi_tui.history.snapshots.patience import Patience
from kimi_tui.history.snapshots.scan import Scan

_CHECK_EVERY = 32
_MANY = 16
"""From so many files on, contents are packed together."""
_VERY_MANY = 1000
"""From so many on, somebody waits for it: they are compressed later."""


@dataclass(slots=True)
class Look:
    """What became of the files."""

    changes: dict[str, Entry | None] = field(default_factory=dict)
    coverage: dict[str, Entry | None] = field(default_factory=dict)
    """What came under the store's eyes or left them, which is nobody's change."""
    keys: dict[str, Key] = field(default_factory=dict)
    n_read: int = 0


def look_at_scan(
    root: Path, scan: Scan, *, entries: Entries, blobs: BlobStore, caps: Caps, patience: Patience
) -> Look:
    """Read what a scan says may have changed, and keep its content. Raises Stopped, TookTooLong, OSError.

    `scan.files` is empty then: to let go of a hundred thousand at once would hold every thread up.
    """
    look = Look()

    def note(path: str, entry: Entry | None) -> bool:
        if entries.get(path) == entry:
            return False
        (look.coverage if path in scan.begun else look.changes)[path] = entry
        return True

    for path in scan.gone:
        note(path, None)
    look.coverage |= {path: None for path in scan.ended if path in entries}
    for path, entry in scan.entries.items():
        note(path, entry)
    room = caps.capture
    many = len(scan.files)
    start = str(root)
    with blobs.bulk(in_haste=many >= _VERY_MANY) if many >= _MANY else nullcontext(blobs) as sink:
        scan.files.reverse()
        for number in range(many):
            path, info = scan.files.pop()
            if number % _CHECK_EVERY == 0:
                patience.check(number, many)
            now = time.time_ns()
            try:
                found = read_content(on_disk(start, path), min(caps.file, room), info)
            except FileNotFoundError:
                note(path, None)
                look.keys[path] = ()
                continue
            look.n_read += 1
            look.keys[path] = _lasting(found, info, now)
            entry = _kept(found, sink, too_much=info.st_size <= caps.file)
            if note(path, entry) and entry.kind == "file":
                room -= entry.size
    return look


def look_at_paths(
    root: Path, paths: Iterable[str], *, entries: Entries, blobs: BlobStore, caps: Caps
) -> Look:
    """Read what is at `paths` now, and which folders they lie in, and keep the contents. Raises OSError."""
    look = Look()
    wanted = {folder for path in paths for folder in parents_of(path)} | set(paths)
    for path in sorted(wanted):
        entry, key = _at(on_disk(root, path), blobs, caps)
        look.keys[path] = key
        if entries.get(path) != entry:
            look.changes[path] = entry
        look.n_read += 1
    return look


def _at(path: str, blobs: BlobStore, caps: Caps) -> tuple[Entry | None, Key]:
    try:
        now = time.time_ns()
        info = os.lstat(path)
        mode = stat.S_IMODE(info.st_mode)
        if stat.S_ISDIR(info.st_mode):
            return Entry("folder", mode, 0, ""), (info.st_mode,)
        if stat.S_ISLNK(info.st_mode):
            return Entry("link", 0o777, 0, os.readlink(path)), key_of(info)  # noqa: PTH115
        if not stat.S_ISREG(info.st_mode):
            return Entry("omitted", mode, 0, "it is no regular file"), key_of(info)
        found = read_content(path, caps.file, info)
        return _kept(found, blobs, too_much=False), _lasting(found, info, now)
    except (FileNotFoundError, NotADirectoryError):
        return None, ()


def _kept(found: Content | Entry, sink: BlobSink, *, too_much: bool) -> Entry:
    if isinstance(found, Content):
        return Entry("file", found.mode, len(found.data), sink.put(found.data))
    if too_much and found.version:
        return found._replace(ref="there is too much at once")
    return found


def _lasting(found: Content | Entry, info: os.stat_result, now: int) -> Key:
    """The key by which a file is known from now on; empty when it may change without changing its key."""
    if isinstance(found, Entry):
        return key_of(info)
    return found.key if now - found.changed_ns > RACY_NS else ()


def apply_keys(known: Known, look: Look) -> None:
    """Bring `known` up to date with what was read. Folders that were not known stay so."""
    for path, key in look.keys.items():
        folder, _, name = path.rpartition("/")
        if (place := known.folders.get(folder)) is not None and (name in place.keys or path in look.changes):
            if look.changes.get(path, key) is None:
                place.keys.pop(name, None)
            else:
                place.keys[name] = key
