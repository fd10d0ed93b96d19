"""ReadFile: reads numbered lines of a text file."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import count
from typing import BinaryIO

from pydantic import Field

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.message_text import msg
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.file.client_editor import NO_EDITOR, Editor, read_unsaved
from kimi_tui.tools.file.encoding import SNIFF_BYTES, detect_encoding, read_hint
from kimi_tui.tools.file.line_reader import (
    NumberedLine,
    ReadLimits,
    build_line_index,
    offset_of_line,
    offset_of_tail,
    read_lines,
)
from kimi_tui.tools.file.read_tracker import FileTracker, FileVersion
from kimi_tui.tools.file.regular_file import open_regular, to_file_problem
from kimi_tui.tools.file.secret_consent import require_read_consent
from kimi_tui.tools.path_scope import LocatedPath, PathScope
from kimi_tui.tools.result_messages import format_size
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.wire.events import ToolReturn

_DEFAULT_LIMITS = ReadLimits()


class ReadFileParams(ToolParams):
    """Parameters of ReadFile."""

    path: str = Field(description="The file: relative to the working directory, or absolute.")
    line_offset: int = Field(1, description="The first line to read, from 1. Negative: counted from the end.")
    n_lines: int = Field(
        _DEFAULT_LIMITS.lines, ge=1, description=f"Number of lines, at most {_DEFAULT_LIMITS.lines}."
    )


@dataclass(frozen=True, slots=True)
class _Excerpt:
    lines: Sequence[NumberedLine]
    first: int
    """Number of the first line; negative if it counts from the end because the total is unknown."""
    total: int | None
    version: FileVersion
    hit_output_limit: bool
    """Whether the output limit was reached."""
    has_more: bool
    """Whether more lines follow."""


class ReadFile(Tool[ReadFileParams]):
    """Reads text files. Those that may hold secrets need the user's approval."""

    name = "ReadFile"
    Params = ReadFileParams

    def __init__(
        self,
        path_scope: PathScope,
        tracker: FileTracker,
        approval: Approval,
        editor: Editor = NO_EDITOR,
        *,
        limits: ReadLimits = _DEFAULT_LIMITS,
    ) -> None:
        self._path_scope = path_scope
        self._tracker = tracker
        self._approval = approval
        self._editor = editor
        self._limits = limits

    async def run(self, params: ReadFileParams, call: CallContext) -> ToolReturn:
        """Return the requested lines, with a message about which lines they are."""
        try:
            file = self._path_scope.locate(params.path)
            await require_read_consent(file, call, self._approval)
            unsaved = await read_unsaved(file, self._editor)
            excerpt = await asyncio.to_thread(self._read, file, params, unsaved)
        except FileProblem as problem:
            return failure(str(problem), brief=problem.what)
        self._tracker.mark_read(file.real, excerpt.version)
        return _build_result(file, excerpt)

    def _read(self, file: LocatedPath, params: ReadFileParams, unsaved: bytes | None) -> _Excerpt:
        with open_regular(file) as stream:
            try:
                info = os.fstat(stream.fileno())
                if unsaved is not None:
                    return self._read_excerpt(file, BytesIO(unsaved), len(unsaved), info.st_mtime_ns, params)
                return self._read_excerpt(file, stream, info.st_size, info.st_mtime_ns, params)
            except OSError as error:
                raise to_file_problem(file, error) from error

    def _read_excerpt(
        self, file: LocatedPath, stream: BinaryIO, size: int, mtime_ns: int, params: ReadFileParams
    ) -> _Excerpt:
        limits = self._limits
        encoding = detect_encoding(stream.read(SNIFF_BYTES))
        if not encoding.is_utf8:
            raise FileProblem(
                f"{file.display_path} is {encoding.label}, which can't be read directly.",
                hint=read_hint(encoding, file.display_path),
            )
        index = build_line_index(stream, limits)
        version = FileVersion(size, mtime_ns, index.digest if index else None)
        max_lines = min(params.n_lines, limits.lines)
        total = index.lines if index else None
        first = self._seek_to_line(file, stream, params.line_offset, total=total, size=size)
        lines, is_full = _read_until_full(stream, max_lines, first, limits)
        has_more = is_full or bool(stream.read(1))
        return _Excerpt(lines, first, total, version, is_full, has_more)

    def _seek_to_line(
        self, file: LocatedPath, stream: BinaryIO, line: int, *, total: int | None, size: int
    ) -> int:
        """Move `stream` to `line`. Return the number of the line found there."""
        if line < 0 and total is None:
            tail_offset, n_lines = offset_of_tail(stream, size, -line, self._limits)
            stream.seek(tail_offset)
            return -n_lines
        first = max(1, line if line >= 0 or total is None else total + line + 1)
        if total is not None and first > max(1, total):
            raise FileProblem(
                f"{file.display_path} has {_format_line_count(total)}; there is no line {first}.",
                hint="Start at an earlier line.",
            )
        offset = offset_of_line(stream, first, self._limits)
        if offset is None:
            raise FileProblem(
                f"Line {first} is too far from the beginning of {file.display_path} ({format_size(size)}).",
                hint="Count from the end with a negative line_offset, or extract lines with a shell command.",
            )
        stream.seek(offset)
        return first


def _read_until_full(
    stream: BinaryIO, max_lines: int, first: int, limits: ReadLimits
) -> tuple[list[NumberedLine], bool]:
    lines: list[NumberedLine] = []
    remaining = limits.output_bytes
    for number, line in zip(count(first), read_lines(stream, max_lines, limits), strict=False):
        remaining -= len(_format_line(number, line).encode())
        if remaining < 0:
            return lines, True
        lines.append(line)
    return lines, False


def _build_result(file: LocatedPath, excerpt: _Excerpt) -> ToolReturn:
    if not excerpt.lines:
        return success(message=f"{file.display_path} is empty.", brief="empty")
    first, last = excerpt.first, excerpt.first + len(excerpt.lines) - 1
    output = "".join(map(_format_line, range(first, last + 1), excerpt.lines))
    line_range = _format_range(first, last, excerpt)
    notes = " ".join(_build_notes(excerpt, last))
    return success(output, message=f"{file.display_path}: {line_range}. {notes}".strip(), brief=line_range)


def _format_line(number: int, line: NumberedLine) -> str:
    text = line.text.removeprefix("\ufeff") if number == 1 else line.text
    cut = f"… [cut; the line has {line.full_bytes:,} bytes]" if line.full_bytes else ""
    return f"{number:6}\t{text}{cut}\n"


def _format_range(first: int, last: int, excerpt: _Excerpt) -> str:
    whole = f"a file of {format_size(excerpt.version.size)}"
    if first < 0:
        return f"lines {first} to {last}, counted from the end, of {whole}"
    of = whole if excerpt.total is None else str(excerpt.total)
    return f"line {first} of {of}" if first == last else f"lines {first}–{last} of {of}"


def _build_notes(excerpt: _Excerpt, last: int) -> list[str]:
    notes = []
    if excerpt.hit_output_limit:
        notes.append(f"The output limit was reached; continue with line_offset={last + 1}.")
    elif excerpt.has_more and excerpt.first > 0:
        notes.append(f"The file continues with line {last + 1}.")
    if any(line.is_damaged for line in excerpt.lines):
        notes.append("Bytes that are not UTF-8 are shown as U+FFFD; edits keep them.")
    crlf = sum(line.has_crlf for line in excerpt.lines)
    if crlf:
        kinds = "CRLF" if crlf >= len(excerpt.lines) - 1 else "both CRLF and LF"
        notes.append(f"Line endings: {kinds}; edits keep them, so write only \\n.")
    return notes


def _format_line_count(total: int) -> str:
    return "1 line" if total == 1 else msg("{count} lines", count=total)
