"""Text wrapping: between words, or between characters in scripts without spaces."""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from kimi_tui.tui.markdown.styled_line import (
    PLAIN,
    Span,
    Spans,
    StyledLine,
    TextStyle,
    decoration_length,
    span_width,
)

_OPENING = "（〈《「『【〔〖［｛“"
_CLOSING = "，。、；：？！）〉》」』】〕〗］｝…”"
_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf"
    "\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
)
_NARROW = re.compile("[\t -~\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2026\u2190-\u21ff]*")
"""Text whose characters all take one cell: Latin script, with dashes, quotes and arrows."""


@cache
def _token_pattern() -> re.Pattern[str]:
    # Spaces, or one wide character or word with the brackets and punctuation that must stay attached to it.
    # Compiled on first use, as this takes about 10 ms.
    marks = f"[{_OPENING}{_CLOSING}]"
    wide, word = f"(?!{marks})[{_WIDE}]", f"(?:(?![{_OPENING}{_CLOSING}{_WIDE}])\\S)+"
    return re.compile(rf"[ \t]+|[{_OPENING}]*(?:{wide}|{word})[{_CLOSING}]*|.")


@cache
def _wide_break_pattern() -> re.Pattern[str]:
    return re.compile(rf"[{_WIDE}{_CLOSING}]\n[{_WIDE}{_OPENING}]")


class RowSlice(NamedTuple):
    """Slice of a text that one row shows, and the separator between it and the row above."""

    start: int
    end: int
    separator: str


def break_rows(text: str, width: int) -> list[RowSlice]:
    """Return the rows of `text`, a single line, so that none is wider than `width` cells."""
    if not text.isascii() and not _NARROW.fullmatch(text):
        return _wide_rows(text, width)
    return [RowSlice(0, len(text), "\n")] if len(text) <= width else _narrow_rows(text, width)


def wrap(
    spans: Sequence[Span], width: int, *, first: Spans = (), rest: Spans = (), fill: TextStyle = PLAIN
) -> list[StyledLine]:
    """Return `spans` as rows of at most `width` cells.

    `first` is the prefix of the first row, `rest` the prefix of the other rows. Blanks and bars in prefixes
    are decoration.
    """
    available = max(1, width - max(span_width(first), span_width(rest)))
    text = "".join(text for text, _ in spans)
    lines: list[StyledLine] = []
    slicer = _SpanSlicer(spans)
    for row in break_rows(text, available):
        prefix = rest if lines else first
        lines.append(
            StyledLine(
                (*prefix, *slicer.slice_spans(row.start, row.end)),
                row.separator,
                decoration_length("".join(t for t, _ in prefix)),
                fill,
            )
        )
    return lines


def joins_without_space(before: str, after: str) -> bool:
    """Return whether a line break between `before` and `after` means no space, as in Chinese and Japanese."""
    if before.isascii() or after.isascii():
        return False
    return bool(_wide_break_pattern().match(f"{before[-1]}\n{after[0]}"))


def chop(spans: Sequence[Span], width: int) -> list[Spans]:
    """Return `spans` cut at exactly `width` cells, regardless of words."""
    if span_width(spans) <= width:
        return [tuple(spans)]
    text = "".join(text for text, _ in spans)
    slicer = _SpanSlicer(spans)
    rows: list[Spans] = []
    start = 0
    for piece in chop_cells(text, max(2, width)):
        rows.append(tuple(slicer.slice_spans(start, start + len(piece))))
        start += len(piece)
    return rows or [()]


def truncate(spans: Sequence[Span], width: int) -> Spans:
    """Return `spans` in one row of at most `width` cells. Longer text is cut off with an ellipsis."""
    if span_width(spans) <= width:
        return tuple(spans)
    if width < 2:
        return ()
    kept = chop(spans, max(2, width - 1))[0]
    if span_width(kept) > width - 1:
        kept = ()
    return (*kept, ("…", kept[-1][1] if kept else PLAIN))


def _narrow_rows(text: str, width: int) -> list[RowSlice]:
    rows: list[RowSlice] = []
    start, separator, length = 0, "\n", len(text)
    while length - start > width:
        space = text.rfind(" ", start, start + width + 1)
        if space <= start or text[start:space].isspace():
            rows.append(RowSlice(start, start + width, separator))
            start, separator = start + width, ""
            continue
        rows.append(RowSlice(start, start + len(text[start:space].rstrip(" ")), separator))
        start, separator = space + 1, " "
        while start < length and text[start] == " ":
            start += 1
    if start < length or not rows:
        rows.append(RowSlice(start, length, separator))
    return rows


def _wide_rows(text: str, width: int) -> list[RowSlice]:
    rows: list[RowSlice] = []
    start = end = used = 0
    separator = "\n"
    for match in _token_pattern().finditer(text):
        token = match.group()
        cells = cell_len(token)
        if token[0] in " \t":
            used += cells
            continue
        if used + cells > width:
            if end > start:
                rows.append(RowSlice(start, end, separator))
                separator = " " if end < match.start() else ""
            start, used = match.start(), 0
        if cells > width:
            start, separator, used = _chop_token(rows, token, start, width, separator)
        else:
            used += cells
        end = match.end()
    if end > start or not rows:
        rows.append(RowSlice(start, end, separator))
    return rows


def _chop_token(
    rows: list[RowSlice], token: str, start: int, width: int, separator: str
) -> tuple[int, str, int]:
    # For a token wider than the row: append full rows to `rows`; the remainder begins the next row.
    *full, remainder = chop_cells(token, max(2, width))
    for piece in full:
        rows.append(RowSlice(start, start + len(piece), separator))
        start, separator = start + len(piece), ""
    return start, separator, cell_len(remainder)


class _SpanSlicer:
    """Slices spans by character positions, in ascending order."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._index = 0
        self._offset = 0

    def slice_spans(self, start: int, end: int) -> list[Span]:
        """Return the spans between two positions of the joined text."""
        sliced: list[Span] = []
        spans = self._spans
        while self._index < len(spans):
            text, style = spans[self._index]
            span_start, span_end = self._offset, self._offset + len(text)
            if span_end > start and span_start < end:
                piece = text[max(0, start - span_start) : end - span_start]
                if piece:
                    sliced.append((piece, style))
            if span_end > end:
                break
            self._index += 1
            self._offset = span_end
        return sliced
