"""Dialog that reviews all open permission requests together."""

from collections.abc import Collection, Sequence
from typing import Literal

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.apply_edit import apply_edit
from kimi_tui.frontend.text.effect_lines import describe_effects
from kimi_tui.frontend.text.request_summary import danger_of, source_of, subject_of
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.approvals.edit_proposal import edit_proposal
from kimi_tui.tui.approvals.request_body import RequestBody, change_counts
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import REVIEW_KEYS
from kimi_tui.tui.widgets.action_button import ActionButton
from kimi_tui.tui.widgets.choice_list import Choice, ChoiceList
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.wire.display_blocks import ShellBlock
from kimi_tui.wire.events import ApprovalResponse
from kimi_tui.wire.requests import ApprovalRequest

ReviewDecision = Literal["accept", "reject"]

_MAX_SHORT_LINES = 4
_MAX_SHORT_CHARS = 300
"""Limits of a command that fits into the dialog."""
REJECTED_AMONG_OTHERS = (
    "the user reviewed the calls of this step together, and rejected this one but not all of them"
)
_DECISION_SIGNS: dict[ReviewDecision | None, str] = {"accept": "✔", "reject": "✗", None: "·"}


class BatchReview(ModalScreen[tuple[ApprovalResponse, ...]]):
    """Dialog to approve or reject requests one by one. Returns the decided responses; undecided requests
    stay open.
    """

    BINDINGS = bindings(REVIEW_KEYS)
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (90, "-roomy")]  # noqa: RUF012

    choices = getters.query_one(ChoiceList)
    body = getters.query_one(RequestBody)

    def __init__(self, requests: Sequence[ApprovalRequest], *, key_labels: KeyLabels) -> None:
        super().__init__()
        self._requests = list(requests)
        self._key_labels = key_labels
        self._decisions: dict[str, ReviewDecision] = {}
        self._edited_texts: dict[str, str] = {}
        self._is_editing = False
        self._seen: set[str] = set()
        """Ids of the requests with commands that have been on the screen in full."""

    def compose(self) -> ComposeResult:
        """Yield the list of requests, the highlighted request, and the actions."""
        name = self._key_labels.first_key
        with Vertical(classes="dialog"):
            yield Static(tr("Review"), classes="dialog-title", markup=False)
            with Horizontal(id="review-both"):
                yield ChoiceList()
                with Vertical(id="review-one"):
                    yield Static(id="review-head", markup=False)
                    yield RequestBody()
            with Horizontal(id="review-actions"):
                yield ActionButton(name("review.accept"), tr("approve"), "decide('accept')")
                yield ActionButton(name("review.reject"), tr("reject"), "decide('reject')")
                yield ActionButton(name("review.answer"), tr("submit"), "answer", id="review-answer")
                yield ActionButton(
                    name("review.accept_all"), tr("approve remaining"), "decide_rest('accept')"
                )
                yield ActionButton(name("review.edit"), tr("edit"), "edit")
            yield Static(id="review-hint", classes="dialog-hint", markup=False)
            yield KeyHints(
                [
                    KeyHint(name("review.close"), tr("close"), "close"),
                    KeyHint(name("review.layout"), tr("columns"), "layout"),
                    KeyHint(name("review.page_down"), tr("page down"), "page(1)"),
                    KeyHint(name("review.page_up"), tr("page up"), "page(-1)"),
                ],
                max_lines=1,
            )

    def on_mount(self) -> None:
        """Show the first request."""
        self._show(0)

    def update_requests(self, open_ids: Collection[str]) -> None:
        """Remove closed requests. Close the review when none are left."""
        still_open = [request for request in self._requests if request.id in open_ids]
        if not still_open:
            self.dismiss(())
        elif len(still_open) < len(self._requests):
            index = min(self.choices.highlighted, len(still_open) - 1)
            self._requests = still_open
            self._show(index)

    @property
    def _highlighted_request(self) -> ApprovalRequest:
        request = self._requests[self.choices.highlighted]
        edited = self._edited_texts.get(request.id)
        return request if edited is None else apply_edit(request, edited)

    def _show(self, index: int) -> None:
        self.choices.show([self._request_choice(request) for request in self._requests])
        self.choices.highlighted = index
        self._show_highlighted()
        decided = sum(request.id in self._decisions for request in self._requests)
        undecided = len(self._requests) - decided
        rest = tr(" · {undecided} undecided", undecided=undecided) if undecided else ""
        self.query_one("#review-hint", Static).update(
            tr(
                "{key} to submit · {decided} decided{rest}",
                key=self._key_labels.first_key("review.answer"),
                decided=decided,
                rest=rest,
            )
            if decided
            else tr("No decisions yet")
        )

    def _request_choice(self, request: ApprovalRequest) -> Choice:
        sign = _DECISION_SIGNS[self._decisions.get(request.id)]
        edited = tr(" (edited)") if request.id in self._edited_texts else ""
        note = change_counts(apply_edit(request, self._edited_texts[request.id]) if edited else request)
        source_name = request.source_description or source_of(request)
        source = f" · {sanitize_line(source_name)}" if self._has_several_sources else ""
        return Choice(value=request.id, label=f"{sign} {subject_of(request)}{edited}{source}", note=note)

    @property
    def _has_several_sources(self) -> bool:
        return len({source_of(request) for request in self._requests}) > 1

    def _show_highlighted(self) -> None:
        request = self._highlighted_request
        danger = danger_of(request)
        source = tr("from {source}", source=sanitize_line(source_of(request)))
        head = f"{sanitize_line(request.sender)} · {source}"
        if danger:
            head += f" · ⚠ {danger}"
        line = self.query_one("#review-head", Static)
        line.update(head)
        line.set_class(bool(danger), "-dangerous")
        self.body.show_request(request)
        if not _has_long_command(request):
            self._seen.add(request.id)

    # keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable all keys while the external editor is open: keys typed ahead must decide nothing."""
        return not self._is_editing and super().check_action(action, parameters)

    def action_move(self, lines: int) -> None:
        """Highlight another request."""
        self.choices.move(lines)
        self._show_highlighted()

    @on(ChoiceList.Chosen)
    def _handle_click(self, event: ChoiceList.Chosen) -> None:
        event.stop()
        self._show_highlighted()

    def action_decide(self, decision: ReviewDecision) -> None:
        """Accept or reject the highlighted request and move to the next undecided one."""
        current = self.choices.highlighted
        if decision == "accept" and self._requests[current].id not in self._seen:
            self._notify_unseen()
            return
        self._decisions[self._requests[current].id] = decision
        others = [*range(current + 1, len(self._requests)), *range(current)]
        undecided = (index for index in others if self._requests[index].id not in self._decisions)
        self._show(next(undecided, current))

    def action_decide_rest(self, decision: ReviewDecision) -> None:
        """Accept or reject every undecided request; accept only commands that have been on the screen."""
        for request in self._requests:
            if decision == "reject" or request.id in self._seen or not _has_long_command(request):
                self._decisions.setdefault(request.id, decision)
            elif request.id not in self._decisions:
                self._notify_unseen()
        self._show(self.choices.highlighted)

    async def action_edit(self) -> None:
        """Edit the highlighted proposal."""
        request = self._highlighted_request
        if request.proposal is None:
            self.notify(
                tr("This request can't be edited. Approve or reject it."), severity="warning", markup=False
            )
            return
        self._is_editing = True
        self.run_worker(self._edit_request(request), group="edit", exclusive=True)

    async def _edit_request(self, request: ApprovalRequest) -> None:
        edited = await edit_proposal(self.app, request)
        self._is_editing = False
        if edited is not None and any(known.id == request.id for known in self._requests):
            self._edited_texts[request.id] = edited
            self._seen.discard(request.id)
            self._decisions.pop(request.id, None)
            self._show(self.choices.highlighted)

    @on(RequestBody.CommandPainted)
    def _handle_painted(self, event: RequestBody.CommandPainted) -> None:
        event.stop()
        self._note_seen()

    def _note_seen(self) -> None:
        if not self.body.n_unseen_rows:
            self._seen.add(self._highlighted_request.id)

    def _notify_unseen(self) -> None:
        self.notify(
            tr("Part of a command hasn't been on the screen yet. Page down first."),
            severity="warning",
            markup=False,
        )

    def action_layout(self) -> None:
        """Toggle between one and two columns in diffs."""
        self.body.toggle_layout()

    def action_page(self, pages: int) -> None:
        """Scroll the highlighted request."""
        self.body.scroll_relative(y=pages * max(self.body.size.height - 1, 1), animate=False)

    def action_answer(self) -> None:
        """Submit the decisions."""
        if self._decisions:
            self.dismiss(self._build_responses())

    def action_close(self) -> None:
        """Close without a decision."""
        self.dismiss(())

    def _build_responses(self) -> tuple[ApprovalResponse, ...]:
        decided = [(request.id, self._decisions.get(request.id)) for request in self._requests]
        accepted = [request_id for request_id, decision in decided if decision == "accept"]
        # A rejection without feedback would end the turn, and with it the accepted and the undecided calls.
        rejects_all = not accepted and len(self._decisions) == len(self._requests)
        feedback = "" if rejects_all else REJECTED_AMONG_OTHERS
        return (
            *(
                ApprovalResponse(request_id, "approve", edited=self._edited_texts.get(request_id))
                for request_id in accepted
            ),
            *(
                ApprovalResponse(request_id, "reject", feedback)
                for request_id, decision in decided
                if decision == "reject"
            ),
        )


def _has_long_command(request: ApprovalRequest) -> bool:
    """Return whether the command, or the list of its effects, may be too long for the screen."""
    if request.effects is not None and len(describe_effects(request.effects)) >= _MAX_SHORT_LINES:
        return True
    return any(
        isinstance(block, ShellBlock)
        and (block.command.count("\n") >= _MAX_SHORT_LINES or len(block.command) > _MAX_SHORT_CHARS)
        for block in request.display
    )
