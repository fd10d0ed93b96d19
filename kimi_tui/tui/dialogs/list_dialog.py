"""Base dialog with a list and the details of the highlighted entry below it."""

from typing import ClassVar, Generic, TypeVar

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.dialogs.state_dialog import StateBoundDialog
from kimi_tui.tui.markdown.styled_line import StyledLine
from kimi_tui.tui.widgets.choice_list import ChoiceList
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.tui.widgets.line_view import LineView

ResultT = TypeVar("ResultT")


class ListDialog(StateBoundDialog[ResultT | None], Generic[ResultT]):
    """Handles moving in the list and scrolling the details. Returns None when closed."""

    NAME: ClassVar[str]
    """The widget's id in the style sheet."""
    HEADING: ClassVar[str]
    """The initial title."""

    choices = getters.query_one(ChoiceList)
    details = getters.query_one(LineView)
    title_line = getters.query_one(".dialog-title", Static)

    def compose(self) -> ComposeResult:
        """Yield the title, the list, the details and the key hints."""
        with Vertical(id=self.NAME, classes="dialog"):
            yield Static(tr(self.HEADING), classes="dialog-title", markup=False)
            yield ChoiceList()
            yield LineView(self)
            yield KeyHints(self._hints())

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the details of the highlighted entry, wrapped to `width` cells."""
        raise NotImplementedError

    def _hints(self) -> list[KeyHint]:
        """Return the key hints."""
        raise NotImplementedError

    def _activate_highlighted(self) -> None:
        """Handle a click on the entry that is already highlighted."""

    @on(ChoiceList.Chosen)
    def _handle_click(self, event: ChoiceList.Chosen) -> None:
        event.stop()
        if event.was_highlighted:
            self._activate_highlighted()

    def action_move(self, lines: int) -> None:
        """Highlight another entry."""
        self.choices.move(lines)

    def action_scroll(self, lines: int) -> None:
        """Scroll the details."""
        self.details.scroll_relative(y=lines, animate=False)

    def action_close(self) -> None:
        """Close the dialog."""
        self.dismiss(None)
