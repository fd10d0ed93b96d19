"""A page of search results, as the model reads it."""

import os
from collections.abc import Sequence
from typing import Protocol, assert_never

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg_n
from kimi_tui.tools.search.output_parser import MatchedLine, parse_counts, parse_lines, parse_paths
from kimi_tui.tools.search.programs import SearchOutput
from kimi_tui.tools.search.query import Query
from kimi_tui.tools.tool import success
from kimi_tui.wire.events import ToolReturn

_MAX_OUTPUT_CHARS = 100_000


Entry = str | tuple[str, int] | MatchedLine | None
"""A path, a path with the number of matches in it, a line, or None for a gap between lines."""


class ResultFiles(Protocol):
    """The files that a search may find."""

    def format_path(self, path: str) -> str:
        """Return the path of a file as it is shown."""
        ...

    def may_show(self, path: str) -> bool:
        """Return whether a file may be shown."""
        ...


@frozen
class ResultFormat:
    """How results are shown, and which files may be shown."""

    files: ResultFiles
    line_numbers: bool = True

    def format_entry(self, entry: Entry) -> str:
        """Return the output line of an entry; lines are in grep's format."""
        match entry:
            case None:
                return "--"
            case str(path):
                return self.files.format_path(path)
            case MatchedLine():
                mark = ":" if entry.is_match else "-"
                number = f"{entry.number}{mark}" if self.line_numbers else ""
                return f"{self.files.format_path(entry.path)}{mark}{number}{entry.text}"
            case (path, count):
                return f"{self.files.format_path(path)}:{count}"
            case _:
                assert_never(entry)


@frozen
class SearchResults:
    """Ordered results of a search."""

    entries: Sequence[Entry]
    format: ResultFormat
    summary: str


def parse_results(query: Query, output: SearchOutput, result_format: ResultFormat) -> SearchResults:
    """Parse `output`: newest files first for lists of files, otherwise sorted by path."""
    may_show = result_format.files.may_show
    match query.mode:
        case "files" | "files_with_matches":
            paths = sorted(filter(may_show, parse_paths(output.output, query.folder)))
            paths.sort(key=_mtime_ns, reverse=True)
            return SearchResults(paths, result_format, _count_files(len(paths)))
        case "count":
            counts = sorted(pair for pair in parse_counts(output.output, query.folder) if may_show(pair[0]))
            total = sum(count for _, count in counts)
            summary = msg_n(
                "{count:,} match in {files}",
                "{count:,} matches in {files}",
                total,
                files=_count_files(len(counts)),
            )
            return SearchResults(counts, result_format, summary)
        case "content":
            lines = [line for line in parse_lines(output.output, query.folder) if may_show(line.path)]
            lines.sort(key=lambda line: line.path)
            n_matches = sum(line.is_match for line in lines)
            entries = _insert_gaps(lines) if query.before or query.after else lines
            summary = msg_n("{count:,} matching line", "{count:,} matching lines", n_matches)
            return SearchResults(entries, result_format, summary)


def _insert_gaps(lines: Sequence[MatchedLine]) -> list[MatchedLine | None]:
    """Return `lines` with None where lines are missing in between."""
    result: list[MatchedLine | None] = []
    for line in lines:
        last = result[-1] if result else None
        if last and (last.path, last.number + 1) != (line.path, line.number):
            result.append(None)
        result.append(line)
    return result


def build_page(results: SearchResults, *, offset: int, limit: int, notes: Sequence[str]) -> ToolReturn:
    """Return `limit` entries (0 for all) after the first `offset`, as a tool result."""
    total = len(results.entries)
    if not total:
        return success(message=" ".join(("No matches.", *notes)), brief="no matches")
    entries = results.entries[offset : offset + limit if limit else total]
    output = "".join(f"{results.format.format_entry(entry)}\n" for entry in entries)
    is_cut = len(output) > _MAX_OUTPUT_CHARS
    if is_cut:
        output = output[: output.rfind("\n", 0, _MAX_OUTPUT_CHARS) + 1]
    position = _format_position(offset, offset + output.count("\n"), total)
    reason = ("The output limit was reached.",) if is_cut else ()
    message = " ".join(filter(None, (f"{results.summary}.", *reason, position, *notes)))
    return success(output, message=message, brief=results.summary)


def _format_position(first: int, end: int, total: int) -> str:
    if first >= total:
        return f"offset={first} is beyond the last of {total} entries."
    if first == 0 and end >= total:
        return ""
    rest = f"; continue with offset={end}" if end < total else ""
    return f"Entries {first + 1} to {end} of {total}{rest}."


def _count_files(count: int) -> str:
    return msg_n("{count:,} file", "{count:,} files", count)


def _mtime_ns(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0
