"""Row of answers below a permission request, and the input that replaces it for feedback."""

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events, on
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import var
from textual.widgets import Input, Static

from kimi_tui.frontend.answer_choices import AnswerChoice, ChoiceId
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import KeyLabels


class AnswerButton(Static):
    """Button for one answer."""

    DEFAULT_CSS = """
    AnswerButton { width: auto; height: 1; padding: 0 1; }
    """

    @dataclass
    class Pressed(Message):
        """Posted when the button is clicked."""

        choice: ChoiceId

    def __init__(self, choice: AnswerChoice, key: str, *, is_short: bool) -> None:
        label = (choice.short_label if is_short else "") or choice.label
        super().__init__(Content.assemble((key, "bold underline"), f" {tr(label)}"))
        self.choice = choice
        self.is_short = is_short
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
    class FeedbackSubmitted(Message):
        """Posted when the user submits feedback."""

        text: str

    def __init__(self, *, key_labels: KeyLabels) -> None:
        super().__init__(id="approval-choices")
        self._key_labels = key_labels
        self.choices: tuple[AnswerChoice, ...] = ()
        """The possible answers."""

    async def show_choices(self, choices: tuple[AnswerChoice, ...]) -> None:
        """Show `choices` and highlight the first."""
        self.choices = choices
        self.highlighted = 0
        await self._mount_choices()

    async def _mount_choices(self) -> None:
        is_short = self._needs_short_labels()
        async with self.batch():
            await self.remove_children()
            await self.mount_all(
                AnswerButton(choice, self._key_labels.first_key(choice.binding_id), is_short=is_short)
                for choice in self.choices
            )
        self.watch_highlighted()

    def _needs_short_labels(self) -> bool:
        """Return whether the full labels don't fit."""
        labels = [
            f" {self._key_labels.first_key(choice.binding_id)} {tr(choice.label)} " for choice in self.choices
        ]
        return 0 < self.size.width < sum(map(cell_len, labels))

    def on_resize(self) -> None:
        """Shorten the labels if the full ones don't fit."""
        is_short = self._needs_short_labels()
        if any(button.is_short != is_short for button in self.query(AnswerButton)):
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

    # feedback

    @property
    def is_writing(self) -> bool:
        """Whether the feedback input is shown instead of the answers."""
        return bool(self.query("#approval-feedback"))

    def show_feedback_input(self) -> None:
        """Open the feedback input."""
        self.run_worker(self._mount_feedback_input(), group="feedback", exclusive=True)

    def restore_choices(self) -> None:
        """Replace the feedback input with the answers."""
        self.run_worker(self._mount_choices(), group="feedback", exclusive=True)

    async def _mount_feedback_input(self) -> None:
        await self.remove_children()
        field = Input(
            placeholder=tr("What to do instead · enter to send · esc to cancel"), id="approval-feedback"
        )
        field.cursor_blink = False
        await self.mount(field)
        field.focus()

    @on(Input.Submitted)
    def _handle_submit(self, event: Input.Submitted) -> None:
        event.stop()
        if text := event.value.strip():
            self.post_message(self.FeedbackSubmitted(text))
