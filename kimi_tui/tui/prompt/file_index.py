"""Index of the files in the working directory, for completion after `@`.

Files are listed in a thread and searched in slices.
"""

import asyncio
import math
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from kimi_tui.base.terminal_text import sanitize
from kimi_tui.tui.widgets import fuzzy

MAX_FILES = 200_000
_REFRESH_S = 5.0
_SLICE = 4000
_CANDIDATES = 400
"""Maximum number of matches to rank. Further typing narrows the search."""
_SKIPPED_DIRS = frozenset({"node_modules", "__pycache__", "venv", "target", "dist", "build"})


class FileIndex:
    """Paths for completion after `@`, relative to the working directory. Directories end with a slash."""

    def __init__(self, work_dir: Path) -> None:
        self._work_dir = work_dir
        self._fresh_until = -math.inf
        """Time of the event loop, in seconds, until which the list is up to date."""
        self._slices: list[tuple[list[str], str]] = []
        """Slices of paths, each with the same paths in lowercase, joined by newlines for the regex search."""

    async def refresh(self) -> bool:
        """List the files, unless the list is up to date or is being updated. Return whether the files were
        listed.
        """
        loop = asyncio.get_running_loop()
        if loop.time() < self._fresh_until:
            return False
        self._fresh_until = math.inf
        paths = await asyncio.to_thread(list_files, self._work_dir)
        slices = []
        for start in range(0, len(paths), _SLICE):
            part = paths[start : start + _SLICE]
            slices.append((part, "\n".join(path.lower() for path in part)))
            await asyncio.sleep(0)
        self._slices = slices
        self._fresh_until = loop.time() + _REFRESH_S
        return True

    async def search(self, query: str, limit: int = 50) -> list[fuzzy.Match]:
        """Return the best matches for `query`. Yields to the event loop between slices."""
        if not query:
            top = [path for paths, _ in self._slices[:5] for path in paths if "/" not in path.rstrip("/")]
            return [fuzzy.Match(path, 0.0) for path in top[:limit]]
        candidates: dict[str, None] = {}
        for find_matches in (_match_substring, _match_letters):
            for paths, lines in self._slices:
                candidates.update(dict.fromkeys(find_matches(query.lower(), paths, lines)))
                if len(candidates) >= _CANDIDATES:
                    return fuzzy.best_matches(query, list(candidates)[: 2 * _CANDIDATES], limit)
                await asyncio.sleep(0)
        return fuzzy.best_matches(query, candidates, limit)


def list_files(work_dir: Path) -> list[str]:
    """Return the files and directories under `work_dir`, top level first, without files that git ignores."""
    files = _list_with_git(work_dir)
    if files is None:
        files = _walk(work_dir)
    directories = {f"{parent}/" for path in files for parent in _parents(path)}
    usable = [path for path in (*files, *directories) if sanitize(path) == path and "\n" not in path]
    return sorted(usable, key=lambda path: (path.count("/"), path))


def _list_with_git(work_dir: Path) -> list[str] | None:
    from kimi_tui.base.safe_git import git_command, git_environment  # not needed for the first frame

    command = git_command("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    if command is None:
        return None
    try:
        result = subprocess.run(
            command, cwd=work_dir, env=git_environment(), capture_output=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return [os.fsdecode(name) for name in result.stdout.split(b"\0") if name][:MAX_FILES]


def _walk(work_dir: Path) -> list[str]:
    files: list[str] = []
    pending = [""]
    while pending and len(files) < MAX_FILES:
        directory = pending.pop(0)
        try:
            entries = sorted(os.scandir(work_dir / directory), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = f"{directory}{entry.name}"
            if not entry.is_dir(follow_symlinks=False):
                files.append(path)
            elif not entry.name.startswith(".") and entry.name not in _SKIPPED_DIRS:
                pending.append(f"{path}/")
    return files


def _parents(path: str) -> Iterator[str]:
    end = path.rfind("/")
    while end > 0:
        yield path[:end]
        end = path.rfind("/", 0, end)


def _match_substring(needle: str, paths: list[str], lines: str) -> Iterator[str]:
    index = line_start = 0
    position = lines.find(needle)
    while position >= 0:
        index += lines.count("\n", line_start, position)
        yield paths[index]
        line_start = lines.find("\n", position) + 1
        if not line_start:
            return
        index += 1
        position = lines.find(needle, line_start)


def _match_letters(query: str, paths: list[str], lines: str) -> Iterator[str]:
    index = position = 0
    for match in fuzzy.line_pattern(query).finditer(lines):
        index += lines.count("\n", position, match.start())
        position = match.start()
        yield paths[index]
