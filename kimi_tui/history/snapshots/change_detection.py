"""Change detection: reads paths that a scan found or a tool named, and compares them to known entries."""

import os
import stat
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from kimi_tui.history.snapshots.attributes.file_attributes import FileAttributes, read_attributes
from kimi_tui.history.snapshots.blob_store import BlobStore, max_whole_size
from kimi_tui.history.snapshots.deadline import ScanDeadline
from kimi_tui.history.snapshots.entry import Entries, Entry, absolute_path, parents_of
from kimi_tui.history.snapshots.file_content import store_content
from kimi_tui.history.snapshots.limits import SnapshotLimits
from kimi_tui.history.snapshots.path_aliases import PathAliases
from kimi_tui.history.snapshots.scanner import Scan
from kimi_tui.history.snapshots.stat_cache import StatCache, StatKey, key_of, size_of, stable_key, unpack_key

_CHECK_EVERY = 32
_PACK_FILES = 16
"""With this many files, contents are packed together."""
_BULK_FILES = 1000
_BULK_BYTES = 128 << 20
"""With this many files or bytes, contents are compressed later. Otherwise, a capture would take long."""


@dataclass(slots=True)
class DetectedChanges:
    """Changes found by reading files."""

    changes: dict[str, Entry | None] = field(default_factory=dict)
    coverage: dict[str, Entry | None] = field(default_factory=dict)
    """Paths that became covered or uncovered. Nobody has changed the files."""
    keys: dict[str, StatKey] = field(default_factory=dict)
    """Stat keys to cache; empty for paths that have to be read again."""
    stat_keys: dict[str, StatKey] = field(default_factory=dict)
    """Keys of the requested paths before they were read; an empty key for a missing path."""
    attributes: dict[str, FileAttributes | None] = field(default_factory=dict)
    """The unusual attributes of the files that were read, and of changed directories."""
    hard_links: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Device and inode of the files at paths that have several names."""
    n_read: int = 0
    is_deferred: bool = False
    """Whether some changed files are left to a later capture."""
    is_complete: bool = False
    """Whether an incomplete state is now complete: a scan has looked at all files for the first time."""


def detect_from_scan(
    root: Path,
    scan: Scan,
    *,
    entries: Entries,
    blobs: BlobStore,
    limits: SnapshotLimits,
    deadline: ScanDeadline,
) -> DetectedChanges:
    """Read the files that a scan reports as possibly changed, and store their contents.

    Large files come last, the largest at the end. They are omitted if there is no space left, half of the
    time has passed, or the data written since the store was opened reaches twice `limits.total`. `scan.files`
    is empty afterwards: freeing 100,000 items in one step would block all threads. Raises ScanCanceled,
    DeadlineExceeded, OSError.
    """
    detected = DetectedChanges()

    def add(path: str, entry: Entry | None) -> bool:
        if entries.get(path) == entry:
            return False
        is_new = path in scan.newly_covered and path not in entries
        (detected.coverage if is_new else detected.changes)[path] = entry
        return True

    for path in scan.missing:
        add(path, None)
    start = str(root)
    for path, entry in scan.entries.items():
        if add(path, entry) and entry.kind == "folder":
            detected.attributes[path] = _attributes_of_folder(absolute_path(start, path))
    free_space, limit = limits.total, limits.file
    n_files = len(scan.files)
    large = max_whole_size(blobs)
    n_bytes = sum(size for _, key in scan.files if (size := size_of(unpack_key(key))) <= limits.file)
    is_bulk = n_files >= _BULK_FILES or n_bytes >= _BULK_BYTES
    with (
        blobs.bulk_writer(uncompressed=is_bulk)
        if is_bulk or n_files >= _PACK_FILES
        else nullcontext(blobs) as sink
    ):
        scan.files.sort(key=lambda file: max(size_of(unpack_key(file[1])), large))
        scan.files.reverse()
        for number in range(n_files):
            path, packed = scan.files.pop()
            stat_key = unpack_key(packed)
            size = size_of(stat_key)
            is_large = size > large
            if is_large or number % _CHECK_EVERY == 0:
                deadline.check(number, n_files)
            if is_large:
                free_space = 0 if deadline.is_half_over else free_space
                limit = min(limit, 2 * limits.total - blobs.bytes_written)
            check = partial(deadline.check, number, n_files)
            try:
                entry, key, attributes = store_content(
                    absolute_path(start, path), min(limit, free_space), stat_key, sink, check=check
                )
            except FileNotFoundError:
                add(path, None)
                detected.keys[path] = ()
                continue
            detected.n_read += 1
            if key != stat_key:  # otherwise the scan has noted it
                detected.keys[path] = key
            if attributes is not None or path in entries:
                detected.attributes[path] = attributes
            if entry.version and free_space < size <= limits.file:
                if size <= limits.total and _is_probably_unchanged(entries.get(path), entry):
                    detected.keys[path] = ()  # a later capture with enough space decides
                    detected.is_deferred = True
                    continue
                entry = entry._replace(ref="too much new data at once")
            elif entry.version and limit < size <= limits.file:
                entry = entry._replace(ref="this session has already stored too much")
            if add(path, entry) and entry.kind == "file":
                free_space -= entry.size
    return detected


def _is_probably_unchanged(known: Entry | None, omitted: Entry) -> bool:
    """Return whether a file omitted for lack of space is probably unchanged: same mode and size."""
    return known is not None and known.kind == "file" and known[1:3] == omitted[1:3]


def detect_in_paths(
    root: Path,
    paths: Iterable[str],
    *,
    entries: Entries,
    blobs: BlobStore,
    limits: SnapshotLimits,
    known_entry: Callable[[str, StatKey], Entry | None] = lambda _, key: None,
) -> DetectedChanges:
    """Read the entries at `paths` and their parent directories, and store the contents. Raises OSError.

    If a directory no longer exists, all known entries in it count as missing. If the file system finds a file
    by several names, only the name in the directory listing has an entry; the other names count as missing.

    Files for which `known_entry` returns an entry aren't read. The attributes of a parent directory are read
    only if its entry has changed.
    """
    detected = DetectedChanges()
    aliases = PathAliases(str(root))
    requested = set(paths)
    all_paths = requested | {aliases.canonical(path) for path in requested}
    all_paths |= {folder for path in all_paths for folder in parents_of(path)}
    for path in sorted(all_paths):
        if aliases.canonical(path) != path:
            found = _PathContent()
        else:
            found = _read_path(absolute_path(root, path), blobs, limits, partial(known_entry, path))
        detected.keys[path], detected.stat_keys[path] = found.key, found.stat_key
        is_changed = entries.get(path) != found.entry
        if is_changed:
            detected.changes[path] = found.entry
        if found.was_read:
            detected.attributes[path] = found.attributes
        elif (is_changed or path in requested) and _is_folder(found.entry):
            detected.attributes[path] = _attributes_of_folder(absolute_path(root, path))
        if found.hard_link is not None:
            detected.hard_links[path] = found.hard_link
        detected.n_read += 1
    removed = [
        path
        for path, entry in detected.changes.items()
        if _is_folder(entries.get(path)) and not _is_folder(entry)
    ]
    for path in [path for path in entries if removed and any(it in removed for it in parents_of(path))]:
        detected.changes[path], detected.keys[path] = None, ()
    return detected


def _is_folder(entry: Entry | None) -> bool:
    return entry is not None and entry.kind == "folder"


def _attributes_of_folder(path: str) -> FileAttributes | None:
    try:
        return read_attributes(path, os.lstat(path))
    except OSError:
        return None


class _PathContent(NamedTuple):
    """Content of a path. By default, nothing exists there."""

    entry: Entry | None = None
    key: StatKey = ()
    """The key to cache."""
    stat_key: StatKey = ()
    """The key before reading."""
    attributes: FileAttributes | None = None
    """The unusual attributes of a file, if it was read."""
    was_read: bool = False
    hard_link: tuple[int, int] | None = None
    """Device and inode of a file that has several names."""


def _read_path(
    path: str, blobs: BlobStore, limits: SnapshotLimits, known_entry: Callable[[StatKey], Entry | None]
) -> _PathContent:
    """Read a path and return its entry."""
    try:
        info = os.lstat(path)
        mode, key = stat.S_IMODE(info.st_mode), key_of(info)
        if stat.S_ISDIR(info.st_mode):
            return _PathContent(Entry("folder", mode, 0, ""), (info.st_mode,), key)
        if stat.S_ISLNK(info.st_mode):
            return _PathContent(Entry("link", 0o777, 0, os.readlink(path)), key, key)  # noqa: PTH115
        if not stat.S_ISREG(info.st_mode):
            return _PathContent(Entry("omitted", mode, 0, "not a regular file"), key, key)
        hard_link = (info.st_dev, info.st_ino) if info.st_nlink > 1 else None
        if (entry := known_entry(key)) is not None:
            return _PathContent(entry, stable_key(key), key, hard_link=hard_link)
        content = store_content(path, limits.file, key, blobs)
        return _PathContent(content.entry, content.key, key, content.attributes, True, hard_link)
    except (FileNotFoundError, NotADirectoryError):
        return _PathContent()


def update_cache(cache: StatCache, detected: DetectedChanges) -> None:
    """Update `cache` with the detected changes.

    Ignored paths aren't added, nor are directories that aren't cached yet.
    """
    for path, key in detected.keys.items():
        if path in detected.changes and not _is_folder(detected.changes[path]):
            cache.folders.pop(path, None)
        folder, _, name = path.rpartition("/")
        cached = cache.folders.get(folder)
        if cached is None or name in cached.skipped:
            continue
        if name in cached.keys or path in detected.changes:
            if detected.changes.get(path, key) is None:
                cached.keys.pop(name, None)
            else:
                cached.keys[name] = key
