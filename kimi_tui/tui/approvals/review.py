"""The review: everything that is asked at the moment, accepted or rejected one by one, answered together."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Literal

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import say
from kimi_tui.tui.approvals.body import RequestBody, changes_of
from kimi_tui.tui.approvals.edits import with_edit
from kimi_tui.tui.approvals.summary import danger_of, source_of, subject_of
from kimi_tui.tui.buttons import ActionButton
from kimi_tui.tui.choices import Choice, Choices
from kimi_tui.tui.hints import Hint, Hints
from kimi_tui.tui.key_tables import REVIEW_KEYS
from kimi_tui.tui.keys import KeyNames, bindings
from kimi_tui.wire.events import ApprovalResponse
from kimi_tui.wire.requests import ApprovalRequest

Decision = Literal["accept", "reject"]
Edit = Callable[[ApprovalRequest], Awaitable[str | None]]
"""Lets the user change a proposal; None when they left it as it was."""

REJECTED_AMONG_OTHERS = (
    "the user reviewed the calls of this step together, and rejected this one but not all of them"
)
_MARKS: dict[Decision | None, str] = {"accept": "✔", "reject": "✗", None: "·"}


class Review(ModalScreen[tuple[ApprovalResponse, ...]]):
    """The answers to what was decided; nothing for what was left open."""

    BINDINGS = bindings(REVIEW_KEYS)
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (90, "-roomy")]  # noqa: RUF012

    choices = getters.query_one(Choices)
    body = getters.query_one(RequestBody)

    def __init__(self, requests: Sequence[ApprovalRequest], *, names: KeyNames, edit: Edit) -> None:
        super().__init__()
        self._requests = list(requests)
        self._names = names
        self._edit = edit
        self._decisions: dict[str, Decision] = {}
        self._edited: dict[str, str] = {}
        self._is_editing = False

    def compose(self) -> ComposeResult:
        """The list, what the marked one would do, and the ways to go on."""
        name = self._names.first
        with Vertical(classes="dialog"):
            yield Static(say("Review"), classes="dialog-title", markup=False)
            with Horizontal(id="review-both"):
                yield Choices()
                with Vertical(id="review-one"):
                    yield Static(id="review-head", markup=False)
                    yield RequestBody()
            with Horizontal(id="review-actions"):
                yield ActionButton(name("review.accept"), say("accept"), "decide('accept')")
                yield ActionButton(name("review.reject"), say("reject"), "decide('reject')")
                yield ActionButton(name("review.answer"), say("answer"), "answer", id="review-answer")
                yield ActionButton(name("review.accept_all"), say("accept the rest"), "decide_rest('accept')")
                yield ActionButton(name("review.edit"), say("edit"), "edit")
            yield Static(id="review-hint", classes="dialog-hint", markup=False)
            yield Hints(
                [
                    Hint(name("review.close"), say("close"), "close"),
                    Hint(name("review.layout"), say("columns"), "layout"),
                    Hint(name("review.page_down"), say("a page down"), "page(1)"),
                    Hint(name("review.page_up"), say("a page up"), "page(-1)"),
                ],
                most_lines=1,
            )

    def on_mount(self) -> None:
        """Show the first."""
        self._show(0)

    def keep(self, open_ids: Collection[str]) -> None:
        """Forget what needs no answer any more; close when nothing is left."""
        kept = [request for request in self._requests if request.id in open_ids]
        if not kept:
            self.dismiss(())
        elif len(kept) < len(self._requests):
            at = min(self.choices.marked, len(kept) - 1)
            self._requests = kept
            self._show(at)

    @property
    def _marked(self) -> ApprovalRequest:
        request = self._requests[self.choices.marked]
        edited = self._edited.get(request.id)
        return request if edited is None else with_edit(request, edited)

    def _show(self, at: int) -> None:
        self.choices.show([self._line(request) for request in self._requests])
        self.choices.marked = at
        self._show_marked()
        decided = sum(request.id in self._decisions for request in self._requests)
        left = len(self._requests) - decided
        rest = say("; {left} stay open", left=left) if left else ""
        self.query_one("#review-hint", Static).update(
            say(
                "{answer_key} answers the {decided} that are decided{rest}",
                answer_key=self._names.first("review.answer"),
                decided=decided,
                rest=rest,
            )
            if decided
            else say("Nothing is decided yet")
        )

    def _line(self, request: ApprovalRequest) -> Choice:
        mark = _MARKS[self._decisions.get(request.id)]
        edited = say(" (yours)") if request.id in self._edited else ""
        note = changes_of(with_edit(request, self._edited[request.id]) if edited else request)
        whose = request.source_description or source_of(request)
        source = f" · {plain_line(whose)}" if self._has_several_sources else ""
        return Choice(value=request.id, label=f"{mark} {subject_of(request)}{edited}{source}", note=note)

    @property
    def _has_several_sources(self) -> bool:
        return len({source_of(request) for request in self._requests}) > 1

    def _show_marked(self) -> None:
        request = self._marked
        danger = danger_of(request)
        source = say("from {source}", source=plain_line(source_of(request)))
        head = f"{plain_line(request.sender)} · {source}"
        if danger:
            head += f" · ⚠ {danger}"
        line = self.query_one("#review-head", Static)
        line.update(head)
        line.set_class(bool(danger), "-dangerous")
        self.body.show_request(request)

    # keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that were typed ahead of the editor decide nothing."""
        return not self._is_editing and super().check_action(action, parameters)

    def action_move(self, lines: int) -> None:
        """Show another."""
        self.choices.move(lines)
        self._show_marked()

    @on(Choices.Chosen)
    def _clicked(self, event: Choices.Chosen) -> None:
        event.stop()
        self._show_marked()

    def action_decide(self, decision: Decision) -> None:
        """Accept or reject the marked one and go to the next that is undecided."""
        at = self.choices.marked
        self._decisions[self._requests[at].id] = decision
        places = [*range(at + 1, len(self._requests)), *range(at)]
        undecided = (place for place in places if self._requests[place].id not in self._decisions)
        self._show(next(undecided, at))

    def action_decide_rest(self, decision: Decision) -> None:
        """Accept or reject all that is undecided."""
        for request in self._requests:
            self._decisions.setdefault(request.id, decision)
        self._show(self.choices.marked)

    async def action_edit(self) -> None:
        """Change what the marked one proposes."""
        request = self._marked
        if request.proposal is None:
            self.notify(
                say("This can only be accepted or rejected as it is."), severity="warning", markup=False
            )
            return
        self._is_editing = True
        self.run_worker(self._take_edit(request), group="edit", exclusive=True)

    async def _take_edit(self, request: ApprovalRequest) -> None:
        edited = await self._edit(request)
        self._is_editing = False
        if edited is not None and any(known.id == request.id for known in self._requests):
            self._edited[request.id] = edited
            self._decisions.pop(request.id, None)
            self._show(self.choices.marked)

    def action_layout(self) -> None:
        """Show diffs in two columns instead of one, or the other way round."""
        self.body.toggle_layout()

    def action_page(self, pages: int) -> None:
        """Scroll what would be done."""
        self.body.scroll_relative(y=pages * max(self.body.size.height - 1, 1), animate=False)

    def action_answer(self) -> None:
        """Answer what is decided."""
        if self._decisions:
            self.dismiss(self._answers())

    def action_close(self) -> None:
        """Answer nothing."""
        self.dismiss(())

    def _answers(self) -> tuple[ApprovalResponse, ...]:
        decided = [(request.id, self._decisions.get(request.id)) for request in self._requests]
        accepted = [request_id for request_id, decision in decided if decision == "accept"]
        # A plain no would end the turn, and with it what was accepted or may still be.
        is_last_word = not accepted and len(self._decisions) == len(self._requests)
        why = "" if is_last_word else REJECTED_AMONG_OTHERS
        return (
            *(ApprovalResponse(one, "approve", edited=self._edited.get(one)) for one in accepted),
            *(ApprovalResponse(one, "reject", why) for one, decision in decided if decision == "reject"),
        )
