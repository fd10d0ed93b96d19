"""Detection of renames among the changes of a state: which new path is the file or directory of an old one.

Files are paired by equal contents, then by equal inodes and by similar texts, as git does. A directory is
renamed if the files in it are. Empty files are only paired in renamed directories.
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

_MAX_COMPARED = 50
"""Maximum number of files on each side whose texts are compared."""
_MAX_COMPARED_BYTES = 256 * 1024
_MIN_SIMILARITY = 0.5
"""Part of the bytes that are in lines which both texts have, as a share of the longer text."""


def find_renames(
    before: Mapping[str, Entry | None],
    changes: Changes,
    blobs: BlobStore,
    *,
    known: Renames = MappingProxyType({}),
    inodes: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, str]:
    """Return the renames among `changes`, which lead from the entries `before`.

    `known` are renames that aren't in doubt. `inodes` are those of removed paths before the changes and of
    new paths after them, as far as known.
    """
    gone = {path: old for path, entry in changes.items() if entry is None and (old := before.get(path))}
    if not gone:
        return {}
    new = {path: entry for path, entry in changes.items() if entry is not None and before.get(path) is None}
    if not new:
        return {}
    search = _RenameSearch(gone, new, blobs)
    search.pair_known(known)
    search.pair_equal_contents()
    search.pair_inodes(inodes)
    search.pair_similar_texts()
    search.pair_folders()
    return search.found


class _RenameSearch:
    """One search for renames."""

    def __init__(self, gone: Mapping[str, Entry], new: Mapping[str, Entry], blobs: BlobStore) -> None:
        self.found: dict[str, str] = {}
        self._gone = gone
        self._new = new
        self._blobs = blobs
        self._used: set[str] = set()

    def pair_known(self, known: Renames) -> None:
        """Pair the paths of renames that aren't in doubt."""
        for path, old in known.items():
            if path in self._new and old in self._gone:
                self._pair(path, old)

    def pair_equal_contents(self) -> None:
        """Pair files and links with the same content. The one with the most similar path comes first."""
        old_paths: dict[tuple[str, str], list[str]] = {}
        for path, entry in self._gone.items():
            if entry.kind == "link" or (entry.kind == "file" and entry.size):
                old_paths.setdefault((entry.kind, entry.ref), []).append(path)
        pairs = [
            (-_count_equal_parts(old, path), path, old)
            for path, entry in self._new.items()
            for old in old_paths.get((entry.kind, entry.ref), ())[:_MAX_COMPARED]
        ]
        for _, path, old in sorted(pairs):
            self._pair(path, old)

    def pair_inodes(self, inodes: Mapping[str, int]) -> None:
        """Pair files with the same inode and a similar text. A new file may have got a free inode."""
        by_inode = {inode: path for path, inode in inodes.items() if path in self._gone}
        for path in self._new:
            old = by_inode.get(inodes.get(path, -1))
            if old is not None and self._similarity(old, path) >= _MIN_SIMILARITY:
                self._pair(path, old)

    def pair_similar_texts(self) -> None:
        """Pair texts of which at least half is equal, the most similar ones first."""
        old_paths = [
            path for path in self._gone if self._is_comparable(self._gone[path]) and self._is_free(path)
        ]
        new_paths = [
            path for path in self._new if self._is_comparable(self._new[path]) and path not in self.found
        ]
        if max(len(old_paths), len(new_paths)) > _MAX_COMPARED:
            return
        pairs = [
            (-similarity, -_count_equal_parts(old, path), path, old)
            for path in new_paths
            for old in old_paths
            if (similarity := self._similarity(old, path)) >= _MIN_SIMILARITY
        ]
        for _, _, path, old in sorted(pairs):
            self._pair(path, old)

    def pair_folders(self) -> None:
        """Pair directories whose files were renamed, then whatever else has the same name in both."""
        candidates: dict[str, Counter[str]] = {}
        for path, old in self.found.items():
            for folder, old_folder in _folders_with_equal_ends(path, old):
                if _is_folder(self._new.get(folder)) and _is_folder(self._gone.get(old_folder)):
                    candidates.setdefault(folder, Counter())[old_folder] += 1
        for folder in sorted(candidates):
            for old_folder, _ in candidates[folder].most_common():
                self._pair(folder, old_folder)
        folders = [path for path in self.found if _is_folder(self._new[path])]
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
        if path not in self.found and old not in self._used:
            self.found[path] = old
            self._used.add(old)

    def _is_free(self, old: str) -> bool:
        return old not in self._used

    @staticmethod
    def _is_comparable(entry: Entry) -> bool:
        return entry.kind == "file" and 0 < entry.size <= _MAX_COMPARED_BYTES

    def _similarity(self, old: str, path: str) -> float:
        """Return the share of equal lines, by their bytes. 0 if one of the files isn't text."""
        before, after = self._gone[old], self._new[path]
        if not (self._is_comparable(before) and self._is_comparable(after)):
            return 0.0
        if min(before.size, after.size) < _MIN_SIMILARITY * max(before.size, after.size):
            return 0.0
        try:
            texts = self._blobs.read(before.ref), self._blobs.read(after.ref)
        except (BlobMissing, OSError):
            return 0.0
        if not all(map(is_text, texts)):
            return 0.0
        first, second = (Counter(BytesIO(text)) for text in texts)
        equal = sum(len(line) * count for line, count in (first & second).items())
        return equal / max(map(len, texts))


def _count_equal_parts(old: str, path: str) -> int:
    """Return how many names at the end of two paths are equal."""
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
