"""Glob: files and folders by a pattern of their names."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.file.regular import file_problem
from kimi_tui.tools.search.pattern import BadPattern, GlobPattern, parse_glob
from kimi_tui.tools.search.walk import Found, Walk
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.tools.workspace import Located, Workspace
from kimi_tui.wire.events import ToolReturn

MAX_MATCHES = 1000
_NAMED_FOLDERS = 8


class GlobParams(ToolParams):
    """What to look for."""

    pattern: str = Field(description="Such as `**/*.py`, `src/*/index.{js,ts}`; relative to the directory.")
    directory: str | None = Field(None, description="Where to look; the work dir when left out.")
    include_dirs: bool = Field(True, description="Whether folders are given too.")


@dataclass(frozen=True, slots=True)
class _Search:
    walk: Walk
    matches: Sequence[Found]
    n_ignored: int
    """How many files that match were left out since git ignores them."""


class Glob(Tool[GlobParams]):
    """Finds files by name."""

    name = "Glob"
    Params = GlobParams

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def run(self, params: GlobParams, call: RunningCall) -> ToolReturn:
        """The paths that match, one a line."""
        try:
            pattern, start = self._aim(params)
        except FileProblem as problem:
            return failed(str(problem), brief=problem.what)
        walk = Walk(start.path, pattern.max_depth)
        try:
            search = await asyncio.to_thread(_search, walk, pattern, params.include_dirs)
        finally:
            walk.stop.set()
        return self._result(params, search)

    def _aim(self, params: GlobParams) -> tuple[GlobPattern, Located]:
        directory = self._workspace.locate(params.directory or ".")
        try:
            pattern = parse_glob(params.pattern, lambda path: os.path.isdir(directory.path / path))  # noqa: PTH112
        except BadPattern as error:
            raise FileProblem(
                f"The pattern {params.pattern} can't be understood: {error}.", hint="Correct it."
            ) from error
        start = self._workspace.locate(str(directory.path / pattern.prefix)) if pattern.prefix else directory
        try:
            with os.scandir(start.path):
                return pattern, start
        except OSError as error:
            raise file_problem(start, error) from error

    def _result(self, params: GlobParams, search: _Search) -> ToolReturn:
        matches = search.matches[:MAX_MATCHES]
        lines = [self._workspace.shown(found.path) + "/" * found.is_folder for found in matches]
        if len(search.matches) > MAX_MATCHES:
            found = f"the first {MAX_MATCHES:,} matches; there are more: narrow the pattern"
        else:
            found = f"{len(lines)} {'match' if len(lines) == 1 else 'matches'}"
        notes = self._notes(params, search)
        message = " ".join((f"{found[0].upper()}{found[1:]}.", *notes))
        return ok("".join(f"{line}\n" for line in lines), message=message, brief=found.partition(";")[0])

    def _notes(self, params: GlobParams, search: _Search) -> list[str]:
        walk, notes = search.walk, []
        if not search.matches and walk.max_depth == 1 and "/" not in params.pattern:
            notes.append(f"Only the folder itself was looked at: `**/{params.pattern}` looks below it too.")
        if walk.left_out:
            shown = [self._workspace.shown(Path(walk.start, name)) for name in walk.left_out]
            more = " ..." if len(shown) > _NAMED_FOLDERS else ""
            notes.append(
                f"Not looked into, since git ignores them or a program made them: "
                f"{', '.join(shown[:_NAMED_FOLDERS])}{more}. Give one as directory to look there."
            )
        if search.n_ignored:
            notes.append(f"{search.n_ignored} more are left out since git ignores them.")
        if walk.unreadable:
            notes.append(f"Folders that could not be read: {len(walk.unreadable)}.")
        if walk.is_cut_short:
            notes.append(f"The search was stopped after {walk.seconds:.0f} seconds: begin deeper.")
        return notes


def _search(walk: Walk, pattern: GlobPattern, include_folders: bool) -> _Search:
    n_ignored = 0
    matches = []
    for found in walk:
        if (found.is_folder and not include_folders) or not pattern.regex.match(found.relative):
            continue
        if found.is_ignored and not found.is_folder:
            n_ignored += 1
            continue
        matches.append(found)
        if len(matches) > MAX_MATCHES:
            break
    return _Search(walk, matches, n_ignored)
