"""Walking through folders: in order, without following links, not into what git ignores."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from kimi_tui.base.ignore import VCS_FOLDERS, IgnoreRules, rules_above

PACKAGE_FOLDERS = frozenset({"node_modules", ".venv"})
"""Not looked into, even where no ignore file says so; the walk names them."""
CACHE_FOLDERS = frozenset({"__pycache__", ".tox", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
"""Never looked into."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file or folder that a walk came by."""

    path: str
    relative: str
    """To where the walk began, with `/`."""
    is_folder: bool
    """Not for a link to a folder."""
    is_regular: bool
    """Not for a link to a file."""
    rules: IgnoreRules

    @property
    def is_ignored(self) -> bool:
        """Whether git ignores it."""
        return self.rules.ignores(self.path, is_folder=self.is_folder)


@dataclass(slots=True)
class Walk:
    """A walk below `start`, which lasts until `stop` is set or `seconds` are over."""

    start: Path
    max_depth: int | None = None
    seconds: float = 20.0
    stop: Event = field(default_factory=Event)
    left_out: list[str] = field(default_factory=list)
    """Folders that were not looked into, relative to `start`."""
    unreadable: list[str] = field(default_factory=list)
    """Folders that could not be read, relative to `start`."""
    is_cut_short: bool = False

    def __iter__(self) -> Iterator[Found]:
        """What is found: names in order, all of a folder before what its folders hold."""
        deadline = time.monotonic() + self.seconds
        folders = [(str(self.start), "", rules_above(self.start), 1)]
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
            rules = rules.entering(folder, {entry.name for entry in entries})
            below = []
            for entry in entries:
                if entry.name in VCS_FOLDERS:
                    continue
                found = _found(entry, prefix, rules)
                yield found
                if not found.is_folder or depth == self.max_depth:
                    continue
                if entry.name in CACHE_FOLDERS:
                    continue
                if entry.name in PACKAGE_FOLDERS or found.is_ignored:
                    self.left_out.append(found.relative)
                else:
                    below.append((found.path, found.relative + "/", rules, depth + 1))
            folders += reversed(below)


def _found(entry: "os.DirEntry[str]", prefix: str, rules: IgnoreRules) -> Found:
    try:
        is_folder, is_regular = entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False)
    except OSError:
        is_folder = is_regular = False
    return Found(entry.path, prefix + entry.name, is_folder, is_regular, rules)
