"""Three-way merge of texts, line by line: combines the changes of `ours` and `theirs` to `base`.

A text is a sequence of lines that end with a newline. The final newline may be missing, and is merged
separately: appending a line to a text without a final newline doesn't count as a change of its last line.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Literal

from kimi_tui.base.line_matcher import LineMatcher

MAX_BYTES = 4 << 20
_SNIFF_BYTES = 8192

Overlap = Literal["fail", "ours", "both"]
"""Handling of lines that both sides changed.

- `fail`: the texts aren't merged
- `ours`: the lines of `ours` that aren't in the base are kept
- `both`: the lines of `ours` are kept, followed by those of `theirs`
"""


def is_text(content: bytes) -> bool:
    """Return whether `content` can be merged and shown line by line."""
    return b"\0" not in content[:_SNIFF_BYTES] and len(content) <= MAX_BYTES


def merge3(base: bytes, ours: bytes, theirs: bytes, *, overlap: Overlap = "fail") -> bytes | None:
    """Return `base` with the changes of both sides, or None.

    None if a content isn't text, or if changes overlap and `overlap` is `fail`. Two changes overlap if they
    affect the same line, or insert lines at the same place. There are two exceptions: equal changes, and
    lines that `ours` inserts among lines that `theirs` only deletes.
    """
    if not (is_text(base) and is_text(ours) and is_text(theirs)):
        return None
    texts = [_Text.parse(content) for content in (base, ours, theirs)]
    lines = _merge_lines(*(text.lines for text in texts), overlap=overlap)
    if lines is None:
        return None
    return _Text(lines, _merge_final_newline(*(text.has_final_newline for text in texts))).to_bytes()


Lines = Sequence[bytes]


@dataclass(frozen=True, slots=True)
class _Text:
    """A text as lines, each with its newline."""

    lines: Lines
    has_final_newline: bool | None
    """None for an empty text."""

    @staticmethod
    def parse(content: bytes) -> "_Text":
        if not content:
            return _Text((), None)
        has_final_newline = content.endswith(b"\n")
        return _Text(list(BytesIO(content if has_final_newline else content + b"\n")), has_final_newline)

    def to_bytes(self) -> bytes:
        content = b"".join(self.lines)
        ends_with_text = bool(self.lines) and self.lines[-1] != b"\n"
        return content[:-1] if self.has_final_newline is False and ends_with_text else content


@dataclass(frozen=True, slots=True)
class _Edit:
    """A replacement of the lines `start` to `end` of the base by `lines`."""

    start: int
    end: int
    lines: Lines
    is_ours: bool

    @property
    def is_insertion(self) -> bool:
        return self.start == self.end

    def is_equal(self, other: "_Edit") -> bool:
        """Return whether both sides make the same change."""
        return (self.start, self.end, self.lines) == (other.start, other.end, other.lines)

    def overlaps(self, other: "_Edit") -> bool:
        """Return whether this edit conflicts with an edit of the other side: combining both is ambiguous."""
        if self.start < other.end and other.start < self.end:
            inner, outer = (self, other) if self.is_insertion else (other, self)
            return not (inner.is_insertion and inner.is_ours and not outer.lines)
        return self.is_insertion and other.is_insertion and self.start == other.start


def _merge_lines(base: Lines, ours: Lines, theirs: Lines, *, overlap: Overlap) -> Lines | None:
    result: list[bytes] = []
    at = 0
    for region in _regions([*_edits(base, ours, is_ours=True), *_edits(base, theirs, is_ours=False)]):
        if overlap == "fail" and len(region) > 1:
            return None
        start, end = min(edit.start for edit in region), max(edit.end for edit in region)
        result += base[at:start]
        if len(region) == 1 or overlap != "both":
            kept = region if len(region) == 1 else [edit for edit in region if edit.is_ours]
            result += [line for edit in kept for line in edit.lines]
        else:
            result += _side_of_region(base, start, end, (edit for edit in region if edit.is_ours))
            result += _side_of_region(base, start, end, (edit for edit in region if not edit.is_ours))
        at = max(at, end)
    return [*result, *base[at:]]


def _edits(base: Lines, changed: Lines, *, is_ours: bool) -> Iterator[_Edit]:
    for _, i1, i2, j1, j2 in LineMatcher(base, changed).get_changes():
        yield _Edit(i1, i2, changed[j1:j2], is_ours)


def _regions(edits: Sequence[_Edit]) -> Iterator[list[_Edit]]:
    """Yield groups of edits that overlap, in the order of the result. Equal edits are yielded once."""
    region: list[_Edit] = []
    waiting: list[_Edit] = []
    """Insertions among lines that the region only deletes."""
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if any(edit.is_equal(other) for other in region):
            continue
        if any(edit.is_ours != other.is_ours and edit.overlaps(other) for other in region):
            region += [*waiting, edit]
            waiting = []
        elif region and edit.start < max(other.end for other in region):
            waiting.append(edit)
        else:
            yield from ([region] if region else [])
            yield from ([it] for it in waiting)
            region, waiting = [edit], []
    yield from ([region] if region else [])
    yield from ([it] for it in waiting)


def _side_of_region(base: Lines, start: int, end: int, edits: Iterable[_Edit]) -> Iterator[bytes]:
    """Yield the lines of one side in the region from `start` to `end` of the base."""
    for edit in edits:
        yield from base[start : edit.start]
        yield from edit.lines
        start = edit.end
    yield from base[start:end]


def _merge_final_newline(base: bool | None, ours: bool | None, theirs: bool | None) -> bool | None:
    """Return whether the merged text ends with a newline. Empty texts (None) don't count."""
    changed = ours if ours not in (base, None) else theirs
    return changed if changed is not None else ours if ours is not None else base
