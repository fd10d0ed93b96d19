"""The files of the work dir, for completion after `@`: listed in a thread, searched in slices."""

import asyncio
import math
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from kimi_tui.base.own_git import git_command, git_environment
from kimi_tui.base.terminal import plain
from kimi_tui.tui import fuzzy

MOST_FILES = 200_000
_FRESH_S = 5.0
_SLICE = 4000
_CANDIDATES = 400
"""Enough to rank: who types on sees the rest."""
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "target", "dist", "build"})


class FileIndex:
    """What `@` completes to: paths relative to the work dir, folders with a slash at their end."""

    def __init__(self, work_dir: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._work_dir = work_dir
        self._clock = clock
        self._fresh_until = -math.inf
        self._slices: list[tuple[list[str], str]] = []
        """Paths, and the same as lower-case lines, which one regex searches at once."""

    async def refresh(self) -> bool:
        """List the files, unless that was done in the last seconds or is being done; whether it was."""
        if self._clock() < self._fresh_until:
            return False
        self._fresh_until = math.inf
        paths = await asyncio.to_thread(listed, self._work_dir)
        slices = []
        for start in range(0, len(paths), _SLICE):
            piece = paths[start : start + _SLICE]
            slices.append((piece, "\n".join(path.lower() for path in piece)))
            await asyncio.sleep(0)
        self._slices = slices
        self._fresh_until = self._clock() + _FRESH_S
        return True

    async def search(self, query: str, limit: int = 50) -> list[fuzzy.Match]:
        """The best matches for `query`; gives way to the event loop between slices."""
        if not query:
            top = [path for piece, _ in self._slices[:5] for path in piece if "/" not in path.rstrip("/")]
            return [fuzzy.Match(path, 0.0) for path in top[:limit]]
        candidates: dict[str, None] = {}
        for matching in (_with_substring, _with_letters):
            for piece, lines in self._slices:
                candidates.update(dict.fromkeys(matching(query.lower(), piece, lines)))
                if len(candidates) >= _CANDIDATES:
                    return fuzzy.best(query, list(candidates)[: 2 * _CANDIDATES], limit)
                await asyncio.sleep(0)
        return fuzzy.best(query, candidates, limit)


def listed(work_dir: Path) -> list[str]:
    """Files and folders under `work_dir`, nearest first; what git ignores is left out."""
    files = _listed_by_git(work_dir)
    if files is None:
        files = _walked(work_dir)
    folders = {f"{folder}/" for path in files for folder in _parents(path)}
    usable = [path for path in (*files, *folders) if plain(path) == path and "\n" not in path]
    return sorted(usable, key=lambda path: (path.count("/"), path))


def _listed_by_git(work_dir: Path) -> list[str] | None:
    command = git_command("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    if command is None:
        return None
    try:
        result = subprocess.run(
            command, cwd=work_dir, env=git_environment(), capture_output=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return [os.fsdecode(name) for name in result.stdout.split(b"\0") if name][:MOST_FILES]


def _walked(work_dir: Path) -> list[str]:
    files: list[str] = []
    waiting = [""]
    while waiting and len(files) < MOST_FILES:
        folder = waiting.pop(0)
        try:
            entries = sorted(os.scandir(work_dir / folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = f"{folder}{entry.name}"
            if not entry.is_dir(follow_symlinks=False):
                files.append(path)
            elif not entry.name.startswith(".") and entry.name not in _SKIPPED_FOLDERS:
                waiting.append(f"{path}/")
    return files


def _parents(path: str) -> Iterator[str]:
    end = path.rfind("/")
    while end > 0:
        yield path[:end]
        end = path.rfind("/", 0, end)


def _with_substring(needle: str, paths: list[str], lines: str) -> Iterator[str]:
    index = line_start = 0
    found = lines.find(needle)
    while found >= 0:
        index += lines.count("\n", line_start, found)
        yield paths[index]
        line_start = lines.find("\n", found) + 1
        if not line_start:
            return
        index += 1
        found = lines.find(needle, line_start)


def _with_letters(query: str, paths: list[str], lines: str) -> Iterator[str]:
    index = position = 0
    for found in fuzzy.line_pattern(query).finditer(lines):
        index += lines.count("\n", position, found.start())
        position = found.start()
        yield paths[index]
