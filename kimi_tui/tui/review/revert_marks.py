"""Marks of the hunks that a review is going to revert."""

from collections.abc import Iterable

from kimi_tui.frontend.review_file import ReviewFile, revert_choice
from kimi_tui.wire.timeline import FileChoice


class RevertMarks:
    """The marked hunks by file. A file without hunks is marked as a whole."""

    def __init__(self) -> None:
        self._ids: dict[str, set[str]] = {}

    def of(self, path: str) -> frozenset[str]:
        """Return the ids of the marked hunks of a file. An empty id stands for a file without hunks."""
        return frozenset(self._ids.get(path, ()))

    def count(self, path: str | None = None) -> int:
        """Return the number of marked hunks of a file, or of all files."""
        return len(self.of(path)) if path is not None else sum(map(len, self._ids.values()))

    def toggle(self, file: ReviewFile, hunk_id: str) -> None:
        """Mark a hunk, or remove its mark."""
        self._set(file.path, self.of(file.path) ^ {hunk_id})

    def toggle_all(self, file: ReviewFile) -> None:
        """Mark all hunks of a file. If all are marked, remove the marks."""
        ids = _ids_of(file)
        self._set(file.path, () if self.of(file.path) >= ids else ids)

    def keep_known(self, file: ReviewFile) -> None:
        """Remove the marks of hunks that the file no longer has."""
        self._set(file.path, self.of(file.path) & _ids_of(file))

    def keep_paths(self, paths: Iterable[str]) -> None:
        """Remove the marks of other files."""
        self._ids = {path: self._ids[path] for path in paths if path in self._ids}

    def clear(self) -> None:
        """Remove all marks."""
        self._ids = {}

    def decisions(self, files: Iterable[ReviewFile]) -> tuple[FileChoice, ...]:
        """Return the decisions to revert the marked hunks of these files."""
        return tuple(revert_choice(file, self.of(file.path)) for file in files if self.of(file.path))

    def _set(self, path: str, ids: Iterable[str]) -> None:
        if chosen := set(ids):
            self._ids[path] = chosen
        else:
            self._ids.pop(path, None)


def _ids_of(file: ReviewFile) -> frozenset[str]:
    return frozenset(hunk.id for hunk in file.hunks) or frozenset({""})
