"""Base dialog with a list that the user filters by typing part of an entry."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import PICKER_KEYS
from kimi_tui.tui.widgets import fuzzy
from kimi_tui.tui.widgets.choice_list import Choice, ChoiceList
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints

ResultT = TypeVar("ResultT")

MAX_SHOWN = 200
_MIN_DETAIL_QUERY = 3
"""Minimum length of a query that also searches details. Shorter queries match too many entries."""


class FilterDialog(ModalScreen[ResultT | None], Generic[ResultT]):
    """Returns the result of `result_for` for the chosen entry, or None if the user closed the dialog."""

    BINDINGS = bindings(PICKER_KEYS)
    AUTO_FOCUS = "Input"

    choices = getters.query_one(ChoiceList)

    def __init__(
        self, title: str, choices: Sequence[Choice], *, key_labels: KeyLabels, hint: str = ""
    ) -> None:
        super().__init__()
        self._key_labels = key_labels
        self._title = title
        self._hint = hint
        self._all_choices = tuple(choices)

    def compose(self) -> ComposeResult:
        """Yield the title, the input, the list and the key hints."""
        with Vertical(id="picker", classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            field = Input(placeholder=tr("type to filter"), id="picker-query")
            field.cursor_blink = False
            yield field
            yield ChoiceList()
            if self._hint:
                yield Static(self._hint, classes="dialog-hint", markup=False)
            yield from self.compose_details()
            close = KeyHint(self._key_labels.first_key("picker.close"), tr("close"), "close")
            yield KeyHints([KeyHint("enter", tr("choose"), "choose"), close], max_lines=1)

    def compose_details(self) -> ComposeResult:
        """Yield widgets between the list and the key hints."""
        yield from ()

    def result_for(self, choice: Choice) -> ResultT:
        """Return the dialog's result for `choice`."""
        raise NotImplementedError

    def show_choices(self, choices: Sequence[Choice]) -> None:
        """Show the first MAX_SHOWN of `choices`, the entries that match the query."""
        self.choices.show(choices[:MAX_SHOWN])

    def on_mount(self) -> None:
        """Show all choices and highlight the current one."""
        choices = self._find("")[:MAX_SHOWN]
        self.show_choices(choices)
        current = next((index for index, it in enumerate(choices) if it.is_current), None)
        if current is not None:
            self.choices.highlighted = current

    def _find(self, query: str) -> Sequence[Choice]:
        """Return the choices that match `query`, best match first. An empty query matches all."""
        return filter_choices(self._all_choices, query)

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        self.show_choices(self._find(event.value))

    @on(Input.Submitted)
    def action_choose(self) -> None:
        """Return the highlighted choice."""
        if (choice := self.choices.choice) is not None:
            self.dismiss(self.result_for(choice))

    @on(ChoiceList.Chosen)
    def _handle_click(self, event: ChoiceList.Chosen) -> None:
        self.dismiss(self.result_for(event.choice))

    def on_resize(self) -> None:
        """Limit the height of the list so that the rest of the dialog fits."""
        self.choices.set_max_height(self.size.height // 2)

    def action_move(self, lines: int) -> None:
        """Move the highlight."""
        self.choices.move(lines)

    def action_close(self) -> None:
        """Close the dialog without a choice."""
        self.dismiss(None)


def filter_choices(choices: Sequence[Choice], query: str) -> list[Choice]:
    """Return the `choices` whose label or detail matches `query`, best match first."""
    if not query:
        return list(choices)
    ranked: list[tuple[float, Choice]] = []
    for choice in choices:
        if (by_label := fuzzy.match(query, choice.label)) is not None:
            ranked.append((by_label.score, highlight_matches(choice, by_label.positions)))
        elif len(query) >= _MIN_DETAIL_QUERY and query.lower() in choice.detail.lower():
            ranked.append((-100.0, choice))
    ranked.sort(key=lambda pair: -pair[0])
    return [choice for _, choice in ranked]


def highlight_matches(choice: Choice, positions: tuple[int, ...]) -> Choice:
    """Return `choice` with these positions of its label highlighted."""
    return replace(choice, matched_positions=positions)
