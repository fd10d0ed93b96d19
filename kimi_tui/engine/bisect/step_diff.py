"""Beginning of the diff of a step that a search has found."""

from collections.abc import Iterator
from itertools import chain, islice

from kimi_tui.engine.timeline.compare import compare_items, find_differences
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.plan import PlanItem
from kimi_tui.wire.compared_lines import diff_heading, hunk_lines
from kimi_tui.wire.timeline import ComparedFile

MAX_LINES = 400
_MAX_LINE = 1_000
"""Maximum number of characters per line."""


def compare_step(history: FileHistory, old: str, new: str) -> tuple[tuple[ComparedFile, ...], str, bool]:
    """Return the files that a step changed, the beginning of their diff, and whether the diff has more lines.

    Raises KimiTuiError if a state is no longer stored.
    """
    items = find_differences(history, old, new).items
    files = compare_items(history, items, n_diffs=0)
    lines = chain.from_iterable(
        _lines_of(history, item, file) for item, file in zip(items, files, strict=True)
    )
    shown = [line[:_MAX_LINE] for line in islice(lines, MAX_LINES)]
    return files, "\n".join(shown), next(lines, None) is not None


def _lines_of(history: FileHistory, item: PlanItem, file: ComparedFile) -> Iterator[str]:
    yield diff_heading(file)
    if item.action in ("rename", "not covered") or (texts := history.contents(item.now, item.then)) is None:
        return
    old, new = (text.decode("utf-8", "replace").splitlines() for text in texts)
    yield from hunk_lines(old, new)
