"""Search input below the conversation."""

from dataclasses import dataclass

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from kimi_tui.i18n.translate import tr, tr_n
from kimi_tui.tui.widgets.action_button import ActionButton


class SearchLine(Horizontal):
    """Incremental search. Up, down and enter move between matches; escape ends the search."""

    DEFAULT_CSS = """
    SearchLine { height: 1; }
    SearchLine Input, SearchLine Input:focus { width: 1fr; height: 1; border: none; padding: 0; }
    SearchLine Static { width: auto; }
    """

    field = getters.query_one(Input)
    count = getters.query_one("#search-count", Static)

    @dataclass
    class Searched(Message):
        """Posted when the text changes. An empty text ends the search."""

        text: str

    @dataclass
    class Stepped(Message):
        """Posted to move to the next match (1) or the previous one (-1)."""

        direction: int

    class Closed(Message):
        """Posted when the search ends."""

    def compose(self) -> ComposeResult:
        """Yield the input, the number of matches, and buttons."""
        yield Static(" / ", markup=False)
        field = Input(placeholder=tr("search the conversation"))
        field.cursor_blink = False
        yield field
        yield Static(id="search-count", markup=False)
        yield ActionButton("↑", "", "step(-1)")
        yield ActionButton("↓", "", "step(1)")
        yield ActionButton("esc", tr("close"), "end")

    def show_count(self, count: int, current: int = 0) -> None:
        """Show the number of matches, and which one is the current one, if any."""
        text = tr_n("{count} match", "{count} matches", count)
        if current:
            text = tr("{current} of {count}", current=current, count=count)
        self.count.update(f" {text} " if self.field.value else " ")

    @on(Input.Changed)
    def _handle_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Searched(event.value))

    @on(Input.Submitted)
    def _handle_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Stepped(-1))

    def on_key(self, event: events.Key) -> None:
        """Handle the keys that end the search or move between matches."""
        if event.key == "escape":
            event.stop()
            self.action_end()
        elif event.key in ("up", "down"):
            event.stop()
            self.action_step(-1 if event.key == "up" else 1)

    def action_step(self, direction: int) -> None:
        """Move to the next match (1) or the previous one (-1)."""
        self.post_message(self.Stepped(direction))

    def action_end(self) -> None:
        """End the search."""
        self.post_message(self.Searched(""))
        self.post_message(self.Closed())
