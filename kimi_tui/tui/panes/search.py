"""The search line below the conversation."""

from dataclasses import dataclass

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from kimi_tui.language.saying import say, say_many
from kimi_tui.tui.buttons import ActionButton


class SearchLine(Horizontal):
    """Searches while one types; up, down and enter go through the matches, escape ends it."""

    DEFAULT_CSS = """
    SearchLine { height: 1; }
    SearchLine Input, SearchLine Input:focus { width: 1fr; height: 1; border: none; padding: 0; }
    SearchLine Static { width: auto; }
    """

    field = getters.query_one(Input)
    count = getters.query_one("#search-count", Static)

    @dataclass
    class Searched(Message):
        """The text to look for; empty ends the search."""

        text: str

    @dataclass
    class Stepped(Message):
        """The next match (1), or the one before (-1)."""

        direction: int

    class Closed(Message):
        """The search is over."""

    def compose(self) -> ComposeResult:
        """The field, and how many matches there are."""
        yield Static(" / ", markup=False)
        field = Input(placeholder=say("search the conversation"))
        field.cursor_blink = False
        yield field
        yield Static(id="search-count", markup=False)
        yield ActionButton("↑", "", "step(-1)")
        yield ActionButton("↓", "", "step(1)")
        yield ActionButton("esc", say("ends"), "end")

    def show_count(self, count: int) -> None:
        """Say how many matches there are."""
        text = say_many("{count} match", "{count} matches", count)
        self.count.update(f" {text} " if self.field.value else " ")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Searched(event.value))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Stepped(-1))

    def on_key(self, event: events.Key) -> None:
        """Keys that end the search or go through it."""
        if event.key == "escape":
            event.stop()
            self.action_end()
        elif event.key in ("up", "down"):
            event.stop()
            self.action_step(-1 if event.key == "up" else 1)

    def action_step(self, direction: int) -> None:
        """Go to the next match (1), or the one before."""
        self.post_message(self.Stepped(direction))

    def action_end(self) -> None:
        """End the search."""
        self.post_message(self.Searched(""))
        self.post_message(self.Closed())
