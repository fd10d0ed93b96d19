"""A dialog that lets the user choose one of many by typing a part of it."""

from collections.abc import Sequence
from dataclasses import replace

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from kimi_tui.language.saying import say
from kimi_tui.tui import fuzzy
from kimi_tui.tui.choices import Choice, Choices
from kimi_tui.tui.hints import Hint, Hints
from kimi_tui.tui.key_tables import PICKER_KEYS
from kimi_tui.tui.keys import KeyNames, bindings

MOST_SHOWN = 200
_DETAIL_LETTERS = 3
"""With fewer letters, too many details fit by chance."""


class Picker(ModalScreen[str | None]):
    """Choose a value; None when the user closed it."""

    BINDINGS = bindings(PICKER_KEYS)
    AUTO_FOCUS = "Input"

    choices = getters.query_one(Choices)

    def __init__(self, title: str, choices: Sequence[Choice], *, names: KeyNames, hint: str = "") -> None:
        super().__init__()
        self._names = names
        self._title = title
        self._hint = hint
        self._all = tuple(choices)

    def compose(self) -> ComposeResult:
        """Title, input, list."""
        with Vertical(id="picker", classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            field = Input(placeholder=say("type to filter"), id="picker-query")
            field.cursor_blink = False
            yield field
            yield Choices()
            if self._hint:
                yield Static(self._hint, classes="dialog-hint", markup=False)
            close = Hint(self._names.first("picker.close"), say("close"), "close")
            yield Hints([Hint("enter", say("choose"), "choose"), close], most_lines=1)

    def on_mount(self) -> None:
        """Show everything, with the mark on what is in use."""
        self.choices.show(self._all[:MOST_SHOWN])
        self.choices.marked = next((at for at, it in enumerate(self._all[:MOST_SHOWN]) if it.is_in_use), 0)

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        self.choices.show(filtered(self._all, event.value)[:MOST_SHOWN])

    @on(Input.Submitted)
    def action_choose(self) -> None:
        """Take what is marked."""
        if (choice := self.choices.choice) is not None:
            self.dismiss(choice.value)

    @on(Choices.Chosen)
    def _clicked(self, event: Choices.Chosen) -> None:
        self.dismiss(event.choice.value)

    def on_resize(self) -> None:
        """Leave room for what stands around the list."""
        self.choices.take_most(self.size.height // 2)

    def action_move(self, lines: int) -> None:
        """Move the mark."""
        self.choices.move(lines)

    def action_close(self) -> None:
        """Choose nothing."""
        self.dismiss(None)


def filtered(choices: Sequence[Choice], query: str) -> list[Choice]:
    """`choices` whose label, else detail, fits `query`, best first."""
    if not query:
        return list(choices)
    ranked: list[tuple[float, Choice]] = []
    for choice in choices:
        if (by_label := fuzzy.match(query, choice.label)) is not None:
            ranked.append((by_label.score, with_matched(choice, by_label.positions)))
        elif len(query) >= _DETAIL_LETTERS and query.lower() in choice.detail.lower():
            ranked.append((-100.0, choice))
    ranked.sort(key=lambda pair: -pair[0])
    return [choice for _, choice in ranked]


def with_matched(choice: Choice, positions: tuple[int, ...]) -> Choice:
    """`choice` with those letters of its label marked."""
    return replace(choice, matched=positions)
