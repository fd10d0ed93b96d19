"""The approval panel: what the agent wants to do, docked above the prompt until it is answered."""

from dataclasses import dataclass

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import say
from kimi_tui.tui.approvals.answer_row import AnswerButton, AnswerRow
from kimi_tui.tui.approvals.answers import RESPONSES, ChoiceId, choices_for
from kimi_tui.tui.approvals.body import RequestBody
from kimi_tui.tui.approvals.case import Case
from kimi_tui.tui.approvals.hearing import Hearing, Keyboard, Weight
from kimi_tui.tui.approvals.summary import danger_of, question_of, rule_of, source_of
from kimi_tui.tui.buttons import ActionButton
from kimi_tui.tui.key_tables import APPROVAL_KEYS
from kimi_tui.tui.keys import bindings
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.events import ApprovalAnswer, ApprovalResponse
from kimi_tui.wire.requests import ApprovalRequest

_ROWS_FOR_RULE = 8


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

    def __init__(self, *, keyboard: Keyboard) -> None:
        super().__init__()
        self._keyboard = keyboard
        self._hearing = Hearing(
            self,
            keyboard=keyboard,
            keys=APPROVAL_KEYS,
            weigh=self._weigh,
            said=self._pass_on,
            awaited=self._mark_at_once,
        )
        self._answers = AnswerRow(names=keyboard.names)
        self._case: Case | None = None
        self._rows = 12
        self._asks_again = False
        """Whether the key of a lasting answer was pressed once."""

    def compose(self) -> ComposeResult:
        """Question, what would happen, dangers, choices."""
        with Horizontal():
            yield Static(id="approval-question", markup=False)
            yield Static(id="approval-source", markup=False)
            yield ActionButton(
                self._keyboard.names.first("approvals.review"),
                say("review all"),
                "review",
                id="approval-review",
            )
        yield RequestBody()
        yield Static(id="approval-danger", markup=False)
        yield Static(id="approval-rule", markup=False)
        yield self._answers

    def on_mount(self) -> None:
        """See which answer is marked."""
        self.watch(self._answers, "marked", self._mark_moved, init=False)

    def fit(self, rows: int) -> None:
        """Take at most `rows`: the body scrolls, and the choices are always in sight."""
        self._rows = rows
        rule = self.query_one("#approval-rule", Static)
        shown = self._case.proposed if self._case is not None else None
        has_room = rows >= _ROWS_FOR_RULE or self._asks_again
        rule.display = shown is not None and shown.rule is not None and has_room
        danger = shown is not None and bool(danger_of(shown))
        others = 2 + danger + rule.display + self.gutter.height
        self.body.styles.max_height = max(rows - others, 1)

    @property
    def ready(self) -> bool:
        """Whether the request has been on screen long enough for a key to mean it.

        Keys that were typed ahead of the editor that shows it are not answers.
        """
        return self._case is not None and self._case.stage == "open" and self._hearing.takes_keys

    # what is shown

    async def watch_state(self, state: ScreenState) -> None:
        """Show the request at the head of the queue, if it is an approval."""
        head = state.requests[0] if state.requests else None
        first = head if isinstance(head, ApprovalRequest) else None
        if first is not (self._case.request if self._case is not None else None):
            self._case = Case(first) if first is not None else None
            self._hearing.begin()
            await self._show(self._case)
        if first is not None:
            self.set_class(_several(state), "-several")
            waiting = len(state.requests)
            count = say(" · 1 of {count}", count=waiting) if waiting > 1 else ""
            source = self.query_one("#approval-source", Static)
            source.update(say("from {source}", source=plain_line(source_of(first))) + count)

    async def _show(self, case: Case | None) -> None:
        self.set_class(case is not None, "-asking")
        self.remove_class("-dangerous")
        if case is None:
            if self.has_focus_within:
                self.post_message(self.Left())
            return
        request = case.proposed
        danger = danger_of(request)
        self.set_class(bool(danger), "-dangerous")
        question = question_of(request, is_edited=case.is_edited)
        self.query_one("#approval-question", Static).update(plain_line(question))
        line = self.query_one("#approval-danger", Static)
        line.update(f"⚠ {danger}")
        line.display = bool(danger)
        self.body.show_request(request)
        self._tell_rule(again=False)
        await self._answers.offer(choices_for(request, is_edited=case.is_edited))

    def _tell_rule(self, *, again: bool) -> None:
        self._asks_again = again
        if self._case is not None:
            key = self._keyboard.names.first("approvals.always") if again else ""
            self.query_one("#approval-rule", Static).update(rule_of(self._case.proposed, again=key))
        self.fit(self._rows)

    def _mark_moved(self) -> None:
        if self._asks_again and self._answers.choice != "always":
            self._tell_rule(again=False)

    async def take_edit(self, request_id: str, text: str | None) -> None:
        """Show what the user made of a proposal, None for nothing; it is done when they say yes to that."""
        case = self._case
        if case is None or case.request.id != request_id:
            return
        case.stage = "open"
        if text is not None:
            case.edited = text
            await self._show(case)

    # keys and mouse

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A choice that is not offered has no key; in the feedback's input no choice has."""
        if action == "answer":
            is_offered = any(choice.id == parameters[0] for choice in self._answers.choices)
            return is_offered and not self._answers.is_writing
        if action == "review":
            return _several(self.state) and not self._answers.is_writing
        if action in ("move", "choose", "scroll", "layout"):
            return not self._answers.is_writing
        return super().check_action(action, parameters)

    def action_answer(self, choice: ChoiceId) -> None:
        """Answer with that choice. A lasting one is asked for twice: its key may have begun a sentence."""
        if not self.ready:
            return
        if choice == "always" and self._answers.choice != choice:
            self._answers.mark(choice)
            self._tell_rule(again=True)
        else:
            self._answer(choice)

    def action_choose(self) -> None:
        """Answer with the marked choice."""
        if self.ready and (choice := self._answers.choice) is not None:
            self._answer(choice)

    def action_move(self, places: int) -> None:
        """Mark the choice beside."""
        self._answers.move(places)

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
        if self.ready and self._hearing.takes_clicks:
            self._answer(event.choice)

    def app_focused(self) -> None:
        """The terminal got the focus: the click that gave it is no answer."""
        self._hearing.terminal_focused()

    async def on_key(self, event: events.Key) -> None:
        """Letters answer or are a sentence; escape in the feedback's input goes back to the choices."""
        if not self._answers.is_writing:
            await self._hearing.key(event)
        elif event.key == "escape":
            event.stop()
            self.focus()
            self._answers.offer_again()

    def _weigh(self, action: str) -> Weight:
        if action.startswith("scroll"):
            return "step"
        return "answer" if self.ready else "nothing"

    def _mark_at_once(self, action: str) -> None:
        """Mark the answer that a letter means; "always" is marked only once it is asked again."""
        for choice in self._answers.choices:
            if action == f"answer('{choice.id}')" and choice.id != "always":
                self._answers.mark(choice.id)

    def _pass_on(self, text: str) -> None:
        self._answers.marked = 0  # what the first letter may have marked
        self._keyboard.write(text)

    # answering

    def _answer(self, choice: ChoiceId) -> None:
        case = self._case
        if case is None:
            return
        if choice == "feedback":
            self._answers.ask_words()
        elif choice == "edit":
            case.stage = "editing"
            self.post_message(self.EditWanted(case.proposed))
        else:
            self._respond(case, RESPONSES[choice], edited=case.edited if choice == "once" else None)

    @on(AnswerRow.Said)
    def _feedback_given(self, event: AnswerRow.Said) -> None:
        event.stop()
        if self._case is not None:
            self._respond(self._case, "reject", feedback=event.text)

    def _respond(
        self, case: Case, answer: ApprovalAnswer, *, feedback: str = "", edited: str | None = None
    ) -> None:
        case.stage = "answered"  # keys that come before the next one is shown mean nothing
        self.post_message(self.Answered(ApprovalResponse(case.request.id, answer, feedback, edited=edited)))


def _several(state: ScreenState) -> bool:
    return sum(isinstance(request, ApprovalRequest) for request in state.requests) > 1
