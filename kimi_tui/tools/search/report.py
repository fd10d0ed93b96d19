"""What a search found, as the model reads it: a page of lines, and the rest in words."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.tools.search.engine import Answer
from kimi_tui.tools.search.matches import MatchedLine, counts_in, lines_in, paths_in
from kimi_tui.tools.search.query import Query
from kimi_tui.tools.tool import ok
from kimi_tui.wire.events import ToolReturn

_MAX_OUTPUT_CHARS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """How found files are shown, and which."""

    name: Callable[[Path], str]
    may_show: Callable[[Path], bool]
    line_numbers: bool = True


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found, a line of output each."""

    lines: Sequence[str]
    summary: str


def findings(query: Query, answer: Answer, presentation: Presentation) -> Findings:
    """What `answer` holds: files with the newest first, else in the order of their paths."""
    name, may_show = presentation.name, presentation.may_show
    match query.mode:
        case "files" | "files_with_matches":
            paths = [path for path in paths_in(answer.output, query.folder) if may_show(path)]
            paths.sort(key=lambda path: (-_mtime_ns(path), path))
            return Findings([name(path) for path in paths], counted(len(paths), "file"))
        case "count":
            counts = sorted(pair for pair in counts_in(answer.output, query.folder) if may_show(pair[0]))
            total = sum(count for _, count in counts)
            summary = f"{counted(total, 'match')} in {counted(len(counts), 'file')}"
            return Findings([f"{name(path)}:{count}" for path, count in counts], summary)
        case "content":
            found = [line for line in lines_in(answer.output, query.folder) if may_show(line.path)]
            found.sort(key=lambda line: line.path)
            n_matches = sum(line.is_match for line in found)
            has_gaps = bool(query.before or query.after)
            return Findings(
                list(_content(found, presentation, has_gaps)), counted(n_matches, "matching line")
            )


def _content(found: Sequence[MatchedLine], presentation: Presentation, has_gaps: bool) -> Iterator[str]:
    last: MatchedLine | None = None
    name = ""
    for line in found:
        if last is None or last.path != line.path:
            name = presentation.name(line.path)
        if has_gaps and last and (last.path, last.number + 1) != (line.path, line.number):
            yield "--"
        mark = ":" if line.is_match else "-"
        number = f"{line.number}{mark}" if presentation.line_numbers else ""
        yield f"{name}{mark}{number}{line.text}"
        last = line


def page(found: Findings, *, offset: int, limit: int, notes: Sequence[str]) -> ToolReturn:
    """At most `limit` lines of what was found, 0 for all, after the first `offset`."""
    total = len(found.lines)
    if not total:
        return ok(message=" ".join(("No match.", *notes)), brief="no match")
    lines = found.lines[offset : offset + limit if limit else total]
    output = "".join(f"{line}\n" for line in lines)
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


def _mtime_ns(path: Path) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0
