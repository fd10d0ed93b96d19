"""The answers that an approval can have."""

from dataclasses import dataclass
from typing import Literal

from kimi_tui.language.saying import later
from kimi_tui.wire.events import ApprovalAnswer
from kimi_tui.wire.requests import ApprovalRequest

ChoiceId = Literal["once", "session", "always", "no", "feedback", "edit"]

RESPONSES: dict[ChoiceId, ApprovalAnswer] = {
    "once": "approve",
    "session": "approve_for_session",
    "always": "approve_always",
    "no": "reject",
}
"""What is answered at once; the other choices ask for more first."""


@dataclass(frozen=True, slots=True)
class AnswerChoice:
    """One way to answer; the words are English until they are shown."""

    id: ChoiceId
    binding_id: str
    label: str
    tooltip: str


CHOICES = (
    AnswerChoice("once", "approvals.once", later("once"), later("Let this run, and ask again next time")),
    AnswerChoice(
        "session", "approvals.session", later("session"), later("Let this kind run until the session ends")
    ),
    AnswerChoice(
        "always", "approvals.always", later("always"), later("Write a rule that lets this kind run always")
    ),
    AnswerChoice("no", "approvals.no", later("no"), later("Refuse, and end the turn")),
    AnswerChoice(
        "feedback",
        "approvals.feedback",
        later("no, and say"),
        later("Refuse, and say what to do instead"),
    ),
    AnswerChoice(
        "edit",
        "approvals.edit",
        later("edit"),
        later("Change what is proposed in your editor, then decide"),
    ),
)


def choices_for(request: ApprovalRequest, *, is_edited: bool = False) -> tuple[AnswerChoice, ...]:
    """What can be answered.

    Grants beyond this once only where a rule can say what they cover, and not for what the user made of it.
    """
    left_out: set[ChoiceId] = set()
    if request.rule is None or is_edited:
        left_out |= {"session", "always"}
    if request.proposal is None:
        left_out.add("edit")
    return tuple(choice for choice in CHOICES if choice.id not in left_out)
