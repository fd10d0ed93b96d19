"""One-line bars made of segments. If there is too little space, the least important segments are left out."""

from collections.abc import Sequence

from textual.content import Content
from textual.style import Style

from kimi_tui.base.frozen import frozen


@frozen
class Segment:
    """A part of a bar. Its text is shown literally, never as markup."""

    text: str
    style: str = ""
    importance: int = 50
    action: str = ""
    """Textual action that a click runs."""

    @property
    def content(self) -> Content:
        """The rendered segment."""
        content = Content.styled(self.text, self.style)
        return content.stylize(Style.from_meta({"@click": self.action})) if self.action else content


def fit_segments(
    left: Sequence[Segment], right: Sequence[Segment], width: int, *, gap: str = "  "
) -> Content:
    """Return `left` and `right` at the two ends of `width` cells, with segments joined by `gap`."""
    kept = _drop_least_important([*left, *right], width, len(gap))
    start = Content(gap).join([segment.content for segment in left if segment in kept])
    end = Content(gap).join([segment.content for segment in right if segment in kept])
    padding = width - start.cell_length - end.cell_length
    if padding < 0:
        return start.truncate(width, ellipsis=True)
    return Content.assemble(start, " " * padding, end)


def _drop_least_important(segments: list[Segment], width: int, gap: int) -> list[Segment]:
    kept = list(segments)
    needed = sum(segment.content.cell_length + gap for segment in kept) - gap
    while needed > width and len(kept) > 1:
        least = min(reversed(kept), key=lambda segment: segment.importance)
        kept.remove(least)
        needed -= least.content.cell_length + gap
    return kept
