"""Glob: finds files and directories by a path pattern."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.message_text import msg_n
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.file.regular_file import to_file_problem
from kimi_tui.tools.file.secret_consent import require_folder_consent
from kimi_tui.tools.path_scope import LocatedPath, PathScope
from kimi_tui.tools.search.file_walk import DirectoryWalk, FoundFile
from kimi_tui.tools.search.glob_pattern import GlobPattern, InvalidPattern, parse_glob
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.wire.events import ToolReturn

MAX_MATCHES = 1000
_MAX_NAMED_FOLDERS = 8


class GlobParams(ToolParams):
    """Parameters of Glob."""

    pattern: str = Field(
        description="A pattern such as `**/*.py` or `src/*/index.{js,ts}`, relative to `directory`."
    )
    directory: str | None = Field(None, description="Where to search. Default: the working directory.")
    include_dirs: bool = Field(True, description="Whether to include directories.")


@dataclass(frozen=True, slots=True)
class _GlobResult:
    start: LocatedPath
    walk: DirectoryWalk
    matches: Sequence[FoundFile]
    n_ignored: int
    """How many matching files were left out because git ignores them."""


class Glob(Tool[GlobParams]):
    """Finds files by name."""

    name = "Glob"
    Params = GlobParams

    def __init__(self, path_scope: PathScope, approval: Approval) -> None:
        self._path_scope = path_scope
        self._approval = approval

    async def run(self, params: GlobParams, call: CallContext) -> ToolReturn:
        """Return the matching paths, one per line."""
        try:
            pattern, start = self._parse_pattern(params)
            await require_folder_consent(start, call, self._approval)
        except FileProblem as problem:
            return failure(str(problem), brief=problem.what)
        walk = DirectoryWalk(start.walk_start, pattern.max_depth)
        try:
            result = await asyncio.to_thread(self._find_matches, walk, pattern, start, params)
        finally:
            walk.stop.set()
        return self._build_result(params, result)

    def _parse_pattern(self, params: GlobParams) -> tuple[GlobPattern, LocatedPath]:
        directory = self._path_scope.locate(params.directory or ".")
        try:
            pattern = parse_glob(params.pattern, lambda path: os.path.isdir(directory.walk_start / path))  # noqa: PTH112
        except InvalidPattern as error:
            raise FileProblem(
                f"The pattern {params.pattern} is invalid: {error}.", hint="Correct it."
            ) from error
        start = self._path_scope.locate(str(directory.path / pattern.prefix)) if pattern.prefix else directory
        try:
            with os.scandir(start.walk_start):
                return pattern, start
        except OSError as error:
            raise to_file_problem(start, error) from error

    def _find_matches(
        self, walk: DirectoryWalk, pattern: GlobPattern, start: LocatedPath, params: GlobParams
    ) -> _GlobResult:
        n_ignored = 0
        matches = []
        for found in walk:
            if found.is_folder and not params.include_dirs:
                continue
            if not pattern.regex.match(found.relative):
                continue
            if not self._path_scope.may_read(start.real / found.relative):
                continue
            if found.is_ignored and not found.is_folder:
                n_ignored += 1
                continue
            matches.append(found)
            if len(matches) > MAX_MATCHES:
                break
        return _GlobResult(start, walk, matches, n_ignored)

    def _build_result(self, params: GlobParams, result: _GlobResult) -> ToolReturn:
        matches = result.matches[:MAX_MATCHES]
        display, start = self._path_scope.display_path, result.start.path
        lines = [display(start / found.relative) + "/" * found.is_folder for found in matches]
        if len(result.matches) > MAX_MATCHES:
            summary = f"the first {MAX_MATCHES:,} matches; there are more: narrow the pattern"
        else:
            summary = msg_n("{count} match", "{count} matches", len(lines))
        notes = self._build_notes(params, result)
        message = " ".join((f"{summary[0].upper()}{summary[1:]}.", *notes))
        return success(
            "".join(f"{line}\n" for line in lines), message=message, brief=summary.partition(";")[0]
        )

    def _build_notes(self, params: GlobParams, result: _GlobResult) -> list[str]:
        walk, notes = result.walk, []
        if not result.matches and walk.max_depth == 1 and "/" not in params.pattern:
            notes.append(
                f"Only the directory itself was searched: `**/{params.pattern}` also searches subdirectories."
            )
        if walk.skipped:
            paths = [self._path_scope.display_path(result.start.path / name) for name in walk.skipped]
            more = " ..." if len(paths) > _MAX_NAMED_FOLDERS else ""
            notes.append(
                f"Not searched, because they are ignored by git or generated: "
                f"{', '.join(paths[:_MAX_NAMED_FOLDERS])}{more}. To search one, pass it as `directory`."
            )
        if result.n_ignored:
            notes.append(f"Left out because git ignores them: {result.n_ignored} more.")
        if walk.unreadable:
            notes.append(f"Directories that could not be read: {len(walk.unreadable)}.")
        if walk.is_cut_short:
            notes.append(f"The search was stopped after {walk.seconds:.0f} seconds: start in a subdirectory.")
        return notes
