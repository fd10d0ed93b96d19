"""Styled lines: text with named roles that a theme maps to colors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from rich.cells import cell_len


class TextStyle(NamedTuple):
    """Style of text as roles such as `strong` or `diff-added`. Later roles override earlier roles.

    Text with fixed colors, such as an image, has the roles `#rrggbb` and `on #rrggbb`.
    """

    roles: tuple[str, ...] = ()
    link: str = ""
    """Target of a click: a URL or a file path. Empty without a link."""

    def with_role(self, role: str) -> "TextStyle":
        """Return this style with a role added on top."""
        return _append_role(self, role)

    def with_base_role(self, role: str) -> "TextStyle":
        """Return this style with a role added below all others."""
        return _prepend_role(self, role)


@lru_cache(maxsize=2048)
def _append_role(style: TextStyle, role: str) -> TextStyle:
    return TextStyle((*style.roles, role), style.link)


@lru_cache(maxsize=2048)
def _prepend_role(style: TextStyle, role: str) -> TextStyle:
    return TextStyle((role, *style.roles), style.link)


PLAIN = TextStyle()
_DECORATION = " ▎│▌"

Span = tuple[str, TextStyle]
Spans = tuple[Span, ...]


@lru_cache(maxsize=512)
def text_style(*roles: str) -> TextStyle:
    """Return the style with these roles."""
    return TextStyle(roles)


@dataclass(frozen=True, slots=True)
class StyledLine:
    """One row of text, not yet padded to its width."""

    spans: Spans = ()
    separator: str = "\n"
    """Text before this row in a copy: a line break, or a space or nothing in a wrapped paragraph."""
    margin: int = 0
    """Number of leading characters that are decoration. A copy omits them."""
    fill: TextStyle = PLAIN
    """Style of the cells between the text and the right edge."""

    @property
    def text(self) -> str:
        """All characters of the row."""
        return "".join(text for text, _ in self.spans)

    @property
    def cells(self) -> int:
        """Width of the row in cells."""
        return sum(cell_len(text) for text, _ in self.spans)

    def link_at(self, cell: int) -> str:
        """Return the link target at `cell`. Empty without a link."""
        for text, style in self.spans:
            cell -= cell_len(text)
            if cell < 0:
                return style.link
        return ""

    def character_at(self, cell: int) -> int:
        """Return the index of the character at `cell`, or the row's length beyond its end."""
        for position, character in enumerate(self.text):
            cell -= cell_len(character)
            if cell < 0:
                return position
        return len(self.text)

    def indent(self, margin: Spans) -> "StyledLine":
        """Return this row with `margin` before it. Blanks and bars are decoration, list markers aren't."""
        if not margin:
            return self
        before = "".join(text for text, _ in margin)
        decorated = decoration_length(before)
        if decorated == len(before):
            decorated += self.margin
        return StyledLine((*margin, *self.spans), self.separator, decorated, self.fill)


BLANK = StyledLine()


def join_for_copy(lines: Iterable[StyledLine]) -> str:
    """Return the text of `lines` as copied: without decoration, with wrapped rows joined."""
    text: list[str] = []
    for line in lines:
        if text:
            text.append(line.separator)
        text.append(line.text[line.margin :])
    return "".join(text)


def decoration_length(prefix: str) -> int:
    """Return the number of blanks and bars at the start of `prefix`."""
    return len(prefix) - len(prefix.lstrip(_DECORATION))


def span_width(spans: Sequence[Span]) -> int:
    """Return the width of `spans` in cells."""
    return sum(cell_len(text) for text, _ in spans)
