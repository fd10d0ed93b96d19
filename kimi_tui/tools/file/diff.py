"""Diffs of file changes for display: hunks with context."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kimi_tui.tools.file.diff_excerpt import format_first_changes
from kimi_tui.tools.file.line_diff import LineChange, diff_lines, split_lines
from kimi_tui.tools.file.text_document import replace_surrogates
from kimi_tui.wire.display_blocks import DiffBlock

CONTEXT_LINES = 3
_MAX_SHOWN_LINES = 3000
_MAX_SHOWN_CHARS = 300_000


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The difference between two versions of a file."""

    added: int
    removed: int
    blocks: tuple[DiffBlock, ...]
    """The hunks. If they are too long to show, one block with the sizes and the first changes."""

    @property
    def brief(self) -> str:
        """Line counts such as `+4 −1`."""
        return f"+{self.added} −{self.removed}"


def build_diff(path: str, old: str, new: str) -> FileDiff:
    """Return the difference between the texts `old` and `new` of the file displayed as `path`."""
    old_lines, new_lines = split_lines(old), split_lines(new)
    changes = list(diff_lines(old_lines, new_lines))
    added = sum(change.new_end - change.new_start for change in changes)
    removed = sum(change.old_end - change.old_start for change in changes)
    return FileDiff(added, removed, _build_blocks(path, old_lines, new_lines, changes))


def summary_diff(path: str, old: str, new: str, *, added: int = 0, removed: int = 0) -> FileDiff:
    """Return a diff for a change that can't be shown. `old` and `new` describe the two versions."""
    return FileDiff(added, removed, (DiffBlock(path, old, new, is_summary=True),))


def _build_blocks(
    path: str, old: Sequence[str], new: Sequence[str], changes: Sequence[LineChange]
) -> tuple[DiffBlock, ...]:
    hunks = list(_group_hunks(changes, len(old), len(new)))
    texts = [
        (
            _displayable_text(old[hunk.old_start : hunk.old_end]),
            _displayable_text(new[hunk.new_start : hunk.new_end]),
        )
        for hunk in hunks
    ]
    shown_lines = sum(hunk.old_end - hunk.old_start + hunk.new_end - hunk.new_start for hunk in hunks)
    if shown_lines > _MAX_SHOWN_LINES or sum(len(a) + len(b) for a, b in texts) > _MAX_SHOWN_CHARS:
        summary = "\n".join((_describe_size(new), *format_first_changes(old, new, changes)))
        return (DiffBlock(path, _describe_size(old), replace_surrogates(summary), is_summary=True),)
    return tuple(
        DiffBlock(path, before, after, hunk.old_start + 1, hunk.new_start + 1)
        for hunk, (before, after) in zip(hunks, texts, strict=True)
    )


def _group_hunks(changes: Sequence[LineChange], n_old: int, n_new: int) -> Iterator[LineChange]:
    """Yield `changes` with their context, merging those whose contexts touch."""
    hunk: LineChange | None = None
    for change in changes:
        if hunk and change.old_start - CONTEXT_LINES <= hunk.old_end:
            hunk = LineChange(
                hunk.old_start,
                min(n_old, change.old_end + CONTEXT_LINES),
                hunk.new_start,
                min(n_new, change.new_end + CONTEXT_LINES),
            )
            continue
        if hunk:
            yield hunk
        lead = min(CONTEXT_LINES, change.old_start)
        hunk = LineChange(
            change.old_start - lead,
            min(n_old, change.old_end + CONTEXT_LINES),
            change.new_start - lead,
            min(n_new, change.new_end + CONTEXT_LINES),
        )
    if hunk:
        yield hunk


def _displayable_text(lines: Sequence[str]) -> str:
    return replace_surrogates("".join(lines).replace("\r\n", "\n"))


def _describe_size(lines: Sequence[str]) -> str:
    size = sum(map(len, lines))
    return f"{len(lines):,} lines, {size:,} characters" if lines else "empty"
