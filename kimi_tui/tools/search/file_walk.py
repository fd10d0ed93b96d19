"""Ordered directory walk that doesn't follow links or enter directories ignored by git."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from kimi_tui.base.gitignore import VCS_FOLDERS, IgnoreRules, rules_for_parents

PACKAGE_FOLDERS = frozenset({"node_modules", ".venv"})
"""Not entered even if no ignore file lists them; the walk reports them as skipped."""
CACHE_FOLDERS = frozenset({"__pycache__", ".tox", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
"""Never entered and not reported."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file or directory found by a walk."""

    path: str
    relative: str
    """Relative to the start of the walk, separated by `/`."""
    is_folder: bool
    """False for a link to a directory."""
    is_regular: bool
    """False for a link to a file."""
    rules: IgnoreRules

    @property
    def is_ignored(self) -> bool:
        """Whether git ignores it."""
        return self.rules.ignores(self.path, is_folder=self.is_folder)


@dataclass(slots=True)
class DirectoryWalk:
    """A walk below `start`, until `stop` is set or `seconds` have passed."""

    start: Path
    max_depth: int | None = None
    seconds: float = 20.0
    stop: Event = field(default_factory=Event)
    skipped: list[str] = field(default_factory=list)
    """Directories that were not entered, relative to `start`."""
    unreadable: list[str] = field(default_factory=list)
    """Directories that could not be read, relative to `start`."""
    is_cut_short: bool = False

    def __iter__(self) -> Iterator[FoundFile]:
        """Yield the entries sorted by name, all entries of a directory before those of its subdirectories."""
        deadline = time.monotonic() + self.seconds
        folders = [(str(self.start), "", rules_for_parents(self.start), 1)]
        while folders:
            if self.stop.is_set() or time.monotonic() > deadline:
                self.is_cut_short = True
                return
            folder, prefix, rules, depth = folders.pop()
            try:
                with os.scandir(folder) as scan:
                    entries = sorted(scan, key=lambda entry: entry.name)
            except OSError:
                self.unreadable.append(prefix)
                continue
            rules = rules.descend(folder, {entry.name for entry in entries})
            below = []
            for entry in entries:
                if entry.name in VCS_FOLDERS:
                    continue
                found = _to_found_file(entry, prefix, rules)
                yield found
                if not found.is_folder or depth == self.max_depth:
                    continue
                if entry.name in CACHE_FOLDERS:
                    continue
                if entry.name in PACKAGE_FOLDERS or found.is_ignored:
                    self.skipped.append(found.relative)
                else:
                    below.append((found.path, found.relative + "/", rules, depth + 1))
            folders += reversed(below)


def _to_found_file(entry: "os.DirEntry[str]", prefix: str, rules: IgnoreRules) -> FoundFile:
    try:
        is_folder, is_regular = entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False)
    except OSError:
        is_folder = is_regular = False
    return FoundFile(entry.path, prefix + entry.name, is_folder, is_regular, rules)
