"""ReadFile: lines of a text file, numbered."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import count
from typing import BinaryIO

from pydantic import Field

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.file.editor import NO_EDITOR, Editor, unsaved_content
from kimi_tui.tools.file.encoding import SNIFFED, encoding_of, how_to_read
from kimi_tui.tools.file.ledger import FileLedger, FileVersion
from kimi_tui.tools.file.lines import (
    Limits,
    Line,
    offset_of_line,
    offset_of_tail,
    read_lines,
    survey,
)
from kimi_tui.tools.file.regular import file_problem, open_regular
from kimi_tui.tools.file.secrets import consent_to_read
from kimi_tui.tools.file.size import readable_size
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.tools.workspace import Located, Workspace
from kimi_tui.wire.events import ToolReturn

_DEFAULTS = Limits()


class ReadFileParams(ToolParams):
    """What to read."""

    path: str = Field(description="The file: relative to the work dir, or absolute.")
    line_offset: int = Field(
        1, description="The line to begin with, from 1. Negative: that many lines before the end."
    )
    n_lines: int = Field(_DEFAULTS.lines, ge=1, description=f"How many lines, at most {_DEFAULTS.lines}.")


@dataclass(frozen=True, slots=True)
class _Excerpt:
    lines: Sequence[Line]
    first: int
    """Number of the first line; negative when it counts from the end, since the total is unknown."""
    total: int | None
    version: FileVersion
    is_full: bool
    """Whether the output limit ended it."""
    goes_on: bool
    """Whether lines follow."""


class ReadFile(Tool[ReadFileParams]):
    """Reads text files. Those that hold secrets only when the user allows it."""

    name = "ReadFile"
    Params = ReadFileParams

    def __init__(
        self,
        workspace: Workspace,
        ledger: FileLedger,
        approval: Approval,
        editor: Editor = NO_EDITOR,
        *,
        limits: Limits = _DEFAULTS,
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._approval = approval
        self._editor = editor
        self._limits = limits

    async def run(self, params: ReadFileParams, call: RunningCall) -> ToolReturn:
        """The lines asked for; the message says which of how many."""
        try:
            file = self._workspace.locate(params.path)
            await consent_to_read(file, call, self._approval)
            unsaved = await unsaved_content(file, self._editor)
            excerpt = await asyncio.to_thread(self._read, file, params, unsaved)
        except FileProblem as problem:
            return failed(str(problem), brief=problem.what)
        self._ledger.saw(file.real, excerpt.version)
        return _result(file, excerpt)

    def _read(self, file: Located, params: ReadFileParams, unsaved: bytes | None) -> _Excerpt:
        with open_regular(file) as stream:
            try:
                info = os.fstat(stream.fileno())
                if unsaved is not None:
                    return self._excerpt(file, BytesIO(unsaved), len(unsaved), info.st_mtime_ns, params)
                return self._excerpt(file, stream, info.st_size, info.st_mtime_ns, params)
            except OSError as error:
                raise file_problem(file, error) from error

    def _excerpt(
        self, file: Located, stream: BinaryIO, size: int, mtime_ns: int, params: ReadFileParams
    ) -> _Excerpt:
        limits = self._limits
        encoding = encoding_of(stream.read(SNIFFED))
        if not encoding.is_utf8:
            raise FileProblem(
                f"{file.shown} is {encoding.label}, which can't be read as it is.",
                hint=how_to_read(encoding, file.shown),
            )
        surveyed = survey(stream, limits)
        version = FileVersion(size, mtime_ns, surveyed.digest if surveyed else None)
        wanted = min(params.n_lines, limits.lines)
        total = surveyed.lines if surveyed else None
        first = self._seek(file, stream, params.line_offset, total=total, size=size)
        lines, is_full = _fill(stream, wanted, first, limits)
        goes_on = is_full or bool(stream.read(1))
        return _Excerpt(lines, first, total, version, is_full, goes_on)

    def _seek(self, file: Located, stream: BinaryIO, line: int, *, total: int | None, size: int) -> int:
        """Go to `line`. The number of the line that is really there."""
        if line < 0 and total is None:
            offset, n_lines = offset_of_tail(stream, size, -line, self._limits)
            stream.seek(offset)
            return -n_lines
        first = max(1, line if line >= 0 or total is None else total + line + 1)
        if total is not None and first > max(1, total):
            raise FileProblem(
                f"{file.shown} has {_n_lines(total)}; there is no line {first}.",
                hint="Begin with an earlier one.",
            )
        place = offset_of_line(stream, first, self._limits)
        if place is None:
            raise FileProblem(
                f"Line {first} of {file.shown} lies too deep in its {readable_size(size)} to be looked for.",
                hint="Count from the end with a negative line_offset, or cut lines out with a shell command.",
            )
        stream.seek(place)
        return first


def _fill(stream: BinaryIO, wanted: int, first: int, limits: Limits) -> tuple[list[Line], bool]:
    lines: list[Line] = []
    room = limits.output_bytes
    for number, line in zip(count(first), read_lines(stream, wanted, limits), strict=False):
        room -= len(_numbered(number, line).encode())
        if room < 0:
            return lines, True
        lines.append(line)
    return lines, False


def _result(file: Located, excerpt: _Excerpt) -> ToolReturn:
    if not excerpt.lines:
        return ok(message=f"{file.shown} is empty.", brief="empty")
    first, last = excerpt.first, excerpt.first + len(excerpt.lines) - 1
    output = "".join(map(_numbered, range(first, last + 1), excerpt.lines))
    what = _range(first, last, excerpt)
    notes = " ".join(_notes(excerpt, last))
    return ok(output, message=f"{file.shown}: {what}. {notes}".strip(), brief=what)


def _numbered(number: int, line: Line) -> str:
    text = line.text.removeprefix("\ufeff") if number == 1 else line.text
    cut = f"… [cut; the line has {line.cut_from:,} bytes]" if line.cut_from else ""
    return f"{number:6}\t{text}{cut}\n"


def _range(first: int, last: int, excerpt: _Excerpt) -> str:
    whole = f"a file of {readable_size(excerpt.version.size)}"
    if first < 0:
        return f"lines {first} to {last}, counted from the end, of {whole}"
    of = whole if excerpt.total is None else str(excerpt.total)
    return f"line {first} of {of}" if first == last else f"lines {first}–{last} of {of}"


def _notes(excerpt: _Excerpt, last: int) -> list[str]:
    notes = []
    if excerpt.is_full:
        notes.append(f"The output limit ended it; go on with line_offset={last + 1}.")
    elif excerpt.goes_on and excerpt.first > 0:
        notes.append(f"The file goes on with line {last + 1}.")
    if any(line.is_damaged for line in excerpt.lines):
        notes.append("Bytes that are not UTF-8 are shown as U+FFFD; an edit keeps them.")
    crlf = sum(line.has_crlf for line in excerpt.lines)
    if crlf:
        kinds = "CRLF" if crlf >= len(excerpt.lines) - 1 else "both CRLF and LF"
        notes.append(f"Line endings: {kinds}; edits keep them, write \\n alone.")
    return notes


def _n_lines(total: int) -> str:
    return "1 line" if total == 1 else f"{total} lines"
