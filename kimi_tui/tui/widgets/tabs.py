"""Row of tabs, one of which is open."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from textual import events
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static

TabState = Literal["answered", "open"]


class Tab(Static):
    """One tab of the row."""

    DEFAULT_CSS = """
    Tab { width: auto; height: 1; padding: 0 1; }
    """

    @dataclass
    class Chosen(Message):
        """Posted when the tab is clicked."""

        index: int

    def __init__(self, label: str, index: int) -> None:
        super().__init__(label, markup=False)
        self._index = index

    def on_click(self, event: events.Click) -> None:
        """Open the tab."""
        event.stop()
        self.post_message(self.Chosen(self._index))


class Tabs(Horizontal):
    """Shows a row of tabs with the states of their questions. One tab is open."""

    DEFAULT_CSS = """
    Tabs { height: 1; overflow: hidden hidden; }
    """

    def show(self, tabs: Sequence[tuple[str, TabState]], current: int) -> None:
        """Show `tabs`, which are pairs of label and state. `current` is the index of the open tab."""
        existing = list(self.query(Tab))
        for index, (label, state) in enumerate(tabs):
            text = f"✔ {label}" if state == "answered" else label
            if index < len(existing):
                tab = existing[index]
                tab.update(text)
            else:
                tab = Tab(text, index)
                self.mount(tab)
            tab.set_class(index == current, "-current")
        for surplus in existing[len(tabs) :]:
            surplus.remove()
