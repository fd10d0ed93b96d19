"""Row of answers below a permission request, and the input that replaces it for feedback or a rule."""

from dataclasses import dataclass
from typing import Literal, get_args

from rich.cells import cell_len
from textual import events, on
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import var
from textual.widgets import Input, Static

from kimi_tui.frontend.answer_choices import AnswerChoice, ChoiceId, LabelLength
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import KeyLabels

_GAP_CELLS = 1
"""Cells between two buttons: their margin in `styles/approvals.tcss`."""
TextKind = Literal["feedback", "rule"]
"""Kind of text that the user writes in the input."""


class AnswerButton(Static):
    """Button for one answer."""

    DEFAULT_CSS = """
    AnswerButton { width: auto; height: 1; padding: 0 1; }
    """

    @dataclass
    class Pressed(Message):
        """Posted when the button is clicked."""

        choice: ChoiceId

    def __init__(self, choice: AnswerChoice, key: str, *, length: LabelLength) -> None:
        super().__init__(Content.assemble((key, "bold underline"), f" {choice.label_text(length)}"))
        self.choice = choice
        self.length = length
        self.tooltip = tr(choice.tooltip)

    def on_click(self, event: events.Click) -> None:
        """Handle a click: a press and a release on the same widget."""
        event.stop()
        self.post_message(self.Pressed(self.choice.id))


class AnswerRow(Horizontal):
    """The possible answers, side by side."""

    highlighted: var[int] = var(0)
    """Index of the highlighted answer."""

    @dataclass
    class TextSubmitted(Message):
        """Posted when the user submits the text of the input."""

        kind: TextKind
        text: str

    def __init__(self, *, key_labels: KeyLabels) -> None:
        super().__init__(id="approval-choices")
        self._key_labels = key_labels
        self.choices: tuple[AnswerChoice, ...] = ()
        """The possible answers."""
        self._text_kind: TextKind = "feedback"

    async def show_choices(self, choices: tuple[AnswerChoice, ...]) -> None:
        """Show `choices` and highlight the first."""
        self.choices = choices
        self.highlighted = 0
        await self._mount_choices()

    async def _mount_choices(self) -> None:
        length = self._fitting_length()
        async with self.batch():
            await self.remove_children()
            await self.mount_all(
                AnswerButton(choice, self._key_labels.first_key(choice.binding_id), length=length)
                for choice in self.choices
            )
        self.watch_highlighted()

    def _fitting_length(self) -> LabelLength:
        """Return the longest label length that fits."""
        lengths: tuple[LabelLength, ...] = get_args(LabelLength)
        return next(
            (each for each in lengths if self._width_of(each) <= (self.size.width or 1e9)), lengths[-1]
        )

    def _width_of(self, length: LabelLength) -> int:
        keys = (self._key_labels.first_key(choice.binding_id) for choice in self.choices)
        labels = (choice.label_text(length) for choice in self.choices)
        widths = (cell_len(f" {key} {label} ") for key, label in zip(keys, labels, strict=True))
        return sum(widths) + _GAP_CELLS * (len(self.choices) - 1)

    def on_resize(self) -> None:
        """Use the longest labels that fit."""
        length = self._fitting_length()
        if any(button.length != length for button in self.query(AnswerButton)):
            self.run_worker(self._mount_choices(), group="feedback", exclusive=True)

    @property
    def choice(self) -> ChoiceId | None:
        """The highlighted answer, if any."""
        return self.choices[self.highlighted].id if self.highlighted < len(self.choices) else None

    def highlight(self, choice: ChoiceId) -> None:
        """Highlight an answer that is shown."""
        self.highlighted = next(index for index, shown in enumerate(self.choices) if shown.id == choice)

    def move(self, places: int) -> None:
        """Move the highlight by `places` to the right, wrapping around."""
        self.highlighted = (self.highlighted + places) % max(len(self.choices), 1)

    def watch_highlighted(self) -> None:
        """Draw the highlight."""
        for index, button in enumerate(self.query(AnswerButton)):
            button.set_class(index == self.highlighted, "-marked")

    # input

    @property
    def is_writing(self) -> bool:
        """Whether the input is shown instead of the answers."""
        return bool(self.query("#approval-text"))

    def show_feedback_input(self) -> None:
        """Open the input for feedback."""
        placeholder = tr("What to do instead · enter to send · esc to cancel")
        self._show_input("feedback", Input(placeholder=placeholder, id="approval-text"))

    def show_rule_input(self, rule: str) -> None:
        """Open the input for the rule to add, with `rule` in it."""
        placeholder = tr("A rule, such as Bash(pytest *) · enter to add · esc to cancel")
        self._show_input(
            "rule", Input(rule, placeholder=placeholder, id="approval-text", select_on_focus=False)
        )

    def _show_input(self, kind: TextKind, field: Input) -> None:
        self._text_kind = kind
        self.run_worker(self._mount_input(field), group="feedback", exclusive=True)

    def restore_choices(self) -> None:
        """Replace the input with the answers."""
        self.run_worker(self._mount_choices(), group="feedback", exclusive=True)

    async def _mount_input(self, field: Input) -> None:
        await self.remove_children()
        field.cursor_blink = False
        await self.mount(field)
        field.focus()

    @on(Input.Submitted)
    def _handle_submit(self, event: Input.Submitted) -> None:
        event.stop()
        if text := event.value.strip():
            self.post_message(self.TextSubmitted(self._text_kind, text))
