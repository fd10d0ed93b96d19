"""A dialog with a list, and below it what is known of the entry that is marked."""

from typing import ClassVar, Generic, TypeVar

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from kimi_tui.language.saying import say
from kimi_tui.tui.choices import Choices
from kimi_tui.tui.dialogs.following import FollowingDialog
from kimi_tui.tui.hints import Hint, Hints
from kimi_tui.tui.line_view import LineView
from kimi_tui.tui.markdown.line import Line

Answer = TypeVar("Answer")


class ListedDialog(FollowingDialog[Answer | None], Generic[Answer]):
    """Moves in the list and scrolls below it; answers None when it is closed."""

    NAME: ClassVar[str]
    """What the style sheet calls it."""
    HEADING: ClassVar[str]
    """What stands above the list at first."""

    choices = getters.query_one(Choices)
    details = getters.query_one(LineView)
    title_line = getters.query_one(".dialog-title", Static)

    def compose(self) -> ComposeResult:
        """Title, list, what is known of the marked entry, keys."""
        with Vertical(id=self.NAME, classes="dialog"):
            yield Static(say(self.HEADING), classes="dialog-title", markup=False)
            yield Choices()
            yield LineView(self._drawn)
            yield Hints(self._hints())

    def _drawn(self, width: int) -> list[Line]:
        """What is known of the marked entry, in that many columns."""
        raise NotImplementedError

    def _hints(self) -> list[Hint]:
        """The keys that are worth a place."""
        raise NotImplementedError

    def _take_marked(self) -> None:
        """The marked entry was clicked again."""

    @on(Choices.Chosen)
    def _clicked(self, event: Choices.Chosen) -> None:
        event.stop()
        if event.was_marked:
            self._take_marked()

    def action_move(self, lines: int) -> None:
        """Mark another entry."""
        self.choices.move(lines)

    def action_scroll(self, lines: int) -> None:
        """Scroll what is known of the marked one."""
        self.details.scroll_relative(y=lines, animate=False)

    def action_close(self) -> None:
        """Back to work."""
        self.dismiss(None)
