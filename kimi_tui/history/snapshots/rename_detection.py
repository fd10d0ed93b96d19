"""Detection of renames among the changes of a state: pairs the old and the new path of a file or directory.

Files are paired by equal contents, then by equal inodes and by similar contents, as git does. A directory
counts as renamed if its files were renamed. Empty files are paired only in renamed directories, or if one has
the old name of another renamed file.

A file may have been renamed to a name in use, and a name may be in use again: `mv a b` replaces `b`, and two
files may swap their names. But if an old name has new content of its own, the file wasn't renamed. A similar
file elsewhere is then a copy, such as a backup.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from io import BytesIO
from types import MappingProxyType

from kimi_tui.history.snapshots.blob_store import BlobMissing, BlobStore
from kimi_tui.history.snapshots.entry import Changes, Entry
from kimi_tui.history.snapshots.merge3 import is_text

Renames = Mapping[str, str]
"""New path -> old path."""
NO_RENAMES: Renames = MappingProxyType({})

_MAX_COMPARED = 50
"""Maximum number of files on each side whose contents are compared."""
_MAX_REMEMBERED = 4 * _MAX_COMPARED
"""Maximum number of contents whose parts are kept in memory."""
_MAX_COMPARED_BYTES = 256 * 1024
_MAX_COMPARED_BYTES_OF_INODE = 8 << 20
_MIN_SIMILARITY = 0.5
"""Minimum share of the longer content's bytes that are in lines common to both contents."""
_BLOCK = 64
"""Size of the blocks that are compared in binary files, which may have no lines."""


def find_renames(
    before: Mapping[str, Entry | None],
    changes: Changes,
    blobs: BlobStore,
    *,
    likely: Renames = NO_RENAMES,
    old_inodes: Mapping[str, int] = MappingProxyType({}),
    new_inodes: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, str]:
    """Return the renames among `changes` of the entries `before`: new path -> old path.

    `likely` are the renames reported by the program that made the changes. `old_inodes` and `new_inodes` are
    the known inodes of changed paths before and after the changes.
    """
    gone: dict[str, Entry] = {}
    new: dict[str, Entry] = {}
    replaced: dict[str, tuple[Entry, Entry]] = {}
    for path, entry in changes.items():
        match before.get(path), entry:
            case Entry() as old, None:
                gone[path] = old
            case None, Entry() as current:
                new[path] = current
            case Entry() as old, Entry() as current if _is_replaced(old, current):
                replaced[path] = old, current
    if not (gone or len(replaced) > 1) or not (new or replaced):
        return {}
    evidence = _Evidence(likely, old_inodes, new_inodes)
    search = _RenameSearch(gone, new, replaced, _Contents(blobs), evidence)
    search.pair_equal_contents()
    search.pair_same_files()
    search.pair_similar_contents()
    search.pair_empty_files()
    search.drop_copies()
    search.pair_folders()
    return search.found


def select_renames(known: Renames, before: Mapping[str, Entry | None], changes: Changes) -> dict[str, str]:
    """Return the `known` renames that are among `changes` of the entries `before`."""
    return {
        path: old
        for path, old in known.items()
        if changes.get(path) is not None and old in changes and before.get(old) is not None
    }


class _Evidence:
    """Evidence of renames other than contents: reported renames and inodes."""

    def __init__(
        self,
        likely: Renames,
        old_inodes: Mapping[str, int],
        new_inodes: Mapping[str, int],
    ) -> None:
        self._likely = likely
        self._old_inodes = old_inodes
        self._new_inodes = new_inodes
        self._path_by_inode = {inode: path for path, inode in old_inodes.items()}

    def likely_old_path(self, path: str) -> str | None:
        """Return the probable old path of the file at `path`; None if unknown or the same."""
        old = self._likely.get(path) or self._path_by_inode.get(self._new_inodes.get(path, -1))
        return old if old != path else None

    def is_same_file(self, old: str, path: str) -> bool:
        """Return whether `path` probably has the file that was at `old`."""
        return self.likely_old_path(path) == old


class _RenameSearch:
    """One search for renames."""

    def __init__(
        self,
        gone: Mapping[str, Entry],
        new: Mapping[str, Entry],
        replaced: Mapping[str, tuple[Entry, Entry]],
        contents: "_Contents",
        evidence: _Evidence,
    ) -> None:
        self.found: dict[str, str] = {}
        self._gone = gone
        self._new = new
        self._replaced = replaced
        self._old = {**gone, **{path: old for path, (old, _) in replaced.items()}}
        """The entries that may have been renamed."""
        self._current = {**new, **{path: current for path, (_, current) in replaced.items()}}
        """The entries that may have had another name."""
        self._contents = contents
        self._evidence = evidence
        self._used: set[str] = set()

    def pair_equal_contents(self) -> None:
        """Pair files and links with equal content: likely renames first, then pairs with similar paths."""
        old_paths: dict[tuple[str, str], list[str]] = {}
        for path, entry in self._old.items():
            if entry.kind == "link" or (entry.kind == "file" and entry.size):
                old_paths.setdefault((entry.kind, entry.ref), []).append(path)
        pairs = [
            (
                not self._evidence.is_same_file(old, path),
                old in self._replaced,
                path in self._replaced,
                -_count_equal_parts(old, path),
                path,
                old,
            )
            for path, entry in self._current.items()
            for old in old_paths.get((entry.kind, entry.ref), ())[:_MAX_COMPARED]
        ]
        for *_, path, old in sorted(pairs):
            self._pair(path, old)

    def pair_same_files(self) -> None:
        """Pair likely renames if the contents are similar.

        An equal inode alone isn't enough: a new file may have got a freed inode. That is usual if a command
        replaces many files, so replaced files are compared only if there are few.
        """
        are_few = len(self._replaced) <= _MAX_COMPARED
        for path in self._current if are_few else self._new:
            old = self._evidence.likely_old_path(path)
            if old in self._old and self._is_better(old, path, _MAX_COMPARED_BYTES_OF_INODE):
                self._pair(path, old)

    def pair_similar_contents(self) -> None:
        """Pair files that are at least half equal, starting with the most similar."""
        rewritten = self._rewritten()
        old_paths = [
            path
            for path in (*self._gone, *rewritten)
            if _is_comparable(self._old[path]) and path not in self._used
        ]
        new_paths = [
            path
            for path in (*self._new, *rewritten)
            if _is_comparable(self._current[path]) and path not in self.found
        ]
        if max(len(old_paths), len(new_paths)) > _MAX_COMPARED:
            return
        pairs = [
            (-similarity, -_count_equal_parts(old, path), path, old)
            for path in new_paths
            for old in old_paths
            if path != old and (similarity := self._similarity(old, path)) >= _MIN_SIMILARITY
        ]
        for _, _, path, old in sorted(pairs):
            self._pair(path, old)

    def _rewritten(self) -> list[str]:
        """Return the paths with new content that isn't similar to the old: it may be another file's."""
        paths = [path for path in self._replaced if path not in self._used or path not in self.found]
        if len(paths) > _MAX_COMPARED:
            return []
        return [path for path in paths if self._similarity(path, path) < _MIN_SIMILARITY]

    def pair_empty_files(self) -> None:
        """Pair an empty file at the old path of a renamed file with the only unpaired old empty file."""
        new = [
            old for old in self.found.values() if old not in self.found and _is_empty(self._current.get(old))
        ]
        left = [path for path, entry in self._old.items() if _is_empty(entry) and path not in self._used]
        if len(new) == len(left) == 1:
            self._pair(new[0], left[0])

    def drop_copies(self) -> None:
        """Drop renames with an old path that has new content which wasn't renamed to that path."""
        while copies := [
            path for path, old in self.found.items() if old not in self.found and self._has_new_content(old)
        ]:
            for path in copies:
                self._used.discard(self.found.pop(path))

    def _has_new_content(self, path: str) -> bool:
        """Return whether a file was replaced by another one, not by a directory."""
        return path in self._replaced and not _is_folder(self._current[path])

    def pair_folders(self) -> None:
        """Pair directories if their files were renamed, then other paths with the same name in both."""
        candidates: dict[str, Counter[str]] = {}
        for path, old in self.found.items():
            for folder, old_folder in _folders_with_equal_ends(path, old):
                if _is_folder(self._current.get(folder)) and _is_folder(self._old.get(old_folder)):
                    candidates.setdefault(folder, Counter())[old_folder] += 1
        for folder in sorted(candidates):
            for old_folder, _ in candidates[folder].most_common():
                self._pair(folder, old_folder)
        folders = [path for path in self.found if _is_folder(self._current[path])]
        for path in sorted(self._new):
            if path in self.found:
                continue
            for folder in folders:
                if path.startswith(f"{folder}/"):
                    old = self.found[folder] + path[len(folder) :]
                    if self._is_like(old, path):
                        self._pair(path, old)
                        if _is_folder(self._new[path]):
                            folders.append(path)

    def _is_like(self, old: str, path: str) -> bool:
        before, after = self._gone.get(old), self._new[path]
        return before is not None and before.kind == after.kind and before.ref == after.ref

    def _pair(self, path: str, old: str) -> None:
        if path not in self.found and old not in self._used and path != old:
            self.found[path] = old
            self._used.add(old)

    def _is_better(self, old: str, path: str, limit: int) -> bool:
        """Return whether the content of `path` resembles that of `old`, more than its own old content."""
        similarity = self._similarity(old, path, limit)
        if similarity < _MIN_SIMILARITY:
            return False
        return path not in self._replaced or similarity > self._similarity(path, path, limit)

    def _similarity(self, old: str, path: str, limit: int = _MAX_COMPARED_BYTES) -> float:
        return self._contents.similarity(self._old[old], self._current[path], limit)


class _Contents:
    """Compares contents of files."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._parts: dict[str, tuple[Counter[bytes], ...]] = {}
        """By digest, the counts of a content's lines; for binary content, also the counts of its blocks."""

    def similarity(self, before: Entry, after: Entry, limit: int) -> float:
        """Return the share of bytes in equal parts, from 0 to 1; 0 for files above `limit` bytes."""
        if not (_is_comparable(before, limit) and _is_comparable(after, limit)):
            return 0.0
        if min(before.size, after.size) < _MIN_SIMILARITY * max(before.size, after.size):
            return 0.0
        try:
            pairs = zip(self._parts_of(before), self._parts_of(after), strict=False)
            equal = (
                sum(len(part) * count for part, count in (first & second).items()) for first, second in pairs
            )
            return max(equal) / max(before.size, after.size)
        except (BlobMissing, OSError):
            return 0.0

    def _parts_of(self, entry: Entry) -> tuple[Counter[bytes], ...]:
        if (parts := self._parts.get(entry.ref)) is None:
            if len(self._parts) > _MAX_REMEMBERED:
                self._parts.clear()
            content = self._blobs.read(entry.ref)
            parts = (Counter(BytesIO(content)),)
            if not is_text(content):
                blocks = (content[start : start + _BLOCK] for start in range(0, len(content), _BLOCK))
                parts = (*parts, Counter(blocks))
            self._parts[entry.ref] = parts
        return parts


def _is_replaced(old: Entry, current: Entry) -> bool:
    """Return whether a path has another content, not only another mode."""
    return (old.kind, old.ref, old.version) != (current.kind, current.ref, current.version)


def _is_comparable(entry: Entry, limit: int = _MAX_COMPARED_BYTES) -> bool:
    return entry.kind == "file" and 0 < entry.size <= limit


def _is_empty(entry: Entry | None) -> bool:
    return entry is not None and entry.kind == "file" and not entry.size


def _count_equal_parts(old: str, path: str) -> int:
    """Return the number of equal names at the end of two paths."""
    count = 0
    for one, other in zip(reversed(old.split("/")), reversed(path.split("/")), strict=False):
        if one != other:
            break
        count += 1
    return count


def _folders_with_equal_ends(path: str, old: str) -> Iterable[tuple[str, str]]:
    """Yield the directories in which two paths have the same relative path."""
    while "/" in path and "/" in old:
        path, _, name = path.rpartition("/")
        old, _, old_name = old.rpartition("/")
        if name != old_name or path == old:
            return
        yield path, old


def _is_folder(entry: Entry | None) -> bool:
    return entry is not None and entry.kind == "folder"
