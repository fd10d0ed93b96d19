"""One-line bars made of segments; when the line is short, the least important go first."""

from collections.abc import Sequence

from textual.content import Content
from textual.style import Style

from kimi_tui.base.value import value


@value
class Segment:
    """A piece of a bar. Its text is shown as it is, never as markup."""

    text: str
    style: str = ""
    importance: int = 50
    action: str = ""
    """What a click on it does, as a Textual action."""

    @property
    def content(self) -> Content:
        """The piece as it is drawn."""
        content = Content.styled(self.text, self.style)
        return content.stylize(Style.from_meta({"@click": self.action})) if self.action else content


def bar(left: Sequence[Segment], right: Sequence[Segment], width: int, *, gap: str = "  ") -> Content:
    """`left` and `right` at the two ends of `width` cells, joined by `gap`."""
    kept = _fitting([*left, *right], width, len(gap))
    start = Content(gap).join([segment.content for segment in left if segment in kept])
    end = Content(gap).join([segment.content for segment in right if segment in kept])
    space = width - start.cell_length - end.cell_length
    if space < 0:
        return start.truncate(width, ellipsis=True)
    return Content.assemble(start, " " * space, end)


def _fitting(segments: list[Segment], width: int, gap: int) -> list[Segment]:
    kept = list(segments)
    needed = sum(segment.content.cell_length + gap for segment in kept) - gap
    while needed > width and len(kept) > 1:
        least = min(reversed(kept), key=lambda segment: segment.importance)
        kept.remove(least)
        needed -= least.content.cell_length + gap
    return kept
