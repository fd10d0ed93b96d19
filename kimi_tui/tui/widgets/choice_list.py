"""List of choices, rendered line by line."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from kimi_tui.base.frozen import frozen
from kimi_tui.base.terminal_text import sanitize_line


@frozen(kw_only=True)
class Choice:
    """One line of the list."""

    value: str
    label: str
    detail: str = ""
    row: str = ""
    """Row of a table, sanitized and aligned by the caller. Replaces the label and the detail."""
    note: str = ""
    """Text at the right end, such as a key."""
    matched_positions: tuple[int, ...] = ()
    """Positions of the label's characters that match the query."""
    indent: int = 0
    """Cells before the label."""
    is_heading: bool = False
    """Whether this is a heading for the lines below it. The highlight skips headings."""
    is_current: bool = False
    """Whether this is the current value. The list opens with the current value highlighted."""


class ChoiceList(ScrollView, can_focus=False):
    """List of choices. Never takes the focus: its owner forwards keys to the list."""

    DEFAULT_CSS = """
    ChoiceList { height: auto; overflow-x: hidden; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"choices--marked", "choices--matched", "choices--detail"}

    highlighted: reactive[int] = reactive(0)
    """Index of the highlighted line."""

    @dataclass
    class Chosen(Message):
        """Posted when a line is clicked."""

        choice: Choice
        was_highlighted: bool = False
        """Whether the line was highlighted before."""

    def __init__(self) -> None:
        super().__init__()
        self._choices: tuple[Choice, ...] = ()
        self._label_width = 0

    @property
    def choices(self) -> tuple[Choice, ...]:
        """All choices."""
        return self._choices

    @property
    def choice(self) -> Choice | None:
        """The highlighted choice, if any."""
        return self._choices[self.highlighted] if self.highlighted < len(self._choices) else None

    def show(self, choices: Sequence[Choice]) -> None:
        """Show `choices` and highlight the first choice that isn't a heading."""
        self._set_choices(choices)
        self.highlighted = self._skip_headings(0, 1)
        self.scroll_to(y=0, animate=False)

    def replace(self, choices: Sequence[Choice]) -> None:
        """Show other choices. The highlight and the scroll position stay."""
        self._set_choices(choices)
        self.highlighted = min(self.highlighted, max(len(self._choices) - 1, 0))

    def _set_choices(self, choices: Sequence[Choice]) -> None:
        self._choices = tuple(choices)
        labels = [
            choice.indent + Content(sanitize_line(choice.label)).cell_length
            for choice in self._choices
            if not choice.is_heading
        ]
        self._label_width = max(labels, default=0)
        self.virtual_size = Size(0, len(self._choices))
        self.refresh(layout=True)

    def set_max_height(self, rows: int) -> None:
        """Limit the height to `rows`. Longer lists scroll."""
        self.styles.max_height = max(rows, 3)

    def move(self, lines: int) -> None:
        """Move the highlight. Single steps wrap around. Larger steps stop at the ends."""
        if not self._choices:
            return
        target = self.highlighted + lines
        if abs(lines) > 1:
            target = max(0, min(target, len(self._choices) - 1))
        self.highlighted = self._skip_headings(target % len(self._choices), 1 if lines > 0 else -1)

    def _skip_headings(self, index: int, step: int) -> int:
        """Return the index of the first line from `index` on that isn't a heading, else `index`."""
        count = len(self._choices)
        lines = ((index + offset * step) % count for offset in range(count))
        return next((line for line in lines if not self._choices[line].is_heading), index)

    def watch_highlighted(self) -> None:
        """Scroll the highlighted line into view."""
        height = max(self.size.height, 1)
        top = round(self.scroll_offset.y)
        has_heading = self.highlighted > 0 and self._choices[self.highlighted - 1].is_heading
        first = self.highlighted - (1 if has_heading and height > 1 else 0)
        if first < top:
            self.scroll_to(y=first, animate=False)
        elif self.highlighted >= top + height:
            self.scroll_to(y=self.highlighted - height + 1, animate=False)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return one row per choice."""
        return len(self._choices)

    def render_line(self, y: int) -> Strip:
        """Render visible line `y`."""
        index = y + round(self.scroll_offset.y)
        width = self.size.width
        if index >= len(self._choices):
            return Strip.blank(width, self.rich_style)
        style = self.visual_style
        if index == self.highlighted:
            style = self.get_visual_style("choices--marked")
        line = self._render_choice(self._choices[index], width)
        return Visual.to_strips(self, line, width, 1, style, pad=True)[0]

    def _render_choice(self, choice: Choice, width: int) -> Content:
        if choice.row:
            return Content(f" {choice.row}").truncate(width, ellipsis=True, pad=True)
        label = Content(" " * choice.indent + sanitize_line(choice.label))
        if choice.is_heading:
            label = label.stylize(self.get_visual_style("choices--matched", partial=True))
        if choice.matched_positions and not choice.indent and label.plain == choice.label:
            for position in choice.matched_positions:
                label = label.stylize(
                    self.get_visual_style("choices--matched", partial=True), position, position + 1
                )
        note = Content(f"  {choice.note} ") if choice.note else Content(" ")
        text_width = max(width - note.cell_length - 1, 1)
        text = Content.assemble(" ", label)
        if choice.detail:
            gap = " " * (min(self._label_width, text_width // 2) - label.cell_length + 2)
            detail_style = self.get_visual_style("choices--detail", partial=True)
            text = Content.assemble(text, gap or "  ", (sanitize_line(choice.detail), detail_style))
        text = text.truncate(text_width, ellipsis=True, pad=True)
        return Content.assemble(text, (note.plain, self.get_visual_style("choices--detail", partial=True)))

    def on_click(self, event: events.Click) -> None:
        """Highlight and choose the clicked line."""
        event.stop()
        index = event.y + round(self.scroll_offset.y)
        if index < len(self._choices) and not self._choices[index].is_heading:
            was_highlighted, self.highlighted = index == self.highlighted, index
            self.post_message(self.Chosen(self._choices[index], was_highlighted))
