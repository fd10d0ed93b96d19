"""Panel for permission requests, docked above the prompt."""

from dataclasses import dataclass
from typing import assert_never

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.answer_choices import ALLOWING, RESPONSES, ChoiceId, choices_for
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.text.request_summary import danger_of, question_of, rule_of, source_of
from kimi_tui.i18n.translate import tr, tr_n
from kimi_tui.tui.approvals.answer_row import AnswerButton, AnswerRow
from kimi_tui.tui.approvals.pending_approval import PendingApproval
from kimi_tui.tui.approvals.request_body import RequestBody
from kimi_tui.tui.approvals.request_panel import InputKind, KeyboardConfig, RequestPanel
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import APPROVAL_KEYS
from kimi_tui.tui.widgets.action_button import ActionButton
from kimi_tui.wire.events import ApprovalAnswer, ApprovalResponse
from kimi_tui.wire.requests import ApprovalRequest

_MIN_ROWS_FOR_RULE = 8


class ApprovalPanel(RequestPanel):
    """Shows the open permission requests, one at a time."""

    DEFAULT_CSS = """
    ApprovalPanel { height: auto; display: none; }
    ApprovalPanel.-open { display: block; }
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

    state: reactive[SessionViewState] = reactive(SessionViewState(), repaint=False)

    body = getters.query_one(RequestBody)

    @dataclass
    class Answered(Message):
        """Posted when the user answered a request."""

        response: ApprovalResponse

    @dataclass
    class EditRequested(Message):
        """Posted when the user wants to edit the proposal. Pass the result to `apply_edit_result`."""

        request: ApprovalRequest

    class ReviewRequested(Message):
        """Posted when the user wants to review all open requests together."""

    class FocusReleased(Message):
        """Posted when the panel no longer needs the focus."""

    def __init__(self, *, keyboard: KeyboardConfig) -> None:
        super().__init__(keyboard=keyboard, keys=APPROVAL_KEYS)
        self._answers = AnswerRow(key_labels=keyboard.key_labels)
        self._approval: PendingApproval | None = None
        self._max_rows = 12
        self._edits_rule = False
        """Whether the user sees or edits the rule that "Always allow" adds."""

    def compose(self) -> ComposeResult:
        """Yield the question, the request's content, its danger, its rule and the answers."""
        with Horizontal():
            yield Static(id="approval-question", markup=False)
            yield Static(id="approval-source", markup=False)
            yield ActionButton(
                self._keyboard.key_labels.first_key("approvals.review"),
                tr("review all"),
                "review",
                id="approval-review",
            )
        yield RequestBody()
        yield Static(id="approval-more", markup=False)
        yield Static(id="approval-danger", markup=False)
        yield Static(id="approval-rule", markup=False)
        yield self._answers

    def set_max_rows(self, rows: int) -> None:
        """Use at most `rows` rows. The body scrolls, so the answers are always visible."""
        self._max_rows = rows
        rule = self.query_one("#approval-rule", Static)
        shown = self._approval.proposed_request if self._approval is not None else None
        has_room = rows >= _MIN_ROWS_FOR_RULE and not self.body.has_rule
        is_visible = self._edits_rule or has_room
        rule.display = shown is not None and shown.rule is not None and is_visible
        danger = shown is not None and bool(danger_of(shown))
        more = self.query_one("#approval-more", Static)
        others = 2 + danger + rule.display + more.display + self.gutter.height
        self.body.styles.max_height = max(rows - others, 1)

    @property
    def is_ready(self) -> bool:
        """Whether the request has been visible for long enough to accept a key.

        Keys that were typed ahead while the external editor was open are not answers.
        """
        return self._approval is not None and self._approval.stage == "open" and self.accepts_keys

    # display

    async def watch_state(self, state: SessionViewState) -> None:
        """Show the first open request if it is a permission request."""
        head = state.requests[0] if state.requests else None
        first = head if isinstance(head, ApprovalRequest) else None
        if first is not (self._approval.request if self._approval is not None else None):
            self._approval = PendingApproval(first) if first is not None else None
            self.start_grace_period()
            await self._show_approval(self._approval)
        if first is not None:
            self.set_class(_has_several_approvals(state), "-several")
            open_count = len(state.requests)
            count = tr(" · 1 of {count}", count=open_count) if open_count > 1 else ""
            source = self.query_one("#approval-source", Static)
            source.update(tr("from {source}", source=sanitize_line(source_of(first))) + count)

    async def _show_approval(self, approval: PendingApproval | None) -> None:
        self.set_class(approval is not None, "-open")
        self.remove_class("-dangerous")
        if approval is None:
            if self.has_focus_within:
                self.post_message(self.FocusReleased())
            return
        request = approval.proposed_request
        danger = danger_of(request)
        self.set_class(bool(danger), "-dangerous")
        question = question_of(request, is_edited=approval.is_edited)
        self.query_one("#approval-question", Static).update(sanitize_line(question))
        line = self.query_one("#approval-danger", Static)
        line.update(f"⚠ {danger}")
        line.display = bool(danger)
        self.body.show_request(request)
        self.query_one("#approval-more").display = False
        self._show_rule(edited=False)
        await self._answers.show_choices(choices_for(request, is_edited=approval.is_edited))

    def _show_rule(self, *, edited: bool) -> None:
        self._edits_rule = edited
        if self._approval is not None:
            line = tr("Add this rule? Enter to add it, esc to cancel:")
            self.query_one("#approval-rule", Static).update(
                line if edited else rule_of(self._approval.proposed_request)
            )
        self.set_max_rows(self._max_rows)

    def _has_seen_enough(self, choice: ChoiceId) -> bool:
        """Return whether all of the command has been on the screen. True if `choice` doesn't allow it."""
        if choice not in ALLOWING or not self.body.n_unseen_rows:
            return True
        self._show_unseen_rows()
        return False

    @on(RequestBody.RuleMoved)
    def _handle_rule_moved(self, event: RequestBody.RuleMoved) -> None:
        event.stop()
        self.set_max_rows(self._max_rows)

    @on(RequestBody.CommandPainted)
    def _handle_painted(self, event: RequestBody.CommandPainted) -> None:
        event.stop()
        self._show_unseen_rows()

    def _show_unseen_rows(self) -> None:
        """Show how many rows of the command haven't been on the screen yet."""
        count = self.body.n_unseen_rows
        line = self.query_one("#approval-more", Static)
        line.update(tr_n("{count} more line · scroll down", "{count} more lines · scroll down", count))
        if line.display != bool(count):
            line.display = bool(count)
            self.set_max_rows(self._max_rows)

    async def apply_edit_result(self, request_id: str, text: str | None) -> None:
        """Show the edited proposal and ask for approval again. `text` is None if the user changed nothing."""
        approval = self._approval
        if approval is None or approval.request.id != request_id:
            return
        approval.stage = "open"
        if text is not None:
            approval.edited_text = text
            await self._show_approval(approval)

    # keys and mouse

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys of answers that aren't shown, and all keys while the user writes."""
        if action == "answer":
            is_offered = any(choice.id == parameters[0] for choice in self._answers.choices)
            return is_offered and not self._answers.is_writing
        if action == "review":
            return _has_several_approvals(self.state) and not self._answers.is_writing
        if action in ("move", "choose", "scroll", "layout"):
            return not self._answers.is_writing
        return super().check_action(action, parameters)

    def action_answer(self, choice: ChoiceId) -> None:
        """Answer with `choice`."""
        if self.is_ready and self._has_seen_enough(choice):
            self._answer(choice)

    def action_choose(self) -> None:
        """Answer with the highlighted choice."""
        choice = self._answers.choice
        if self.is_ready and choice is not None and self._has_seen_enough(choice):
            self._answer(choice)

    def action_move(self, places: int) -> None:
        """Highlight another choice."""
        self._answers.move(places)

    def action_scroll(self, lines: int) -> None:
        """Scroll the request's content."""
        self.body.scroll_relative(y=lines, animate=False)

    def action_layout(self) -> None:
        """Toggle between one and two columns in diffs."""
        self.body.toggle_layout()

    def action_review(self) -> None:
        """Review all open requests together."""
        if self.is_ready:
            self.post_message(self.ReviewRequested())

    def action_page(self, pages: int) -> None:
        """Scroll the request's content by pages."""
        self.body.scroll_relative(y=pages * max(self.body.size.height - 1, 1), animate=False)

    @on(AnswerButton.Pressed)
    def _handle_click(self, event: AnswerButton.Pressed) -> None:
        event.stop()
        if self.is_ready and self.accepts_clicks and self._has_seen_enough(event.choice):
            self._answer(event.choice)

    async def on_key(self, event: events.Key) -> None:
        """Handle letters as answers or text. Escape closes the input."""
        if not self._answers.is_writing:
            await self.handle_unused_key(event)
        elif event.key == "escape":
            event.stop()
            self.focus()
            self._answers.restore_choices()
            self._show_rule(edited=False)

    def classify_action(self, action: str) -> InputKind:
        """Classify keys that scroll as steps and all others as answers."""
        if action.startswith("scroll"):
            return "step"
        return "answer" if self.is_ready else "nothing"

    def highlight_pending(self, action: str) -> None:
        """Highlight the answer that a letter selects."""
        for choice in self._answers.choices:
            if action == f"answer('{choice.id}')":
                self._answers.highlight(choice.id)

    def handle_text(self, text: str) -> None:
        """Insert `text` into the prompt."""
        self._answers.highlighted = 0  # the first letter may have highlighted another
        super().handle_text(text)

    # answering

    def _answer(self, choice: ChoiceId) -> None:
        approval = self._approval
        if approval is None:
            return
        if choice == "feedback":
            self._answers.show_feedback_input()
        elif choice == "always":
            self._answers.show_rule_input(approval.proposed_request.rule or "")
            self._show_rule(edited=True)
        elif choice == "edit":
            approval.stage = "editing"
            self.post_message(self.EditRequested(approval.proposed_request))
        else:
            edited = approval.edited_text if choice == "once" else None
            self._respond(approval, RESPONSES[choice], edited=edited)

    @on(AnswerRow.TextSubmitted)
    def _handle_text_submitted(self, event: AnswerRow.TextSubmitted) -> None:
        event.stop()
        approval = self._approval
        if approval is None:
            return
        match event.kind:
            case "feedback":
                self._respond(approval, "reject", feedback=event.text)
            case "rule":
                is_edited = event.text != approval.proposed_request.rule
                self._respond(approval, "approve_always", rule=event.text if is_edited else None)
            case _:
                assert_never(event.kind)

    def _respond(
        self,
        approval: PendingApproval,
        answer: ApprovalAnswer,
        *,
        feedback: str = "",
        edited: str | None = None,
        rule: str | None = None,
    ) -> None:
        approval.stage = "answered"  # ignore keys until the next request is shown
        self.post_message(
            self.Answered(ApprovalResponse(approval.request.id, answer, feedback, edited=edited, rule=rule))
        )


def _has_several_approvals(state: SessionViewState) -> bool:
    return sum(isinstance(request, ApprovalRequest) for request in state.requests) > 1
