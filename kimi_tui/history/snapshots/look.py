"""A look: the changes that a scan, or the paths that a tool named, turn out to be once contents are read."""

import os
import stat
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kimi_tui.history.snapshots.blobs import BlobStore, at_once
from kimi_tui.history.snapshots.caps import Caps
from kimi_tui.history.snapshots.content import keep_content
from kimi_tui.history.snapshots.entry import Entries, Entry, on_disk, parents_of
from kimi_tui.history.snapshots.known import Key, Known, key_of, lasting_key, size_of
from kimi_tui.history.snapshots.patience import Patience
from kimi_tui.history.snapshots.scan import Scan
from kimi_tui.history.snapshots.spelling import Spelling

_CHECK_EVERY = 32
_MANY = 16
"""From so many files on, contents are packed together."""
_VERY_MANY = 1000
_VERY_MUCH = 128 << 20
"""From so many files or bytes on, somebody waits for it: they are compressed later."""


@dataclass(slots=True)
class Look:
    """What became of the files."""

    changes: dict[str, Entry | None] = field(default_factory=dict)
    coverage: dict[str, Entry | None] = field(default_factory=dict)
    """What came under the store's eyes or left them, which is nobody's change."""
    keys: dict[str, Key] = field(default_factory=dict)
    """By which a path is known from now on; empty where it has to be looked at again."""
    seen: dict[str, Key] = field(default_factory=dict)
    """Of the paths that were asked for, what they had before they were read; empty for nothing."""
    n_read: int = 0


def look_at_scan(
    root: Path, scan: Scan, *, entries: Entries, blobs: BlobStore, caps: Caps, patience: Patience
) -> Look:
    """Read what a scan says may have changed, and keep its content. Raises Stopped, TookTooLong, OSError.

    Large files come last, the largest at the end: they are left out when there is no more room, half of the
    time is over, or what was written since the store was opened is twice what the caps allow it to hold.
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
    room, limit = caps.total, caps.file
    many = len(scan.files)
    start = str(root)
    large = at_once(blobs)
    much = sum(size_of(key) for _, key in scan.files if size_of(key) <= caps.file)
    in_haste = many >= _VERY_MANY or much >= _VERY_MUCH
    with blobs.bulk(in_haste=in_haste) if in_haste or many >= _MANY else nullcontext(blobs) as sink:
        scan.files.sort(key=lambda file: max(size_of(file[1]), large))
        scan.files.reverse()
        for number in range(many):
            path, seen = scan.files.pop()
            size = size_of(seen)
            is_large = size > large
            if is_large or number % _CHECK_EVERY == 0:
                patience.check(number, many)
            if is_large:
                room = 0 if patience.is_half_over else room
                limit = min(limit, 2 * caps.total - blobs.written)
            check = partial(patience.check, number, many)
            try:
                entry, key = keep_content(on_disk(start, path), min(limit, room), seen, sink, check=check)
            except FileNotFoundError:
                note(path, None)
                look.keys[path] = ()
                continue
            look.n_read += 1
            look.keys[path] = key
            if entry.version and room < size <= caps.file:
                if size <= caps.total and _is_likely(entries.get(path), entry):
                    look.keys[path] = ()  # a look that has room for it says whether it is
                    continue
                entry = entry._replace(ref="there is too much at once")
            elif entry.version and limit < size <= caps.file:
                entry = entry._replace(ref="this session has kept too much already")
            if note(path, entry) and entry.kind == "file":
                room -= entry.size
    return look


def _is_likely(known: Entry | None, left_out: Entry) -> bool:
    """Whether a file that there is no room for is probably what it was known to be: as long, as allowed."""
    return known is not None and known.kind == "file" and known[1:3] == left_out[1:3]


def look_at_paths(
    root: Path,
    paths: Iterable[str],
    *,
    entries: Entries,
    blobs: BlobStore,
    caps: Caps,
    recognized: Callable[[str, Key], Entry | None] = lambda _, key: None,
) -> Look:
    """Read what is at `paths` now, and which folders they lie in, and keep the contents. Raises OSError.

    Where something goes by several names, it is what its folder lists; nothing is at the others. What is
    `recognized` by the key that it has now needs no reading.
    """
    look = Look()
    spelling = Spelling(str(root))
    asked = set(paths)
    wanted = asked | {spelling.of(path) for path in asked}
    wanted |= {folder for path in wanted for folder in parents_of(path)}
    for path in sorted(wanted):
        if spelling.of(path) != path:
            entry, look.keys[path], look.seen[path] = None, (), ()
        else:
            entry, look.keys[path], look.seen[path] = _at(
                on_disk(root, path), blobs, caps, partial(recognized, path)
            )
        if entries.get(path) != entry:
            look.changes[path] = entry
        look.n_read += 1
    return look


def _at(
    path: str, blobs: BlobStore, caps: Caps, recognized: Callable[[Key], Entry | None]
) -> tuple[Entry | None, Key, Key]:
    """What is there, with the key by which it is known from now on and the one it had before."""
    try:
        info = os.lstat(path)
        mode, seen = stat.S_IMODE(info.st_mode), key_of(info)
        if stat.S_ISDIR(info.st_mode):
            return Entry("folder", mode, 0, ""), (info.st_mode,), seen
        if stat.S_ISLNK(info.st_mode):
            return Entry("link", 0o777, 0, os.readlink(path)), seen, seen  # noqa: PTH115
        if not stat.S_ISREG(info.st_mode):
            return Entry("omitted", mode, 0, "it is no regular file"), seen, seen
        if (entry := recognized(seen)) is not None:
            return entry, lasting_key(seen), seen
        return *keep_content(path, caps.file, seen, blobs), seen
    except (FileNotFoundError, NotADirectoryError):
        return None, (), ()


def apply_keys(known: Known, look: Look) -> None:
    """Bring `known` up to date with what was read. Folders that were not known stay so."""
    for path, key in look.keys.items():
        folder, _, name = path.rpartition("/")
        if (place := known.folders.get(folder)) is not None and (name in place.keys or path in look.changes):
            if look.changes.get(path, key) is None:
                place.keys.pop(name, None)
            else:
                place.keys[name] = key
