"""Buffer of the cells that the terminal shows, so that only changed cells are sent.

Textual sends whole regions: a new line in the conversation redraws a screen of text, and a spinner frame
redraws the whole prompt. The buffer compares each frame with the cells on the terminal. Rows that only
moved are scrolled by the terminal itself, with a scrolling region (DECSTBM) and line feeds or reverse
indexes.

Control characters are removed from all text here, even if a widget forgot to do so.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import compress
from operator import ne

from rich.cells import get_character_cell_size, split_graphemes
from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Offset, Size
from textual.strip import Strip

from kimi_tui.base.terminal_text import strip_controls
from kimi_tui.tui.terminal.sequence_writer import PLAIN, Cell, CellStyle, SequenceWriter

PlacedStrip = tuple[int, int, Strip]
"""Row, first column, and the strip to show there."""
CellRow = list[Cell | None]
"""The cells of a row. None for cells with unknown content."""

_MERGE_GAP = 4
"""Rewriting up to this many unchanged cells is cheaper than moving the cursor over them."""
_MIN_SCROLL_ROWS = 6
"""Minimum number of changed rows to use a scrolling region."""
_MAX_CACHED_STRIPS = 512
"""Maximum number of strips whose cells are cached."""
_REGIONAL_INDICATORS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
"""In most terminals, two regional indicators form a flag."""
_JOINING = re.compile("[\u200d\ufe0f]")
"""Characters that combine several characters into one, or make a narrow character wide."""
_ZERO_WIDTH_JOINER = "\u200d"
"""Removed at both ends of a text, because text parts with different styles are separate characters."""
_MAX_SCROLL_CANDIDATES = 2
"""Number of scroll distances that are examined in detail."""


class ScreenBuffer:
    """Tracks the content of one terminal. Call `invalidate` after anything else has written to it."""

    def __init__(self, writer: SequenceWriter | None = None, *, use_scrolling: bool = True) -> None:
        """`use_scrolling` is False if rows that leave a scrolling region would go to the scrollback, as in
        tmux.
        """
        self._use_scrolling = use_scrolling
        self._size = Size(0, 0)
        self._rows: list[CellRow] = []
        self._writer = writer or SequenceWriter()
        self._cells_by_strip: dict[int, tuple[Strip, ColorSystem, list[Cell]]] = {}
        """Cells of recent strips by the strip's `id`. Scrolling shows the same strips again."""

    def invalidate(self) -> None:
        """Forget the terminal's content. The next frames are sent in full."""
        self._size = Size(0, 0)
        self._writer.invalidate()

    def update(
        self,
        placed_strips: Iterable[PlacedStrip],
        size: Size,
        color_system: ColorSystem,
        *,
        cursor: Offset | None = None,
    ) -> str:
        """Return the output that makes the terminal show the strips, and record them as shown.

        The output leaves the cursor at `cursor`, where input methods show their text.
        """
        if size != self._size:
            self._size = size
            self._rows = [[None] * size.width for _ in range(size.height)]
            self._writer.invalidate()  # terminals differ in how a resize affects the cursor
        rows = self._merge_strips(placed_strips, color_system)
        if self._use_scrolling and (movement := _find_scroll(self._rows, rows)):
            self._scroll_rows(*movement, rows)
        last = size.width - 1
        spans: list[tuple[int, int, int]] = []
        for y, row in rows.items():
            if row != self._rows[y]:
                spans += [(y, *span) for span in _find_changed_spans(self._rows[y], row)]
                self._rows[y] = row
        # The scroll bar's cells come last: between the rows of a text, each needs another color.
        for y, start, end in sorted(spans, key=lambda span: span[1] == last):
            self._writer.write(y, start, rows[y][start:end], last=last)
        if cursor is not None:
            self._writer.move_to(cursor.y, cursor.x)
        return self._writer.drain()

    def _merge_strips(
        self, placed_strips: Iterable[PlacedStrip], color_system: ColorSystem
    ) -> dict[int, CellRow]:
        width, height = self._size
        rows: dict[int, CellRow] = {}
        for y, x, strip in placed_strips:
            if not 0 <= y < height:
                continue
            row = rows.get(y)
            if row is None:
                row = rows[y] = self._rows[y].copy()
            cells = self._get_cells(strip, color_system)
            row[x : x + len(cells)] = cells
            del row[width:]
        return rows

    def _get_cells(self, strip: Strip, color_system: ColorSystem) -> list[Cell]:
        cached = self._cells_by_strip.get(id(strip))
        if cached is not None and cached[1] is color_system:
            return cached[2]
        if len(self._cells_by_strip) >= _MAX_CACHED_STRIPS:
            self._cells_by_strip.clear()
        cells = _build_cells(strip, color_system)
        self._cells_by_strip[id(strip)] = strip, color_system, cells
        return cells

    def _scroll_rows(self, first: int, last: int, up: int, rows: dict[int, CellRow]) -> None:
        """Make the terminal move rows `first` to `last` up by `up`, or down if `up` is negative."""
        exposed = range(last + 1 - up, last + 1) if up > 0 else range(first, first - up)
        fill = _most_common_blank_style(rows[y] for y in exposed)
        blank: Cell | None = (" ", fill) if self._writer.scroll(first, last, up, fill) else None
        blank_rows: list[CellRow] = [[blank] * self._size.width for _ in exposed]
        region = self._rows[first : last + 1]
        self._rows[first : last + 1] = region[up:] + blank_rows if up > 0 else blank_rows + region[:up]


def color_system_of(console: Console) -> ColorSystem:
    """Return the color system of `console`. True color if unknown."""
    name = console.color_system
    return ColorSystem[name.upper().replace("256", "EIGHT_BIT")] if name else ColorSystem.TRUECOLOR


def extract_strips(update: LayoutUpdate | ChopsUpdate) -> Iterator[PlacedStrip]:
    """Yield the strips of an update with their rows and columns."""
    if isinstance(update, LayoutUpdate):
        for y, strips in enumerate(update.strips, update.region.y):
            x = update.region.x
            for strip in strips:
                yield y, x, strip
                x += strip.cell_length
        return
    for y, first, last in update.spans:
        for end, (x, chop) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if chop is not None and x <= last and end > first:
                yield y, x, chop if end <= last else chop.crop(0, last - x)


def _build_cells(strip: Strip, color_system: ColorSystem) -> list[Cell]:
    cells: list[Cell] = []
    for segment_text, style, _ in strip:
        text = strip_controls(segment_text).strip(_ZERO_WIDTH_JOINER)
        # The foreground color of blanks is invisible.
        cell_style = PLAIN if style is None else _convert_style(style, color_system, blank=text.isspace())
        if text.isascii():
            cells += [(character, cell_style) for character in text]
        else:
            _add_wide_cells(cells, text, cell_style)
    return cells


def _add_wide_cells(cells: list[Cell], text: str, style: CellStyle) -> None:
    for cluster, width in _split_clusters(text):
        if cluster in _REGIONAL_INDICATORS and cells and cells[-1][0] in _REGIONAL_INDICATORS:
            cells[-1:] = (cells[-1][0] + cluster, style), ("", style)
        elif width:
            cells.append((cluster, style))
            cells += [("", style)] * (width - 1)
        elif cells:
            base = len(cells) - 1
            while base > 0 and not cells[base][0]:
                base -= 1
            cells[base] = (cells[base][0] + cluster, cells[base][1])


def _split_clusters(text: str) -> Iterator[tuple[str, int]]:
    """Return the grapheme clusters of `text` and their widths in cells."""
    if not _JOINING.search(text):
        return ((character, get_character_cell_size(character)) for character in text)
    return ((text[start:end], width) for start, end, width in split_graphemes(text)[0])


@lru_cache(maxsize=1024)
def _convert_style(style: Style, color_system: ColorSystem, *, blank: bool = False) -> CellStyle:
    if blank and not (style.underline or style.strike or style.overline or style.underline2):
        if not style.reverse:
            style = Style(bgcolor=style.bgcolor, link=style.link)
        elif style.color is not None and not style.color.is_default:
            style = Style(bgcolor=style.color, link=style.link)
    codes = Strip.render_ansi(style, color_system)
    url = strip_controls(style.link or "")
    link = f"\x1b]8;;{url}\x1b\\" if url else ""
    return (codes, link) if codes or link else PLAIN


def _find_changed_spans(old: CellRow, new: CellRow) -> Iterator[tuple[int, int]]:
    """Yield the changed spans of a row, as first and last column (exclusive). Spans that are close together
    are merged.
    """
    changed = list(compress(range(len(new)), map(ne, old, new)))
    if not changed:
        return
    if _has_ambiguous_width(old) or _has_ambiguous_width(new):
        # Terminals differ in the width of some characters. Redraw the whole row to keep it consistent.
        yield 0, len(new)
        return
    start = end = changed[0]
    for x in changed:
        if x - end > _MERGE_GAP:
            yield _include_wide_halves(new, start, end)
            start = x
        end = x + 1
    yield _include_wide_halves(new, start, end)


def _include_wide_halves(row: CellRow, start: int, end: int) -> tuple[int, int]:
    """Extend the span to include both halves of wide characters at its ends."""
    if start and _is_right_half(row[start]):
        start -= 1
    if end < len(row) and _is_right_half(row[end]):
        end += 1
    return start, end


def _is_right_half(cell: Cell | None) -> bool:
    return cell is not None and not cell[0]


def _has_ambiguous_width(row: CellRow) -> bool:
    characters = [cell[0] for cell in row if cell is not None]
    text = "".join(characters)
    return not text.isascii() and (max(text) > "\uffff" or max(map(len, characters)) > 1)


def _most_common_blank_style(rows: Iterable[CellRow]) -> CellStyle:
    styles = Counter(cell[1] for row in rows for cell in row if cell is not None and cell[0] == " ")
    return max(styles, key=styles.__getitem__, default=PLAIN)


def _find_scroll(rows: Sequence[CellRow], new: dict[int, CellRow]) -> tuple[int, int, int] | None:
    """Return the first and last row of a block that moved up, and the distance in rows. None if scrolling
    saves little.

    Adds every row between the first and the last changed one to `new`.
    """
    changed = [y for y, row in new.items() if row != rows[y]]
    if len(changed) < _MIN_SCROLL_ROWS or None in rows[changed[0]]:
        return None
    first, last = min(changed), max(changed)
    for y in range(first, last + 1):
        new.setdefault(y, rows[y])
    cost = sum(_count_differences(rows[y], new[y]) for y in changed)
    best = None
    for up in _scroll_candidates(rows[first : last + 1], [new[y] for y in range(first, last + 1)]):
        moved = range(max(first, first - up), min(last, last - up) + 1)
        cost_after = abs(up) * len(rows[first])
        for y in moved:
            cost_after += _count_differences(rows[y + up], new[y])
            if cost_after * 2 >= cost:
                break
        else:
            cost, best = cost_after * 2, (first, last, up)
    return best


def _scroll_candidates(old: Sequence[CellRow], new: Sequence[CellRow]) -> Iterator[int]:
    """Yield the distances, in rows, that most rows moved up. Ignore the last quarter of each row, because it
    may contain a scroll bar.
    """
    old_starts, new_starts = ([row[: len(row) * 3 // 4] for row in rows] for rows in (old, new))
    distances = Counter(
        old_y - new_y
        for new_y, new_row in enumerate(new_starts)
        for old_y, old_row in enumerate(old_starts)
        if old_row == new_row
    )
    del distances[0]
    for distance, _ in distances.most_common(_MAX_SCROLL_CANDIDATES):
        yield distance


def _count_differences(first: CellRow, second: CellRow) -> int:
    return 0 if first == second else sum(map(ne, first, second))
