"""Answers to a permission request."""

from dataclasses import dataclass
from typing import Literal

from kimi_tui.i18n.translate import tr_lazy
from kimi_tui.wire.events import ApprovalAnswer
from kimi_tui.wire.requests import ApprovalRequest

ChoiceId = Literal["once", "session", "always", "direct", "no", "feedback", "edit"]
ALLOWING: frozenset[ChoiceId] = frozenset({"once", "session", "always", "direct"})
"""Choices that let a command take effect: they need a reader who has seen all of it."""

RESPONSES: dict[ChoiceId, ApprovalAnswer] = {
    "once": "approve",
    "session": "approve_for_session",
    "always": "approve_always",
    "direct": "run_directly",
    "no": "reject",
}
"""Wire responses of the choices that answer immediately. The other choices ask for text first."""


@dataclass(frozen=True, slots=True)
class AnswerChoice:
    """One possible answer. Its texts are English until they are shown."""

    id: ChoiceId
    binding_id: str
    label: str
    tooltip: str
    short_label: str = ""
    """Label for narrow screens, if the full one is long."""


CHOICES = (
    AnswerChoice("once", "approvals.once", tr_lazy("Yes"), tr_lazy("Allow this call. Ask again next time.")),
    AnswerChoice(
        "session",
        "approvals.session",
        tr_lazy("Yes, for this session"),
        tr_lazy("Allow calls like this until the session ends."),
        tr_lazy("Session"),
    ),
    AnswerChoice(
        "always",
        "approvals.always",
        tr_lazy("Always allow"),
        tr_lazy("Add a rule that allows calls like this in every session."),
        tr_lazy("Always"),
    ),
    AnswerChoice(
        "direct",
        "approvals.direct",
        tr_lazy("Run it for real"),
        tr_lazy("Discard this result, and run the command again without restrictions."),
        tr_lazy("For real"),
    ),
    AnswerChoice("no", "approvals.no", tr_lazy("No"), tr_lazy("Reject this call and end the turn.")),
    AnswerChoice(
        "feedback",
        "approvals.feedback",
        tr_lazy("No, and tell it what to do instead"),
        tr_lazy("Reject this call and tell the agent what to do instead."),
        tr_lazy("No, with feedback"),
    ),
    AnswerChoice(
        "edit",
        "approvals.edit",
        tr_lazy("Edit"),
        tr_lazy("Edit the proposal in your editor, then decide."),
    ),
)


def choices_for(request: ApprovalRequest, *, is_edited: bool = False) -> tuple[AnswerChoice, ...]:
    """Return the possible answers to `request`.

    Granting for the session or permanently requires a rule, and doesn't apply to a proposal that the user
    edited.
    """
    excluded: set[ChoiceId] = set()
    if request.rule is None or is_edited:
        excluded |= {"session", "always"}
    if request.effects is None:
        excluded.add("direct")
    if request.proposal is None:
        excluded.add("edit")
    return tuple(choice for choice in CHOICES if choice.id not in excluded)
