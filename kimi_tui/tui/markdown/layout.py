"""Markdown laid out: source to rows of a width."""

from functools import lru_cache
from typing import TYPE_CHECKING, cast

from kimi_tui.tui.markdown.code import code_lines
from kimi_tui.tui.markdown.inline import inline_spans
from kimi_tui.tui.markdown.line import PLAIN, Ink, Line, Span, Spans, ink, span_width
from kimi_tui.tui.markdown.parser import parse
from kimi_tui.tui.markdown.table import Alignment, Table, natural_widths, table_lines
from kimi_tui.tui.markdown.wrap import wrap

if TYPE_CHECKING:
    from markdown_it.token import Token

_BULLETS = "•◦▪"
_NARROWEST = 8
"""Cells that text keeps, however deeply lists and quotes nest."""


def markdown_lines(source: str, width: int, *, base: Ink = PLAIN) -> list[Line]:
    """`source` as rows of at most `width` cells, without a blank row at either end."""
    layout = _Layout(width, base)
    layout.blocks(parse(source))
    return layout.lines


def continued_table_lines(source: str, first: str, width: int) -> list[Line]:
    """The rows of the table `source` without its header, below those of the table `first` that it continues.

    Columns are as wide as there, wider only where a cell needs it.
    """
    table = _table(source)
    widths = [max(pair) for pair in zip(_widths(first), natural_widths(table), strict=False)]
    return table_lines(table, width, widths=widths, headless=True)


class _Margin:
    """What stands left of the rows of a list item or a quote: once a marker, then its continuation."""

    def __init__(self, first: Spans, rest: Spans) -> None:
        self._first: Spans | None = first
        self.rest = rest
        self.width = max(span_width(first), span_width(rest))

    def take(self) -> Spans:
        first, self._first = self._first, None
        return self.rest if first is None else first


class _Layout:
    """Walks block tokens and collects rows."""

    def __init__(self, width: int, base: Ink) -> None:
        self.lines: list[Line] = []
        self._width = width
        self._base = base
        self._margins: list[_Margin] = []

    def blocks(self, tokens: "list[Token]", *, tight: bool = False, depth: int = 0) -> None:
        """Lay `tokens` out one below another, a blank row between them unless `tight`."""
        index = 0
        while index < len(tokens):
            end = _end_of(tokens, index)
            if index and not tight:
                self._gap()
            self._block(tokens[index : end + 1], depth)
            index = end + 1

    def _block(self, tokens: "list[Token]", depth: int) -> None:
        token = tokens[0]
        match token.type:
            case "paragraph_open":
                self._text(tokens[1], self._base)
            case "heading_open":
                level = min(int(token.tag[1:]), 4)
                self._text(tokens[1], self._base.plus(f"heading-{level}"))
            case "fence" | "code_block":
                language = (token.info.split() or [""])[0]
                self._rows(code_lines(token.content.rstrip("\n"), language, self._room()))
            case "bullet_list_open" | "ordered_list_open":
                self._list(tokens, depth)
            case "blockquote_open":
                bar: Spans = (("▎ ", ink("quote-bar")),)
                self._within(_Margin(bar, bar), tokens[1:-1], base=self._base.plus("quote"))
            case "table_open":
                self._rows(table_lines(_read_table(tokens), self._room()))
            case "hr":
                self._rows([Line((("─" * self._room(), ink("rule")),))])
            case _:
                for line in token.content.rstrip("\n").split("\n"):
                    self._rows(wrap([(line, self._base.plus("dim"))], self._room()))

    def _list(self, tokens: "list[Token]", depth: int) -> None:
        ordered = tokens[0].type == "ordered_list_open"
        number = int(tokens[0].attrs.get("start", 1)) if ordered else 0
        items = _items(tokens)
        last = number + len(items) - 1
        loose = any(_is_loose(item) for item in items)
        for index, item in enumerate(items):
            if index and loose:
                self._gap()
            marker = f"{number + index}." if ordered else _BULLETS[min(depth, 2)]
            marker = marker.rjust(len(f"{last}.")) if ordered else marker
            first: Spans = ((f"{marker} ", ink("bullet")),)
            self._within(
                _Margin(_task_marker(item) or first, ((" " * span_width(first), PLAIN),)),
                item[1:-1],
                tight=not loose,
                depth=depth + 1,
            )

    def _within(
        self,
        margin: _Margin,
        tokens: "list[Token]",
        *,
        base: Ink | None = None,
        tight: bool = False,
        depth: int = 0,
    ) -> None:
        outer, self._base = self._base, base if base is not None else self._base
        self._margins.append(margin)
        if tokens:
            self.blocks(tokens, tight=tight, depth=depth)
        else:
            self._rows([Line()])
        self._margins.pop()
        self._base = outer

    def _text(self, token: "Token", base: Ink) -> None:
        for spans in inline_spans(token.children or [], base):
            self._rows(wrap(_without_task(spans) if self._margins else spans, self._room()))

    def _room(self) -> int:
        return max(_NARROWEST, self._width - sum(margin.width for margin in self._margins))

    def _rows(self, lines: list[Line]) -> None:
        self.lines += [line.indented(self._prefix()) for line in lines]

    def _gap(self) -> None:
        self.lines.append(Line().indented(tuple(span for margin in self._margins for span in margin.rest)))

    def _prefix(self) -> Spans:
        return tuple(span for margin in self._margins for span in margin.take())


def _end_of(tokens: "list[Token]", start: int) -> int:
    # The index of the token that closes the one at `start`.
    depth = 0
    for index in range(start, len(tokens)):
        depth += tokens[index].nesting
        if depth == 0:
            return index
    return len(tokens) - 1


def _items(tokens: "list[Token]") -> "list[list[Token]]":
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
        return (("☐ ", ink("bullet")),)
    if text[:4].lower() == "[x] ":
        return (("☑ ", ink("done")),)
    return ()


def _without_task(spans: list[Span]) -> list[Span]:
    if spans and spans[0][0][:4].lower() in ("[ ] ", "[x] "):
        return [(spans[0][0][4:], spans[0][1]), *spans[1:]]
    return spans


@lru_cache(maxsize=8)
def _widths(source: str) -> tuple[int, ...]:
    return tuple(natural_widths(_table(source)))


def _table(source: str) -> Table:
    tokens = parse(source)
    return _read_table(tokens) if tokens and tokens[0].type == "table_open" else Table()


def _read_table(tokens: "list[Token]") -> Table:
    table = Table()
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
