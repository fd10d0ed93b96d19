"""The row of answers below a request: one is marked; a line for words takes their place when it is wanted."""

from dataclasses import dataclass

from textual import events, on
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import var
from textual.widgets import Input, Static

from kimi_tui.language.saying import say
from kimi_tui.tui.approvals.answers import AnswerChoice, ChoiceId
from kimi_tui.tui.keys import KeyNames


class AnswerButton(Static):
    """One answer; a press and release on it gives it."""

    DEFAULT_CSS = """
    AnswerButton { width: auto; height: 1; padding: 0 1; }
    """

    @dataclass
    class Pressed(Message):
        """The button was clicked."""

        choice: ChoiceId

    def __init__(self, choice: AnswerChoice, key: str) -> None:
        super().__init__(Content.assemble((key, "bold underline"), f" {say(choice.label)}"))
        self.choice = choice
        self.tooltip = say(choice.tooltip)

    def on_click(self, event: events.Click) -> None:
        """Textual makes a click of a press and a release on the same widget."""
        event.stop()
        self.post_message(self.Pressed(self.choice.id))


class AnswerRow(Horizontal):
    """What can be answered, side by side."""

    marked: var[int] = var(0)
    """Index of the marked answer."""

    @dataclass
    class Said(Message):
        """The user wrote what to do instead."""

        text: str

    def __init__(self, *, names: KeyNames) -> None:
        super().__init__(id="approval-choices")
        self._names = names
        self.choices: tuple[AnswerChoice, ...] = ()
        """What can be answered."""

    async def offer(self, choices: tuple[AnswerChoice, ...]) -> None:
        """Show those answers, the first of them marked."""
        self.choices = choices
        self.marked = 0
        await self._show()

    async def _show(self) -> None:
        async with self.batch():
            await self.remove_children()
            await self.mount_all(
                [AnswerButton(choice, self._names.first(choice.binding_id)) for choice in self.choices]
            )
        self.watch_marked()

    @property
    def choice(self) -> ChoiceId | None:
        """The marked answer; None when there is none."""
        return self.choices[self.marked].id if self.marked < len(self.choices) else None

    def mark(self, choice: ChoiceId) -> None:
        """Mark that answer, which is offered."""
        self.marked = next(at for at, offered in enumerate(self.choices) if offered.id == choice)

    def move(self, places: int) -> None:
        """Mark the answer that is so many places to the right; behind the last comes the first."""
        self.marked = (self.marked + places) % max(len(self.choices), 1)

    def watch_marked(self) -> None:
        """Draw the mark."""
        for index, button in enumerate(self.query(AnswerButton)):
            button.set_class(index == self.marked, "-marked")

    # words

    @property
    def is_writing(self) -> bool:
        """Whether there is a line for words in place of the answers."""
        return bool(self.query("#approval-feedback"))

    def ask_words(self) -> None:
        """Let the user write what to do instead."""
        self.run_worker(self._ask_words(), group="feedback", exclusive=True)

    def offer_again(self) -> None:
        """Show the answers in place of the line."""
        self.run_worker(self._show(), group="feedback", exclusive=True)

    async def _ask_words(self) -> None:
        await self.remove_children()
        field = Input(
            placeholder=say("what to do instead; enter sends, esc goes back"), id="approval-feedback"
        )
        field.cursor_blink = False
        await self.mount(field)
        field.focus()

    @on(Input.Submitted)
    def _written(self, event: Input.Submitted) -> None:
        event.stop()
        if text := event.value.strip():
            self.post_message(self.Said(text))
