"""Grep: searches file contents with a regular expression."""

import asyncio
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.no_follow import open_no_follow
from kimi_tui.base.secret_paths import SECRET_NAMES, is_private
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.file.regular_file import open_regular, require_regular, to_file_problem
from kimi_tui.tools.file.secret_consent import require_folder_consent, require_read_consent
from kimi_tui.tools.file.text_document import has_surrogates
from kimi_tui.tools.path_scope import LocatedPath, PathScope
from kimi_tui.tools.search.output_parser import parse_paths
from kimi_tui.tools.search.programs import (
    Ripgrep,
    SearchOutput,
    build_fallback_command,
    build_ripgrep_command,
    run_search,
)
from kimi_tui.tools.search.query import OutputMode, Query
from kimi_tui.tools.search.results_page import ResultFormat, build_page, parse_results
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure
from kimi_tui.wire.events import ToolReturn

_MAX_NAMED_FILES = 5
_SYSTEM_ERROR = re.compile(r"\(os error \d+\)")
_NEEDS_PYTHON = re.compile(r"look-around|backreference|unrecognized escape")
_GLOBS = re.compile(r"(?:\{[^}]*\}|[^\s,])+")
_WILDCARD = re.compile(r"[*?\[{]")


def _normalize_mode(value: object) -> object:
    """Accept kimi-cli's name of a mode, which models trained with it use."""
    return "count" if value == "count_matches" else value


class GrepParams(ToolParams):
    """Parameters of Grep."""

    pattern: str = Field(description="A regular expression.")
    path: str = Field(".", description="The file or directory to search. Default: the working directory.")
    glob: str | None = Field(
        None, description="Only search files that match, such as `*.py` or `src/**/*.{ts,tsx}`."
    )
    file_type: str | None = Field(
        None, alias="type", description="Only search files of this type, such as `py`."
    )
    output_mode: Annotated[OutputMode, BeforeValidator(_normalize_mode)] = Field(
        "files_with_matches", description="The names of files, the lines, or how many matches each file has."
    )
    before: int = Field(0, alias="-B", ge=0, description="Lines to show before each match (content).")
    after: int = Field(0, alias="-A", ge=0, description="Lines to show after each match (content).")
    around: int = Field(
        0, alias="-C", ge=0, description="Lines to show before and after each match (content)."
    )
    line_numbers: bool = Field(True, alias="-n", description="Show line numbers (content).")
    ignore_case: bool = Field(False, alias="-i", description="Ignore case.")
    multiline: bool = Field(False, description="Let the pattern match across lines; `.` matches newlines.")
    head_limit: int = Field(250, ge=0, description="How many entries or lines to return; 0 for all.")
    offset: int = Field(0, ge=0, description="How many entries or lines to skip first.")


class Grep(Tool[GrepParams]):
    """Searches in files. Files that may hold secrets are only searched if named and approved by the user."""

    name = "Grep"
    Params = GrepParams

    def __init__(
        self,
        path_scope: PathScope,
        approval: Approval,
        *,
        ripgrep: Ripgrep = Ripgrep(),
        seconds: float = 30.0,
    ) -> None:
        self._path_scope = path_scope
        self._approval = approval
        self._ripgrep = ripgrep
        self._seconds = seconds

    async def run(self, params: GrepParams, call: CallContext) -> ToolReturn:
        """Return the requested page of matches."""
        try:
            target = self._path_scope.locate(params.path)
            query = _build_query(params, target)
            if query.file:
                await require_read_consent(target, call, self._approval)
            else:
                await require_folder_consent(target, call, self._approval)
            with _open_target(target, query) as descriptor:
                output, hidden, notes = await self._search(query, descriptor)
            _require_success(output)
            folder_files = _FolderFiles(self._path_scope, self._approval, target)
            result_format = ResultFormat(
                _NamedFile(target) if query.file else folder_files, params.line_numbers
            )
            results = await asyncio.to_thread(parse_results, query, output, result_format)
        except FileProblem as problem:
            return failure(str(problem), brief=problem.what)
        notes += self._build_notes(output, folder_files, hidden)
        if not results.entries and not query.file:
            notes.append("Files ignored by git are only searched if `path` points to them.")
        return build_page(results, offset=params.offset, limit=params.head_limit, notes=notes)

    async def _search(self, query: Query, descriptor: int) -> tuple[SearchOutput, list[str], list[str]]:
        """Return the output, the files left out because they may hold secrets, and notes for the model."""
        secrets = Query(pattern="", folder=query.folder, mode="files", globs=SECRET_NAMES, root=query.root)
        async with asyncio.TaskGroup() as group:
            search_task = group.create_task(self._run_query(query, descriptor))
            secrets_task = None if query.file else group.create_task(self._run_query(secrets, descriptor))
        output, notes = search_task.result(), []
        if output.status == 2 and _NEEDS_PYTHON.search(output.errors):
            python_output = await run_search(
                [build_fallback_command(query, descriptor)], seconds=self._seconds
            )
            if python_output.status != 2:
                output = python_output
                notes.append("The pattern was interpreted as a Python regular expression.")
        hidden = parse_paths(secrets_task.result().output, query.folder) if secrets_task else []
        return output, sorted(path for path in hidden if is_private(Path(path))), notes

    async def _run_query(self, query: Query, descriptor: int) -> SearchOutput:
        commands = [build_ripgrep_command(program, query, descriptor) for program in self._ripgrep.paths()]
        return await run_search([*commands, build_fallback_command(query, descriptor)], seconds=self._seconds)

    def _build_notes(self, output: SearchOutput, files: "_FolderFiles", hidden: Sequence[str]) -> list[str]:
        notes = []
        if output.end != "whole":
            reason = f"took over {self._seconds:g} s" if output.end == "time" else "found too much"
            notes.append(
                f"The search {reason} and was stopped, so the results are incomplete: narrow the search."
            )
        if hidden:
            notes.append(f"Not searched because they may hold secrets: {files.format_paths(hidden)}.")
        if files.denied:
            paths = files.format_paths(files.denied)
            notes.append(f"Left out because the user's permissions don't allow reading them: {paths}.")
        errors = [line for line in output.errors.splitlines() if _SYSTEM_ERROR.search(line)]
        if errors:
            unreadable = "1 path" if len(errors) == 1 else f"{len(errors):,} paths"
            notes.append(f"{unreadable} could not be read, such as {errors[0]}.")
        return notes


class _NamedFile:
    """The file that the model named, shown under that name. Consent for it was checked before."""

    def __init__(self, target: LocatedPath) -> None:
        self._target = target

    def format_path(self, path: str) -> str:
        return self._target.display_path

    def may_show(self, path: str) -> bool:
        return True


class _FolderFiles:
    """The files in the directory that the model named, without those that a rule keeps from being read."""

    def __init__(self, path_scope: PathScope, approval: Approval, target: LocatedPath) -> None:
        self._path_scope = path_scope
        self._approval = approval
        self._target = target
        self._may_show: dict[str, bool] = {}

    @property
    def denied(self) -> list[str]:
        """The files that matched but a rule keeps from being read."""
        return sorted(path for path, shown in self._may_show.items() if not shown)

    def format_path(self, path: str) -> str:
        """Return `path` (links resolved) relative to the directory as the model named it."""
        return self._path_scope.display_path(self._target.path / os.path.relpath(path, self._target.real))

    def may_show(self, path: str) -> bool:
        if is_private(Path(path)) or not self._path_scope.may_read(Path(path)):
            return False
        if path not in self._may_show:
            self._may_show[path] = self._approval.may_read(Path(path), within=self._target.real)
        return self._may_show[path]

    def format_paths(self, paths: Sequence[str]) -> str:
        """Return the first few of `paths`, and how many more there are."""
        names = ", ".join(map(self.format_path, paths[:_MAX_NAMED_FILES]))
        more = f" and {len(paths) - _MAX_NAMED_FILES} more" if len(paths) > _MAX_NAMED_FILES else ""
        return f"{names}{more}"


def _require_searchable(target: LocatedPath) -> bool:
    """Return whether `target` is a directory. Raises FileProblem if it is neither that nor a regular file."""
    try:
        info = target.host_path.stat()
    except OSError as error:
        raise to_file_problem(target, error) from error
    if stat.S_ISDIR(info.st_mode):
        return True
    require_regular(target, info.st_mode)
    return False


@contextmanager
def _open_target(target: LocatedPath, query: Query) -> Iterator[int]:
    """Open the search target, so that later changes of its path have no effect. Raises FileProblem."""
    if query.file is not None:
        with open_regular(target) as stream:
            yield stream.fileno()
        return
    try:
        descriptor = open_no_follow(
            target.real, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0), root=target.root
        )
    except OSError as error:
        raise to_file_problem(target, error) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _build_query(params: GrepParams, target: LocatedPath) -> Query:
    is_folder = _require_searchable(target)
    for text in (params.pattern, params.glob or "", params.file_type or ""):
        if "\x00" in text or has_surrogates(text):
            raise FileProblem(
                "The pattern contains a NUL character or half of a surrogate pair.",
                hint="Write \\x00 for NUL.",
            )
    return Query(
        pattern=params.pattern,
        folder=str(target.real if is_folder else target.real.parent),
        file=None if is_folder else target.real.name,
        globs=_split_globs(params.glob or ""),
        file_type=params.file_type,
        mode=params.output_mode,
        before=params.before or params.around,
        after=params.after or params.around,
        ignores_case=params.ignore_case,
        is_multiline=params.multiline,
        root=target.root,
    )


def _split_globs(text: str) -> tuple[str, ...]:
    """Return one pattern, or several if models separate them with spaces or commas."""
    parts = tuple(_GLOBS.findall(text))
    return parts if all(_WILDCARD.search(part) for part in parts) else (text,)


def _require_success(output: SearchOutput) -> None:
    """Raises FileProblem if the query itself was invalid. Unreadable files are no reason."""
    if output.status != 2 or output.output or _SYSTEM_ERROR.search(output.errors):
        return
    errors = output.errors.strip().removeprefix("rg: ")
    hint = "Correct the arguments."
    if "regex" in errors:
        hint = "Correct the pattern. To match a special character literally, put a backslash before it."
    if "multiline" in errors:
        hint = "Set multiline to match across lines."
    raise FileProblem(f"The search failed: {errors}.", hint=hint)
