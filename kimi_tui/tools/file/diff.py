"""The change of a file, fit to be shown: hunks with their context."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kimi_tui.tools.file.comparison import Change, changes_between, lines_of
from kimi_tui.tools.file.document import without_surrogates
from kimi_tui.tools.file.excerpt import first_changes
from kimi_tui.wire.display import DiffBlock

CONTEXT = 3
_MAX_SHOWN_LINES = 3000
_MAX_SHOWN_CHARS = 300_000


@dataclass(frozen=True, slots=True)
class FileDiff:
    """How a file changes."""

    added: int
    removed: int
    blocks: tuple[DiffBlock, ...]
    """The hunks; one block with the size and the first changes when they are too long to show."""

    @property
    def brief(self) -> str:
        """Such as `+4 −1`."""
        return f"+{self.added} −{self.removed}"


def diff(path: str, old: str, new: str) -> FileDiff:
    """How the text of the file that shows as `path` changes from `old` to `new`."""
    old_lines, new_lines = lines_of(old), lines_of(new)
    changes = list(changes_between(old_lines, new_lines))
    added = sum(change.new_end - change.new_start for change in changes)
    removed = sum(change.old_end - change.old_start for change in changes)
    return FileDiff(added, removed, _blocks(path, old_lines, new_lines, changes))


def summary(path: str, old: str, new: str, *, added: int = 0, removed: int = 0) -> FileDiff:
    """A change that can't be shown; `old` and `new` describe the two versions."""
    return FileDiff(added, removed, (DiffBlock(path, old, new, is_summary=True),))


def _blocks(
    path: str, old: Sequence[str], new: Sequence[str], changes: Sequence[Change]
) -> tuple[DiffBlock, ...]:
    hunks = list(_hunks(changes, len(old), len(new)))
    texts = [
        (_shown(old[hunk.old_start : hunk.old_end]), _shown(new[hunk.new_start : hunk.new_end]))
        for hunk in hunks
    ]
    shown_lines = sum(hunk.old_end - hunk.old_start + hunk.new_end - hunk.new_start for hunk in hunks)
    if shown_lines > _MAX_SHOWN_LINES or sum(len(a) + len(b) for a, b in texts) > _MAX_SHOWN_CHARS:
        told = without_surrogates("\n".join((_description(new), *first_changes(old, new, changes))))
        return (DiffBlock(path, _description(old), told, is_summary=True),)
    return tuple(
        DiffBlock(path, before, after, hunk.old_start + 1, hunk.new_start + 1)
        for hunk, (before, after) in zip(hunks, texts, strict=True)
    )


def _hunks(changes: Sequence[Change], n_old: int, n_new: int) -> Iterator[Change]:
    """`changes` with their context; those whose contexts meet are one."""
    hunk: Change | None = None
    for change in changes:
        if hunk and change.old_start - CONTEXT <= hunk.old_end:
            hunk = Change(
                hunk.old_start,
                min(n_old, change.old_end + CONTEXT),
                hunk.new_start,
                min(n_new, change.new_end + CONTEXT),
            )
            continue
        if hunk:
            yield hunk
        lead = min(CONTEXT, change.old_start)
        hunk = Change(
            change.old_start - lead,
            min(n_old, change.old_end + CONTEXT),
            change.new_start - lead,
            min(n_new, change.new_end + CONTEXT),
        )
    if hunk:
        yield hunk


def _shown(lines: Sequence[str]) -> str:
    return without_surrogates("".join(lines).replace("\r\n", "\n"))


def _description(lines: Sequence[str]) -> str:
    size = sum(map(len, lines))
    return f"{len(lines):,} lines, {size:,} characters" if lines else "empty"
