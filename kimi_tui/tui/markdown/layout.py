"""Markdown layout: converts source to rows of a given width."""

from functools import lru_cache
from typing import TYPE_CHECKING, cast

from kimi_tui.tui.markdown.code_block import code_lines
from kimi_tui.tui.markdown.inline import inline_spans
from kimi_tui.tui.markdown.parser import parse
from kimi_tui.tui.markdown.styled_line import (
    PLAIN,
    Span,
    Spans,
    StyledLine,
    TextStyle,
    span_width,
    text_style,
)
from kimi_tui.tui.markdown.table import Alignment, MarkdownTable, natural_widths, table_lines
from kimi_tui.tui.markdown.wrap import wrap

if TYPE_CHECKING:
    from markdown_it.token import Token

_BULLETS = "•◦▪"
_MIN_TEXT_WIDTH = 8
"""Minimum cells for text, however deeply lists and quotes are nested."""


def markdown_lines(source: str, width: int, *, base: TextStyle = PLAIN) -> list[StyledLine]:
    """Return `source` as rows of at most `width` cells, without blank rows at either end."""
    layout = _MarkdownLayout(width, base)
    layout.lay_out_blocks(parse(source))
    return layout.lines


def table_continuation_lines(source: str, first: str, width: int) -> list[StyledLine]:
    """Return the rows of the table `source` without its header, aligned with the table `first` above.

    Columns have the widths of `first` unless a cell needs more.
    """
    table = _parse_table(source)
    widths = [max(pair) for pair in zip(_column_widths(first), natural_widths(table), strict=False)]
    return table_lines(table, width, widths=widths, omit_header=True)


class _Margin:
    """Prefix of the rows of a list item or quote: a marker on the first row, then its continuation."""

    def __init__(self, first: Spans, rest: Spans) -> None:
        self._first: Spans | None = first
        self.rest = rest
        self.width = max(span_width(first), span_width(rest))

    def next_prefix(self) -> Spans:
        first, self._first = self._first, None
        return self.rest if first is None else first


class _MarkdownLayout:
    """Converts block tokens to rows."""

    def __init__(self, width: int, base: TextStyle) -> None:
        self.lines: list[StyledLine] = []
        self._width = width
        self._base = base
        self._margins: list[_Margin] = []

    def lay_out_blocks(self, tokens: "list[Token]", *, tight: bool = False, depth: int = 0) -> None:
        """Lay out `tokens` one below the other, separated by blank rows unless `tight`."""
        index = 0
        while index < len(tokens):
            end = _end_of(tokens, index)
            if index and not tight:
                self._add_gap()
            self._lay_out_block(tokens[index : end + 1], depth)
            index = end + 1

    def _lay_out_block(self, tokens: "list[Token]", depth: int) -> None:
        token = tokens[0]
        match token.type:
            case "paragraph_open":
                self._add_text(tokens[1], self._base)
            case "heading_open":
                level = min(int(token.tag[1:]), 4)
                self._add_text(tokens[1], self._base.with_role(f"heading-{level}"))
            case "fence" | "code_block":
                language = (token.info.split() or [""])[0]
                self._add_rows(code_lines(token.content.rstrip("\n"), language, self._available_width()))
            case "bullet_list_open" | "ordered_list_open":
                self._lay_out_list(tokens, depth)
            case "blockquote_open":
                bar: Spans = (("▎ ", text_style("quote-bar")),)
                self._lay_out_nested(_Margin(bar, bar), tokens[1:-1], base=self._base.with_role("quote"))
            case "table_open":
                self._add_rows(table_lines(_read_table(tokens), self._available_width()))
            case "hr":
                self._add_rows([StyledLine((("─" * self._available_width(), text_style("rule")),))])
            case _:
                for line in token.content.rstrip("\n").split("\n"):
                    self._add_rows(wrap([(line, self._base.with_role("dim"))], self._available_width()))

    def _lay_out_list(self, tokens: "list[Token]", depth: int) -> None:
        ordered = tokens[0].type == "ordered_list_open"
        number = int(tokens[0].attrs.get("start", 1)) if ordered else 0
        items = _split_items(tokens)
        last = number + len(items) - 1
        loose = any(_is_loose(item) for item in items)
        for index, item in enumerate(items):
            if index and loose:
                self._add_gap()
            marker = f"{number + index}." if ordered else _BULLETS[min(depth, 2)]
            marker = marker.rjust(len(f"{last}.")) if ordered else marker
            first: Spans = ((f"{marker} ", text_style("bullet")),)
            self._lay_out_nested(
                _Margin(_task_marker(item) or first, ((" " * span_width(first), PLAIN),)),
                item[1:-1],
                tight=not loose,
                depth=depth + 1,
            )

    def _lay_out_nested(
        self,
        margin: _Margin,
        tokens: "list[Token]",
        *,
        base: TextStyle | None = None,
        tight: bool = False,
        depth: int = 0,
    ) -> None:
        outer, self._base = self._base, base if base is not None else self._base
        self._margins.append(margin)
        if tokens:
            self.lay_out_blocks(tokens, tight=tight, depth=depth)
        else:
            self._add_rows([StyledLine()])
        self._margins.pop()
        self._base = outer

    def _add_text(self, token: "Token", base: TextStyle) -> None:
        for spans in inline_spans(token.children or [], base):
            self._add_rows(
                wrap(_strip_task_marker(spans) if self._margins else spans, self._available_width())
            )

    def _available_width(self) -> int:
        return max(_MIN_TEXT_WIDTH, self._width - sum(margin.width for margin in self._margins))

    def _add_rows(self, lines: list[StyledLine]) -> None:
        self.lines += [line.indent(self._next_prefix()) for line in lines]

    def _add_gap(self) -> None:
        self.lines.append(
            StyledLine().indent(tuple(span for margin in self._margins for span in margin.rest))
        )

    def _next_prefix(self) -> Spans:
        return tuple(span for margin in self._margins for span in margin.next_prefix())


def _end_of(tokens: "list[Token]", start: int) -> int:
    # Index of the token that closes the one at `start`.
    depth = 0
    for index in range(start, len(tokens)):
        depth += tokens[index].nesting
        if depth == 0:
            return index
    return len(tokens) - 1


def _split_items(tokens: "list[Token]") -> "list[list[Token]]":
    items: list[list[Token]] = []
    index = 1
    while index < len(tokens) - 1:
        end = _end_of(tokens, index)
        items.append(tokens[index : end + 1])
        index = end + 1
    return items


def _is_loose(item: "list[Token]") -> bool:
    level = item[0].level + 1
    return any(token.type == "paragraph_open" and token.level == level and not token.hidden for token in item)


def _task_marker(item: "list[Token]") -> Spans:
    text = next((token.content for token in item if token.type == "inline"), "")
    if text.startswith("[ ] "):
        return (("☐ ", text_style("bullet")),)
    if text[:4].lower() == "[x] ":
        return (("☑ ", text_style("done")),)
    return ()


def _strip_task_marker(spans: list[Span]) -> list[Span]:
    if spans and spans[0][0][:4].lower() in ("[ ] ", "[x] "):
        return [(spans[0][0][4:], spans[0][1]), *spans[1:]]
    return spans


@lru_cache(maxsize=8)
def _column_widths(source: str) -> tuple[int, ...]:
    return tuple(natural_widths(_parse_table(source)))


def _parse_table(source: str) -> MarkdownTable:
    tokens = parse(source)
    return _read_table(tokens) if tokens and tokens[0].type == "table_open" else MarkdownTable()


def _read_table(tokens: "list[Token]") -> MarkdownTable:
    table = MarkdownTable()
    row: list[list[Span]] = []
    for index, token in enumerate(tokens):
        if token.type in ("th_open", "td_open"):
            row.append([span for line in inline_spans(tokens[index + 1].children or []) for span in line])
            if token.type == "th_open":
                style = str(token.attrs.get("style", ""))
                table.alignments.append(cast("Alignment", style.removeprefix("text-align:") or "left"))
        elif token.type == "tr_close":
            if table.header:
                table.rows.append(row)
            else:
                table.header = row
            row = []
    return table
