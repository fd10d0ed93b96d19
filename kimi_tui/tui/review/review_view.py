"""View of one file of a review, with a cursor on a line."""

from dataclasses import dataclass

from textual import events
from textual.message import Message

from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import REVIEW_LINE_KEYS
from kimi_tui.tui.markdown.styled_line import text_style
from kimi_tui.tui.review.review_lines import ReviewContent, ReviewLines, ReviewPlace
from kimi_tui.tui.transcript.diff_view import Diff
from kimi_tui.tui.transcript.render_cache import GUTTER
from kimi_tui.tui.widgets.line_view import LineView

_MARGIN = 3
"""Lines above and below the cursor that stay visible."""


class ReviewView(LineView, can_focus=True, inherit_bindings=False):
    """Shows the hunks of a file. Handles the keys that move the cursor; the review screen handles others."""

    BINDINGS = bindings(REVIEW_LINE_KEYS)
    MARKER = ("❯ ", text_style("user-bar", "strong"))

    class HunkToggled(Message):
        """Sent when the user clicks the check box of the current hunk."""

    class LineOpened(Message):
        """Sent when the user double-clicks a line."""

    @dataclass
    class PlaceChanged(Message):
        """Sent when the cursor moves."""

        place: ReviewPlace | None

    def __init__(self) -> None:
        super().__init__()
        self._content: ReviewContent | None = None
        self._review_lines: ReviewLines | None = None
        self._diffs: dict[str, Diff] = {}
        self._place: ReviewPlace | None = None

    @property
    def place(self) -> ReviewPlace | None:
        """The place of the line at the cursor. None before a file is shown."""
        return self._place

    def show_content(self, content: ReviewContent) -> None:
        """Show a file. If it is the same file as before, keep the cursor and the scroll position."""
        is_same = self._content is not None and self._content.file.path == content.file.path
        position = round(self.scroll_offset.y)
        if self._content is None or self._content.file.hunks != content.file.hunks:
            self._diffs = {}
        self._content = content
        self._review_lines = ReviewLines(content, self._diffs)
        self.show(self._review_lines)
        self._prepare()
        if is_same:
            self.scroll_to(y=position, animate=False)
            self._set_index(self._find(self._place))
        else:
            self._place = None
            self._set_index(self._first_change())

    def action_move(self, lines: int) -> None:
        """Move the cursor by lines."""
        self._step([at for at, place in enumerate(self._places) if place is not None], lines)

    def action_move_hunk(self, hunks: int) -> None:
        """Move the cursor to the heading of another hunk."""
        self._step([at for at, place in enumerate(self._places) if place and place.is_heading], hunks)

    def action_page(self, pages: int) -> None:
        """Move the cursor by pages."""
        self.action_move(pages * max(self.size.height - 2, 1))

    def action_edge(self, direction: int) -> None:
        """Move the cursor to the first or the last line."""
        self.action_move(direction * len(self._places))

    def on_resize(self) -> None:
        """Keep the cursor on its line."""
        self._prepare()
        self._set_index(self._find(self._place))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked line. A click on a check box toggles the box."""
        offset = event.get_content_offset(self)
        if offset is None or self._review_lines is None:
            return
        event.stop()
        index = offset.y + round(self.scroll_offset.y)
        while 0 < index < len(self._places) and self._places[index] is None:
            index -= 1  # a wrapped line belongs to the one above
        if not index < len(self._places) or self._places[index] is None:
            return
        self._set_index(index, scrolls=False)
        column = self._review_lines.boxes.get(index)
        if column is not None and offset.x - GUTTER >= column:
            self.post_message(self.HunkToggled())
        elif event.chain == 2:
            self.post_message(self.LineOpened())

    @property
    def _places(self) -> list[ReviewPlace | None]:
        return self._review_lines.places if self._review_lines is not None else []

    def _prepare(self) -> None:
        self._lay_out(self.scrollable_content_region.width)

    def _step(self, indexes: list[int], steps: int) -> None:
        """Move the cursor by steps within `indexes`, which are in ascending order."""
        self._prepare()
        if not indexes:
            return
        current = self._highlighted_line if self._highlighted_line is not None else -1
        before = [at for at in indexes if at < current]
        after = [at for at in indexes if at > current]
        target = (after[:steps] or indexes)[-1] if steps > 0 else (before[steps:] or indexes)[0]
        if (steps > 0 and not after) or (steps < 0 and not before):
            target = indexes[-1] if steps > 0 else indexes[0]
        if steps < 0 and target == indexes[0]:
            self.scroll_to(y=0, animate=False)
        self._set_index(target)

    def _first_change(self) -> int | None:
        return next((at for at, place in enumerate(self._places) if place is not None), None)

    def _find(self, place: ReviewPlace | None) -> int | None:
        """Return the index of a place, or of the most similar place."""
        if place is None:
            return self._first_change()
        candidates = [(at, it) for at, it in enumerate(self._places) if it is not None]
        exact = [at for at, it in candidates if it == place]
        same_comment = [
            at for at, it in candidates if it.comment and place.comment and it.comment.id == place.comment.id
        ]
        same_line = [
            at
            for at, it in candidates
            if (it.line, it.removed_line, it.is_heading) == (place.line, place.removed_line, place.is_heading)
            and it.comment is None
        ]
        fallback = min(self._highlighted_line or 0, len(self._places) - 1)
        nearest = min((at for at, _ in candidates), key=lambda at: abs(at - fallback), default=None)
        return next(iter([*exact, *same_comment, *same_line]), nearest)

    def _set_index(self, index: int | None, *, scrolls: bool = True) -> None:
        self._highlighted_line = index
        self._place = self._places[index] if index is not None else None
        height = self.size.height
        if index is not None and scrolls and height:
            top = round(self.scroll_offset.y)
            margin = min(_MARGIN, max((height - 1) // 2, 0))
            if index < top + margin:
                self.scroll_to(y=max(index - margin, 0), animate=False)
            elif index > top + height - 1 - margin:
                self.scroll_to(y=index - height + 1 + margin, animate=False)
        self.refresh()
        self.post_message(self.PlaceChanged(self._place))
