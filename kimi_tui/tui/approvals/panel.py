"""The approval panel: what the agent wants to do, docked above the prompt until it is answered."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive, var
from textual.widgets import Input, Static

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import retell, say
from kimi_tui.tui.approvals.answers import (
    RESPONSES,
    AnswerChoice,
    ChoiceId,
    choices_for,
    question_of,
    source_of,
)
from kimi_tui.tui.approvals.body import RequestBody, rule_of
from kimi_tui.tui.approvals.edits import with_edit
from kimi_tui.tui.approvals.letters import Letters, letter_of, nothing
from kimi_tui.tui.buttons import ActionButton
from kimi_tui.tui.key_tables import APPROVAL_KEYS
from kimi_tui.tui.keys import KeyNames, bindings
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.display import ShellBlock
from kimi_tui.wire.events import ApprovalResponse
from kimi_tui.wire.requests import ApprovalRequest

GRACE_S = 0.5
"""A key within this time of the panel's appearing was meant for something else."""

_ROWS_FOR_RULE = 8


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


class ApprovalPanel(Vertical, can_focus=True):
    """The open approvals, one at a time."""

    DEFAULT_CSS = """
    ApprovalPanel { height: auto; display: none; }
    ApprovalPanel.-asking { display: block; }
    ApprovalPanel > Horizontal { height: auto; }
    ApprovalPanel Static { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    ApprovalPanel #approval-question { width: 1fr; }
    ApprovalPanel #approval-source { width: auto; max-width: 50%; }
    ApprovalPanel #approval-review { display: none; margin-left: 1; }
    ApprovalPanel.-several #approval-review { display: block; }
    ApprovalPanel RequestBody { height: auto; min-height: 1; }
    """
    BINDINGS = bindings(APPROVAL_KEYS)
    BINDING_GROUP_TITLE = "Approvals"

    state: reactive[ScreenState] = reactive(ScreenState(), repaint=False)
    marked: var[int] = var(0)
    """Index of the marked choice."""

    body = getters.query_one(RequestBody)

    @dataclass
    class Answered(Message):
        """The user answered."""

        response: ApprovalResponse

    @dataclass
    class EditWanted(Message):
        """The user wants to change what is proposed; `take_edit` gets the outcome."""

        request: ApprovalRequest

    class ReviewWanted(Message):
        """The user wants to look at all that is asked, together."""

    class Left(Message):
        """The panel needs the keyboard no more."""

    def __init__(
        self,
        *,
        names: KeyNames,
        clock: Callable[[], float],
        pause_s: float,
        write: Callable[[str], None],
    ) -> None:
        """`write` puts into the prompt, which takes the keyboard, what was typed here and is no answer.

        `pause_s` is how long a letter waits for a second one (`Letters`).
        """
        super().__init__()
        self._names = names
        self._clock = clock
        self._letters = Letters(self, pause_s=pause_s, said=self._pass_on)
        self._write = write
        self._shown: ApprovalRequest | None = None
        self._answered: ApprovalRequest | None = None
        self._edited: str | None = None
        """What the user made of the proposal that is shown."""
        self._in_editor: ApprovalRequest | None = None
        self._shown_at = 0.0
        self._focused_at = 0.0
        self._choices: tuple[AnswerChoice, ...] = ()
        self._rows = 12
        self._asks_again = False
        """Whether the key of a lasting answer was pressed once."""

    def compose(self) -> ComposeResult:
        """Question, what would happen, dangers, choices."""
        with Horizontal():
            yield Static(id="approval-question", markup=False)
            yield Static(id="approval-source", markup=False)
            yield ActionButton(
                self._names.first("approvals.review"), say("review all"), "review", id="approval-review"
            )
        yield RequestBody()
        yield Static(id="approval-danger", markup=False)
        yield Static(id="approval-rule", markup=False)
        yield Horizontal(id="approval-choices")

    def fit(self, rows: int) -> None:
        """Take at most `rows`: the body scrolls, and the choices are always in sight."""
        self._rows = rows
        rule = self.query_one("#approval-rule", Static)
        shown = self._as_edited(self._shown) if self._shown is not None else None
        has_room = rows >= _ROWS_FOR_RULE or self._asks_again
        rule.display = shown is not None and shown.rule is not None and has_room
        danger = shown is not None and bool(danger_of(shown))
        others = 2 + danger + rule.display + self.gutter.height
        self.body.styles.max_height = max(rows - others, 1)

    @property
    def asking(self) -> ApprovalRequest | None:
        """The request that is shown."""
        return self._shown

    @property
    def ready(self) -> bool:
        """Whether the request has been on screen long enough for a key to mean it.

        Keys that were typed ahead of the editor that shows it are not answers.
        """
        is_open = self._shown is not None and self._shown not in (self._answered, self._in_editor)
        return is_open and self._clock() - self._shown_at >= GRACE_S

    async def watch_state(self, state: ScreenState) -> None:
        """Show the request at the head of the queue, if it is an approval."""
        head = state.requests[0] if state.requests else None
        first = head if isinstance(head, ApprovalRequest) else None
        if first is not self._shown:
            self._shown, self._shown_at, self._edited = first, self._clock(), None
            self._letters.forget()
            await self._show(first)
        if first is not None:
            self.set_class(self._several(state), "-several")
            waiting = len(state.requests)
            count = say(" · 1 of {count}", count=waiting) if waiting > 1 else ""
            source = self.query_one("#approval-source", Static)
            source.update(say("from {source}", source=plain_line(source_of(first))) + count)

    async def _show(self, request: ApprovalRequest | None) -> None:
        self.set_class(request is not None, "-asking")
        self.remove_class("-dangerous")
        if request is None:
            if self.has_focus_within:
                self.post_message(self.Left())
            return
        danger = danger_of(request)
        self.set_class(bool(danger), "-dangerous")
        is_edited = self._edited is not None
        question = question_of(request, is_edited=is_edited)
        self.query_one("#approval-question", Static).update(plain_line(question))
        line = self.query_one("#approval-danger", Static)
        line.update(f"⚠ {danger}")
        line.display = bool(danger)
        self.body.show_request(request)
        self._choices = choices_for(request, is_edited=is_edited)
        self.marked = 0
        self._tell_rule(again=False)
        await self._show_choices()

    async def _show_choices(self) -> None:
        row = self.query_one("#approval-choices")
        async with self.batch():
            await row.remove_children()
            await row.mount_all(
                [AnswerButton(choice, self._names.first(choice.binding_id)) for choice in self._choices]
            )
        self._mark()

    def watch_marked(self) -> None:
        """Draw the mark."""
        if self.is_mounted:
            self._mark()
            if self._asks_again and not self._is_marked("always"):
                self._tell_rule(again=False)

    def _is_marked(self, choice: ChoiceId) -> bool:
        return self.marked < len(self._choices) and self._choices[self.marked].id == choice

    def _tell_rule(self, *, again: bool) -> None:
        self._asks_again = again
        if self._shown is not None:
            key = self._names.first("approvals.always") if again else ""
            self.query_one("#approval-rule", Static).update(rule_of(self._shown, again=key))
        self.fit(self._rows)

    def _mark(self) -> None:
        for index, button in enumerate(self.query(AnswerButton)):
            button.set_class(index == self.marked, "-marked")

    # answering

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A choice that is not offered has no key; in the feedback's input no choice has."""
        if action == "answer":
            return any(choice.id == parameters[0] for choice in self._choices) and not self._writing
        if action == "review":
            return self._several(self.state) and not self._writing
        if action in ("move", "choose", "scroll", "layout"):
            return not self._writing
        return super().check_action(action, parameters)

    def action_answer(self, choice: ChoiceId) -> None:
        """Answer with that choice. A lasting one is asked for twice: its key may have begun a sentence."""
        if not self.ready:
            return
        if choice == "always" and not self._is_marked(choice):
            self.marked = next(at for at, it in enumerate(self._choices) if it.id == choice)
            self._tell_rule(again=True)
        else:
            self._answer(choice)

    def action_choose(self) -> None:
        """Answer with the marked choice."""
        if self.ready and self.marked < len(self._choices):
            self._answer(self._choices[self.marked].id)

    def action_move(self, places: int) -> None:
        """Mark the choice beside."""
        self.marked = (self.marked + places) % max(len(self._choices), 1)

    def action_scroll(self, lines: int) -> None:
        """Scroll what would happen."""
        self.body.scroll_relative(y=lines, animate=False)

    def action_layout(self) -> None:
        """Show diffs in two columns instead of one, or the other way round."""
        self.body.toggle_layout()

    def action_review(self) -> None:
        """Look at all that is asked, together."""
        if self.ready:
            self.post_message(self.ReviewWanted())

    def action_page(self, pages: int) -> None:
        """Scroll by what is in sight."""
        self.body.scroll_relative(y=pages * max(self.body.size.height - 1, 1), animate=False)

    @on(AnswerButton.Pressed)
    def _clicked(self, event: AnswerButton.Pressed) -> None:
        event.stop()
        if self.ready and self._clock() - self._focused_at >= GRACE_S:
            self._answer(event.choice)

    def app_focused(self) -> None:
        """The terminal got the focus: the click that gave it is no answer."""
        self._focused_at = self._clock()

    def _answer(self, choice: ChoiceId) -> None:
        request = self._shown
        if request is None:
            return
        if choice == "feedback":
            self.run_worker(self._ask_feedback(), group="feedback", exclusive=True)
        elif choice == "edit":
            self._in_editor = request
            self.post_message(self.EditWanted(self._as_edited(request)))
        else:
            self._answered = request  # keys that come before the next one is shown mean nothing
            edited = self._edited if choice == "once" else None
            self.post_message(self.Answered(ApprovalResponse(request.id, RESPONSES[choice], edited=edited)))

    def _as_edited(self, request: ApprovalRequest) -> ApprovalRequest:
        return request if self._edited is None else with_edit(request, self._edited)

    async def take_edit(self, request_id: str, text: str | None) -> None:
        """Show what the user made of a proposal, None for nothing; it is done when they say yes to that."""
        self._in_editor = None
        if text is not None and self._shown is not None and self._shown.id == request_id:
            self._edited = text
            await self._show(with_edit(self._shown, text))

    @staticmethod
    def _several(state: ScreenState) -> bool:
        return sum(isinstance(request, ApprovalRequest) for request in state.requests) > 1

    # feedback

    @property
    def _writing(self) -> bool:
        return bool(self.query("#approval-feedback"))

    async def _ask_feedback(self) -> None:
        row = self.query_one("#approval-choices")
        await row.remove_children()
        field = Input(
            placeholder=say("what to do instead; enter sends, esc goes back"), id="approval-feedback"
        )
        field.cursor_blink = False
        await row.mount(field)
        field.focus()

    @on(Input.Submitted, "#approval-feedback")
    def _feedback_given(self, event: Input.Submitted) -> None:
        event.stop()
        request, feedback = self._shown, event.value.strip()
        if request is not None and feedback:
            self.post_message(self.Answered(ApprovalResponse(request.id, "reject", feedback)))

    async def on_key(self, event: events.Key) -> None:
        """Letters answer or are a sentence; escape in the feedback's input goes back to the choices."""
        if self._writing:
            if event.key == "escape":
                event.stop()
                self.focus()
                self.run_worker(self._show_choices(), group="feedback", exclusive=True)
        elif (letter := letter_of(event)) is None:
            await self._other_key(event)
        elif letter != " " or self._letters.may_be_word or not self.has_focus_within:
            event.stop()
            await self._typed(
                letter, None if letter == " " else self._names.actions(APPROVAL_KEYS).get(event.key)
            )

    async def _other_key(self, event: events.Key) -> None:
        if event.key == "enter":  # it says that the letter was all
            await self._letters.settle()
        else:
            self._letters.forget()

    async def _typed(self, letter: str, action: str | None) -> None:
        if not self.has_focus_within or action is None:  # the prompt may have the keyboard by now
            await self._letters.take(letter, None)
        elif action.startswith("scroll"):
            await self._letters.take(letter, partial(self.app.run_action, action, self), harmless=True)
        elif not self.ready:
            await self._letters.take(letter, nothing)
        else:
            self._mark_at_once(action)
            await self._letters.take(letter, partial(self.app.run_action, action, self))

    def _mark_at_once(self, action: str) -> None:
        """Mark the answer that a letter means; "always" is marked only once it is asked again."""
        for place, choice in enumerate(self._choices):
            if action == f"answer('{choice.id}')" and choice.id != "always":
                self.marked = place

    def _pass_on(self, text: str) -> None:
        self.marked = 0  # what the first letter may have marked
        self._write(text)


def danger_of(request: ApprovalRequest) -> str:
    """Why this is dangerous, in one line; empty when it is not."""
    marks = [block.danger for block in request.display if isinstance(block, ShellBlock) and block.danger]
    return plain_line(retell(request.danger or (marks[0] if marks else "")))
