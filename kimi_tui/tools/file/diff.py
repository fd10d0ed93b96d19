"""Diffs of file changes for display: hunks with context."""

from collections.abc import Sequence
from io import StringIO

from kimi_tui.base.frozen import frozen
from kimi_tui.base.line_matcher import LineMatcher
from kimi_tui.tools.file.diff_excerpt import format_first_changes
from kimi_tui.tools.file.text_document import replace_surrogates
from kimi_tui.wire.display_blocks import DiffBlock

CONTEXT_LINES = 3
_MAX_SHOWN_LINES = 3000
_MAX_SHOWN_CHARS = 300_000


@frozen
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
    old_lines, new_lines = list(StringIO(old)), list(StringIO(new))
    matcher = LineMatcher(old_lines, new_lines)
    return FileDiff(*matcher.count_changes(), _build_blocks(path, old_lines, new_lines, matcher))


def summary_diff(path: str, old: str, new: str, *, added: int = 0, removed: int = 0) -> FileDiff:
    """Return a diff for a change that can't be shown. `old` and `new` describe the two versions."""
    return FileDiff(added, removed, (DiffBlock(path, old, new, is_summary=True),))


def _build_blocks(
    path: str, old: Sequence[str], new: Sequence[str], matcher: LineMatcher[str]
) -> tuple[DiffBlock, ...]:
    hunks = [
        (opcodes[0][1], opcodes[-1][2], opcodes[0][3], opcodes[-1][4])
        for opcodes in matcher.get_grouped_opcodes(CONTEXT_LINES)
    ]
    blocks = tuple(
        DiffBlock(path, _displayable_text(old[i1:i2]), _displayable_text(new[j1:j2]), i1 + 1, j1 + 1)
        for i1, i2, j1, j2 in hunks
    )
    shown_lines = sum(i2 - i1 + j2 - j1 for i1, i2, j1, j2 in hunks)
    shown_chars = sum(len(block.old_text) + len(block.new_text) for block in blocks)
    if shown_lines > _MAX_SHOWN_LINES or shown_chars > _MAX_SHOWN_CHARS:
        summary = "\n".join((_describe_size(new), *format_first_changes(old, new, matcher.get_changes())))
        return (DiffBlock(path, _describe_size(old), replace_surrogates(summary), is_summary=True),)
    return blocks


def _displayable_text(lines: Sequence[str]) -> str:
    return replace_surrogates("".join(lines).replace("\r\n", "\n"))


def _describe_size(lines: Sequence[str]) -> str:
    size = sum(map(len, lines))
    return f"{len(lines):,} lines, {size:,} characters" if lines else "empty"
