"""Grep: what files hold, by a regular expression."""

import asyncio
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.resolved_path import open_resolved
from kimi_tui.base.secret_paths import SECRET_NAMES, is_private
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.file.document import has_surrogates
from kimi_tui.tools.file.regular import file_problem, open_regular, require_regular
from kimi_tui.tools.file.secrets import consent_to_read
from kimi_tui.tools.search.engine import (
    Answer,
    fallback_command,
    ripgrep_command,
    ripgrep_programs,
    search,
)
from kimi_tui.tools.search.matches import paths_in
from kimi_tui.tools.search.query import OutputMode, Query
from kimi_tui.tools.search.report import Presentation, counted, findings, page
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed
from kimi_tui.tools.workspace import Located, Workspace
from kimi_tui.wire.events import ToolReturn

_NAMED_FILES = 5
_SYSTEM_ERROR = re.compile(r"\(os error \d+\)")
_NEEDS_PYTHON = re.compile(r"look-around|backreference|unrecognized escape")
_GLOBS = re.compile(r"(?:\{[^}]*\}|[^\s,])+")
_WILDCARD = re.compile(r"[*?\[{]")


def _own_mode(value: object) -> object:
    """kimi-cli calls one of the modes otherwise, and so do models that were trained with it."""
    return "count" if value == "count_matches" else value


class GrepParams(ToolParams):
    """What to search for."""

    pattern: str = Field(description="A regular expression.")
    path: str = Field(".", description="The file or folder to search; the work dir when left out.")
    glob: str | None = Field(
        None, description="Only files that match, such as `*.py` or `src/**/*.{ts,tsx}`."
    )
    file_type: str | None = Field(None, alias="type", description="Only files of this type, such as `py`.")
    output_mode: Annotated[OutputMode, BeforeValidator(_own_mode)] = Field(
        "files_with_matches", description="The names of files, the lines, or how many matches each file has."
    )
    before: int = Field(0, alias="-B", ge=0, description="Lines to show before each match (content).")
    after: int = Field(0, alias="-A", ge=0, description="Lines to show after each match (content).")
    around: int = Field(
        0, alias="-C", ge=0, description="Lines to show before and after each match (content)."
    )
    line_numbers: bool = Field(True, alias="-n", description="Show line numbers (content).")
    ignore_case: bool = Field(False, alias="-i", description="Ignore case.")
    multiline: bool = Field(
        False, description="Let the pattern match over several lines; `.` matches newlines."
    )
    head_limit: int = Field(250, ge=0, description="How many entries or lines to give; 0 for all.")
    offset: int = Field(0, ge=0, description="How many to pass over first.")


class Grep(Tool[GrepParams]):
    """Searches in files. What holds secrets is left out, unless the user allows it by name."""

    name = "Grep"
    Params = GrepParams

    def __init__(
        self,
        workspace: Workspace,
        approval: Approval,
        *,
        programs: Callable[[], Iterable[str]] = ripgrep_programs,
        seconds: float = 30.0,
    ) -> None:
        self._workspace = workspace
        self._approval = approval
        self._programs = programs
        self._seconds = seconds

    async def run(self, params: GrepParams, call: RunningCall) -> ToolReturn:
        """The entries that were asked for."""
        try:
            place = self._workspace.locate(params.path)
            query = _query(params, place)
            if query.file:
                await consent_to_read(place, call, self._approval)
            with _opened(place, query) as searched:
                answer, hidden, notes = await self._answers(query, searched)
            _require_success(answer)
            withheld: set[str] = set()
            shown = self._presentation(params, place, query, withheld)
            found = await asyncio.to_thread(findings, query, answer, shown)
        except FileProblem as problem:
            return failed(str(problem), brief=problem.what)
        notes += self._notes(answer, place, hidden, sorted(withheld))
        if not found.entries and not query.file:
            notes.append("Files that git ignores are only searched when the path leads to them.")
        return page(found, offset=params.offset, limit=params.head_limit, notes=notes)

    def _presentation(
        self, params: GrepParams, place: Located, query: Query, withheld: set[str]
    ) -> Presentation:
        """A single file is shown by the name it was asked for, and whether it may be was settled before.

        What a rule keeps from being read is left out and put into `withheld`.
        """
        if query.file:
            return Presentation(
                name=lambda path: place.shown, may_show=lambda path: True, line_numbers=params.line_numbers
            )

        def may_show(path: str) -> bool:
            if is_private(Path(path)):
                return False
            if self._approval.may_read(Path(path)):
                return True
            withheld.add(path)
            return False

        return Presentation(
            name=lambda path: self._shown(path, place),
            may_show=cache(may_show),
            line_numbers=params.line_numbers,
        )

    def _shown(self, path: str, place: Located) -> str:
        """`path`, links resolved, as the one who named `place` knows it."""
        return self._workspace.shown(place.path / os.path.relpath(path, place.real))

    async def _answers(self, query: Query, searched: int) -> tuple[Answer, list[str], list[str]]:
        """The answer, the files that were left out since they hold secrets, and what to say of it."""
        secrets = Query(pattern="", folder=query.folder, mode="files", globs=SECRET_NAMES)
        async with asyncio.TaskGroup() as group:
            searching = group.create_task(self._ask(query, searched))
            listing = None if query.file else group.create_task(self._ask(secrets, searched))
        answer, notes = searching.result(), []
        if answer.status == 2 and _NEEDS_PYTHON.search(answer.errors):
            python = await search([fallback_command(query, searched)], seconds=self._seconds)
            if python.status != 2:
                answer = python
                notes.append("The pattern was understood as one of Python.")
        hidden = paths_in(listing.result().output, query.folder) if listing else []
        return answer, sorted(path for path in hidden if is_private(Path(path))), notes

    async def _ask(self, query: Query, searched: int) -> Answer:
        commands = [ripgrep_command(program, query, searched) for program in self._programs()]
        return await search([*commands, fallback_command(query, searched)], seconds=self._seconds)

    def _notes(
        self, answer: Answer, place: Located, hidden: Sequence[str], withheld: Sequence[str]
    ) -> list[str]:
        notes = []
        if answer.end != "whole":
            why = f"took over {self._seconds:g} s" if answer.end == "time" else "found too much"
            notes.append(f"The search {why} and was stopped, so this is not all: narrow it.")
        if hidden:
            notes.append(f"Not searched, since they may hold secrets: {self._named(hidden, place)}.")
        if withheld:
            why = "Matches are left out, since the user's permissions keep these from being searched"
            notes.append(f"{why}: {self._named(withheld, place)}.")
        unread = [line for line in answer.errors.splitlines() if _SYSTEM_ERROR.search(line)]
        if unread:
            notes.append(f"{counted(len(unread), 'place')} could not be read, such as {unread[0]}.")
        return notes

    def _named(self, paths: Sequence[str], place: Located) -> str:
        names = ", ".join(self._shown(path, place) for path in paths[:_NAMED_FILES])
        more = f" and {len(paths) - _NAMED_FILES} more" if len(paths) > _NAMED_FILES else ""
        return f"{names}{more}"


def _require_searchable(place: Located) -> bool:
    """Whether `place` is a folder. Raises FileProblem when it is neither that nor a regular file."""
    try:
        info = place.real.stat()
    except OSError as error:
        raise file_problem(place, error) from error
    if stat.S_ISDIR(info.st_mode):
        return True
    require_regular(place, info.st_mode)
    return False


@contextmanager
def _opened(place: Located, query: Query) -> Iterator[int]:
    """A descriptor of what is searched, which stays that whatever becomes of its path. Raises FileProblem."""
    if query.file is not None:
        with open_regular(place) as stream:
            yield stream.fileno()
        return
    try:
        descriptor = open_resolved(place.real, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except OSError as error:
        raise file_problem(place, error) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _query(params: GrepParams, place: Located) -> Query:
    is_folder = _require_searchable(place)
    for text in (params.pattern, params.glob or "", params.file_type or ""):
        if "\x00" in text or has_surrogates(text):
            raise FileProblem("The pattern holds a NUL or half a character.", hint="Write \\x00 for a NUL.")
    return Query(
        pattern=params.pattern,
        folder=str(place.real if is_folder else place.real.parent),
        file=None if is_folder else place.real.name,
        globs=_globs(params.glob or ""),
        file_type=params.file_type,
        mode=params.output_mode,
        before=params.before or params.around,
        after=params.after or params.around,
        ignores_case=params.ignore_case,
        is_multiline=params.multiline,
    )


def _globs(text: str) -> tuple[str, ...]:
    """One pattern; or several, as models write them, with spaces or commas between."""
    parts = tuple(_GLOBS.findall(text))
    return parts if all(_WILDCARD.search(part) for part in parts) else (text,)


def _require_success(answer: Answer) -> None:
    """Raises FileProblem when the search itself was wrong; places that can't be read are no reason."""
    if answer.status != 2 or answer.output or _SYSTEM_ERROR.search(answer.errors):
        return
    said = answer.errors.strip().removeprefix("rg: ")
    hint = "Correct the arguments."
    if "regex" in said:
        hint = "Correct the pattern; a special character stands for itself after a backslash."
    if "multiline" in said:
        hint = "Set multiline to match over several lines."
    raise FileProblem(f"The search could not be made: {said}.", hint=hint)
