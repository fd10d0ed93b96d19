"""Lines of a unified diff of a compared file."""

from collections.abc import Iterator, Sequence

from kimi_tui.base.line_matcher import LineMatcher
from kimi_tui.wire.timeline import ComparedFile


def diff_lines(file: ComparedFile) -> list[str]:
    """Return a heading with the path, and the changed lines with their context. The text is untrusted."""
    if file.diff is None:
        return [diff_heading(file)]
    old, new = file.diff.old_text.splitlines(), file.diff.new_text.splitlines()
    return [diff_heading(file), *hunk_lines(old, new)]


def diff_heading(file: ComparedFile) -> str:
    """Return the line above the changes of a file."""
    return f"{file.change}: {file.path}"


def hunk_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield the hunks that turn `old` into `new`, with three lines of context. Equal texts have no hunks."""
    if old == new:
        return
    for opcodes in LineMatcher(old, new).get_grouped_opcodes():
        (_, start, _, new_start, _), (_, _, end, _, new_end) = opcodes[0], opcodes[-1]
        yield f"@@ -{_format_range(start, end)} +{_format_range(new_start, new_end)} @@"
        for tag, i1, i2, j1, j2 in opcodes:
            if tag == "equal":
                yield from (f" {line}" for line in old[i1:i2])
            else:
                yield from (f"-{line}" for line in old[i1:i2])
                yield from (f"+{line}" for line in new[j1:j2])


def _format_range(first: int, end: int) -> str:
    count = end - first
    return f"{first + 1}" if count == 1 else f"{first + 1 if count else first},{count}"
