"""What a search found, as the model reads it: a page of lines, and the rest in words."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kimi_tui.tools.search.engine import Answer
from kimi_tui.tools.search.matches import MatchedLine, counts_in, lines_in, paths_in
from kimi_tui.tools.search.query import Query
from kimi_tui.tools.tool import ok
from kimi_tui.wire.events import ToolReturn

_MAX_OUTPUT_CHARS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """How found files are shown, and which."""

    name: Callable[[str], str]
    may_show: Callable[[str], bool]
    line_numbers: bool = True

    def line(self, line: MatchedLine | None) -> str:
        """A line of a file as `grep` gives it; None is a gap."""
        if line is None:
            return "--"
        mark = ":" if line.is_match else "-"
        number = f"{line.number}{mark}" if self.line_numbers else ""
        return f"{self.name(line.path)}{mark}{number}{line.text}"


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found, in order."""

    entries: Sequence[object]
    line: Callable[[Any], str]
    """The line of output of an entry."""
    summary: str


def findings(query: Query, answer: Answer, presentation: Presentation) -> Findings:
    """What `answer` holds: files with the newest first, else in the order of their paths."""
    name, may_show = presentation.name, presentation.may_show
    match query.mode:
        case "files" | "files_with_matches":
            paths = sorted(filter(may_show, paths_in(answer.output, query.folder)))
            paths.sort(key=_mtime_ns, reverse=True)
            return Findings(paths, name, counted(len(paths), "file"))
        case "count":
            counts = sorted(pair for pair in counts_in(answer.output, query.folder) if may_show(pair[0]))
            total = sum(count for _, count in counts)
            summary = f"{counted(total, 'match')} in {counted(len(counts), 'file')}"
            return Findings(counts, lambda pair: f"{name(pair[0])}:{pair[1]}", summary)
        case "content":
            found = [line for line in lines_in(answer.output, query.folder) if may_show(line.path)]
            found.sort(key=lambda line: line.path)
            n_matches = sum(line.is_match for line in found)
            entries = _with_gaps(found) if query.before or query.after else found
            return Findings(entries, presentation.line, counted(n_matches, "matching line"))


def _with_gaps(found: Sequence[MatchedLine]) -> list[MatchedLine | None]:
    """`found` with None where lines are left out."""
    result: list[MatchedLine | None] = []
    for line in found:
        last = result[-1] if result else None
        if last and (last.path, last.number + 1) != (line.path, line.number):
            result.append(None)
        result.append(line)
    return result


def page(found: Findings, *, offset: int, limit: int, notes: Sequence[str]) -> ToolReturn:
    """At most `limit` lines of what was found, 0 for all, after the first `offset`."""
    total = len(found.entries)
    if not total:
        return ok(message=" ".join(("No match.", *notes)), brief="no match")
    entries = found.entries[offset : offset + limit if limit else total]
    output = "".join(f"{found.line(entry)}\n" for entry in entries)
    is_cut = len(output) > _MAX_OUTPUT_CHARS
    if is_cut:
        output = output[: output.rfind("\n", 0, _MAX_OUTPUT_CHARS) + 1]
    place = _place(offset, offset + output.count("\n"), total)
    reason = ("The output limit was reached.",) if is_cut else ()
    message = " ".join(filter(None, (f"{found.summary}.", *reason, place, *notes)))
    return ok(output, message=message, brief=found.summary)


def _place(first: int, end: int, total: int) -> str:
    if first >= total:
        return f"There are {total} entries; offset={first} is beyond them."
    if first == 0 and end >= total:
        return ""
    rest = f"; go on with offset={end}" if end < total else ""
    return f"These are {first + 1} to {end} of {total}{rest}."


def counted(number: int, noun: str) -> str:
    """Such as `1 file`, `12 matches`."""
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def _mtime_ns(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0
