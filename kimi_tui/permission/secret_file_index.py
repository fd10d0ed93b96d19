"""Index of the files in a session's directories that are likely to contain secrets."""

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.secret_paths import is_secret

_SKIPPED_FOLDERS = frozenset(
    {
        ".git", ".hg", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".svn", ".tox", ".venv", "__pycache__",
        "node_modules", "site-packages", "venv",
    }
)  # fmt: skip
"""Directories of tools and third-party packages; their certificates and examples look like secrets."""
_CODE_SUFFIXES = (
    ".c", ".cc", ".cpp", ".css", ".go", ".h", ".html", ".java", ".js", ".kt", ".md", ".mjs", ".php", ".png",
    ".py", ".pyc", ".rb", ".rs", ".rst", ".scss", ".sh", ".svg", ".swift", ".ts", ".tsx", ".txt", ".vue",
)  # fmt: skip
"""Suffixes of files that hold no secrets unless they're in a hidden directory or named like a key."""
_UNCERTAIN_NS = 20_000_000
"""A directory that was changed so shortly before it was read may change again without another mtime."""


@frozen
class _Folder:
    """Facts about a directory."""

    mtime_ns: int
    """Its mtime when it was read; 0 if it has to be read again."""
    folders: tuple[str, ...]
    secrets: tuple[Path, ...]


class SecretFileIndex:
    """Finds files that are likely to contain secrets. Only directories that have changed are read again.

    May be used in several threads.
    """

    def __init__(self) -> None:
        self._folders: dict[str, _Folder] = {}
        self._lock = threading.Lock()
        self._prepared_roots: set[Path] = set()
        self._unread: list[str] = []
        """Directories that `prepare` has found and not read."""

    def prepare(self, roots: Sequence[Path], budget_s: float) -> bool:
        """Read directories below `roots` for `budget_s` seconds, at least one, so that `find` is faster.

        Return whether some are left to read. Blocks.
        """
        deadline = time.monotonic() + budget_s
        with self._lock:
            for root in roots:
                if root not in self._prepared_roots:
                    self._prepared_roots.add(root)
                    self._unread.append(str(root))
            while self._unread:
                name = self._unread.pop()
                if name not in self._folders:
                    folder = self._folders[name] = _read_folder(name)
                    self._unread += folder.folders
                if time.monotonic() >= deadline:
                    break
            return bool(self._unread)

    def find(self, roots: Sequence[Path]) -> tuple[Path, ...]:
        """Return the files below `roots`, except in directories of tools, packages and version control.

        Blocks: a few microseconds for each directory that was read earlier.
        """
        with self._lock:
            self._prepared_roots.update(roots)
            self._unread.clear()
            return self._find(roots)

    def _find(self, roots: Sequence[Path]) -> tuple[Path, ...]:
        found: list[Path] = []
        known = self._folders
        seen: dict[str, _Folder] = {}
        waiting = [str(root) for root in roots]
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            try:
                mtime_ns = os.stat(name).st_mtime_ns  # noqa: PTH116 - a Path costs more than the call
            except OSError:
                continue
            folder = known.get(name)
            if folder is None or folder.mtime_ns != mtime_ns:
                folder = _read_folder(name)
            seen[name] = folder
            waiting += folder.folders
            found += folder.secrets
        self._folders = seen
        return tuple(found)


def _read_folder(name: str) -> _Folder:
    folders: list[str] = []
    secrets: list[Path] = []
    mtime_ns = 0
    is_hidden = "/." in name
    try:
        info = os.stat(name)  # noqa: PTH116 - likewise
        with os.scandir(name) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _SKIPPED_FOLDERS:
                        folders.append(entry.path)
                elif (is_hidden or _may_be_secret(entry.name)) and is_secret(entry.path):
                    secrets.append(Path(entry.path))
        if time.time_ns() - info.st_mtime_ns > _UNCERTAIN_NS:
            mtime_ns = info.st_mtime_ns
    except OSError:
        pass
    return _Folder(mtime_ns, tuple(folders), tuple(secrets))


def _may_be_secret(name: str) -> bool:
    return not name.endswith(_CODE_SUFFIXES) or name.startswith((".", "id_"))
