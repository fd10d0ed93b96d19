"""Pane with a side question and its response."""

from dataclasses import dataclass

from textual import getters
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Static

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import SIDE_QUESTION_KEYS
from kimi_tui.tui.markdown.layout import markdown_lines
from kimi_tui.tui.markdown.styled_line import StyledLine, text_style
from kimi_tui.tui.markdown.wrap import wrap
from kimi_tui.tui.widgets.close_button import CloseButton
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.tui.widgets.line_view import LineView
from kimi_tui.wire.events import BtwBegin, BtwEnd


class SideQuestionPane(Vertical, can_focus=True):
    """Shows the latest side question. It isn't part of the conversation."""

    DEFAULT_CSS = """
    SideQuestionPane { height: auto; }
    SideQuestionPane > Horizontal { height: 1; }
    SideQuestionPane #side-question-text {
        width: 1fr; height: 1; text-wrap: nowrap; text-overflow: ellipsis;
    }
    SideQuestionPane LineView { height: auto; }
    """
    BINDINGS = bindings(SIDE_QUESTION_KEYS)

    view = getters.query_one(LineView)

    class Closed(Message):
        """Posted when the user closes the pane."""

    @dataclass
    class CopyRequested(Message):
        """Posted when the user copies the response as Markdown."""

        text: str

    def __init__(self, begin: BtwBegin, *, key_labels: KeyLabels) -> None:
        super().__init__()
        self._key_labels = key_labels
        self._begin = begin
        self._end: BtwEnd | None = None

    def compose(self) -> ComposeResult:
        """Yield the question, the response and the keys."""
        with Horizontal():
            yield Static(
                tr("by the way: {question}", question=sanitize_line(self._begin.question)),
                id="side-question-text",
                markup=False,
            )
            yield CloseButton()
        yield LineView(self)
        yield KeyHints(max_lines=1)

    def on_mount(self) -> None:
        """Show the keys."""
        self._show_hint()

    @property
    def is_answered(self) -> bool:
        """Whether the response is complete."""
        return self._end is not None

    def finish(self, end: BtwEnd) -> None:
        """Show the response if it belongs to this question."""
        if end.id == self._begin.id:
            self._end = end
            if self.is_mounted:  # the response may arrive before the pane is mounted
                self.view.redraw()
                self._show_hint()

    def fit(self, rows: int) -> None:
        """Use at most `rows` rows."""
        self.view.styles.max_height = max(rows - 2 - self.gutter.height, 1)

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the response, wrapped to `width` cells."""
        end = self._end
        if end is None:
            return wrap([(tr("waiting for the response"), text_style("dim"))], width)
        if end.error is not None:
            return wrap([(sanitize_line(translate_message(end.error)), text_style("failed"))], width)
        return markdown_lines(sanitize(end.response or ""), width)

    def _show_hint(self) -> None:
        hints = [
            KeyHint(
                self._key_labels.first_key("aside.close"),
                tr("close · not part of the conversation"),
                "close",
            )
        ]
        if self.is_answered:
            hints.insert(0, KeyHint(self._key_labels.first_key("aside.copy"), tr("copy"), "copy"))
            up, down = self._key_labels.first_key("aside.up"), self._key_labels.first_key("aside.down")
            hints.append(KeyHint(f"{up} {down}", tr("scroll"), "scroll(1)"))
        self.query_one(KeyHints).show(hints)

    # keys and mouse

    def action_close(self) -> None:
        """Close the pane."""
        self.post_message(self.Closed())

    def action_scroll(self, lines: int) -> None:
        """Scroll the response."""
        self.view.scroll_relative(y=lines, animate=False)

    def action_copy(self) -> None:
        """Copy the response."""
        if self._end is not None and self._end.response is not None:
            self.post_message(self.CopyRequested(self._end.response))
