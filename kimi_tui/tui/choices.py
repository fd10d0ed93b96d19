"""A list to choose from: drawn line by line, marked by keys that its owner passes on, or by the mouse."""

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

from kimi_tui.base.terminal import plain_line
from kimi_tui.base.value import value


@value(kw_only=True)
class Choice:
    """One line of the list."""

    value: str
    label: str
    detail: str = ""
    note: str = ""
    """At the right end, such as a key."""
    matched: tuple[int, ...] = ()
    """Which letters of the label the query matched."""
    indent: int = 0
    """Cells before the label."""
    is_heading: bool = False
    """Whether it only names the lines below it."""
    is_in_use: bool = False
    """Whether it is what counts now; a list begins with the mark on it."""


class Choices(ScrollView, can_focus=False):
    """The list. It never takes the focus: keys come from the input that it belongs to."""

    DEFAULT_CSS = """
    Choices { height: auto; overflow-x: hidden; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"choices--marked", "choices--matched", "choices--detail"}

    marked: reactive[int] = reactive(0)
    """Index of the marked line."""

    @dataclass
    class Chosen(Message):
        """A line was clicked."""

        choice: Choice
        was_marked: bool = False
        """Whether it was the marked one before."""

    def __init__(self) -> None:
        super().__init__()
        self._choices: tuple[Choice, ...] = ()
        self._label_cells = 0

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What is listed."""
        return self._choices

    @property
    def choice(self) -> Choice | None:
        """The marked line."""
        return self._choices[self.marked] if self.marked < len(self._choices) else None

    def show(self, choices: Sequence[Choice]) -> None:
        """List `choices` and mark the first."""
        self._choices = tuple(choices)
        labels = [choice.indent + Content(plain_line(choice.label)).cell_length for choice in self._choices]
        self._label_cells = max(labels, default=0)
        self.virtual_size = Size(0, len(self._choices))
        self.marked = 0
        self.scroll_to(y=0, animate=False)
        self.refresh(layout=True)

    def take_most(self, rows: int) -> None:
        """Be no higher than that; what is listed scrolls."""
        self.styles.max_height = max(rows, 3)

    def move(self, lines: int) -> None:
        """Move the mark; past one end it comes out at the other."""
        if not self._choices:
            return
        target = self.marked + lines
        if abs(lines) > 1:
            target = max(0, min(target, len(self._choices) - 1))
        self.marked = target % len(self._choices)

    def watch_marked(self) -> None:
        """Keep the mark in sight."""
        height = max(self.size.height, 1)
        top = round(self.scroll_offset.y)
        if self.marked < top:
            self.scroll_to(y=self.marked, animate=False)
        elif self.marked >= top + height:
            self.scroll_to(y=self.marked - height + 1, animate=False)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One line a choice."""
        return len(self._choices)

    def render_line(self, y: int) -> Strip:
        """Line `y` of what is in sight."""
        index = y + round(self.scroll_offset.y)
        width = self.size.width
        if index >= len(self._choices):
            return Strip.blank(width, self.rich_style)
        style = self.visual_style
        if index == self.marked:
            style = self.get_visual_style("choices--marked")
        line = self._line(self._choices[index], width)
        return Visual.to_strips(self, line, width, 1, style, pad=True)[0]

    def _line(self, choice: Choice, width: int) -> Content:
        label = Content(" " * choice.indent + plain_line(choice.label))
        if choice.is_heading:
            label = label.stylize(self.get_visual_style("choices--matched", partial=True))
        if choice.matched and not choice.indent and label.plain == choice.label:
            for position in choice.matched:
                label = label.stylize(
                    self.get_visual_style("choices--matched", partial=True), position, position + 1
                )
        note = Content(f"  {choice.note} ") if choice.note else Content(" ")
        room = max(width - note.cell_length - 1, 1)
        text = Content.assemble(" ", label)
        if choice.detail:
            gap = " " * (min(self._label_cells, room // 2) - label.cell_length + 2)
            faint = self.get_visual_style("choices--detail", partial=True)
            text = Content.assemble(text, gap or "  ", (plain_line(choice.detail), faint))
        text = text.truncate(room, ellipsis=True, pad=True)
        return Content.assemble(text, (note.plain, self.get_visual_style("choices--detail", partial=True)))

    def on_click(self, event: events.Click) -> None:
        """Choose what is under the mouse."""
        event.stop()
        index = event.y + round(self.scroll_offset.y)
        if index < len(self._choices):
            was_marked, self.marked = index == self.marked, index
            self.post_message(self.Chosen(self._choices[index], was_marked))
