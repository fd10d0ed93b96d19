"""The answers that an approval can have."""

from dataclasses import dataclass
from typing import Literal

from kimi_tui.language.saying import later, retell, say
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


def question_of(request: ApprovalRequest, *, is_edited: bool = False) -> str:
    """What is asked, in a sentence."""
    act = retell(request.action)
    if act == request.action:
        for noun in ("command", "file"):
            act = act.replace(f" {noun}", f" a {noun}", 1)
    if is_edited:
        return say("Allow {sender} to {act}, as you changed it?", sender=request.sender, act=act)
    return say("Allow {sender} to {act}?", sender=request.sender, act=act)


def source_of(request: ApprovalRequest) -> str:
    """Who asks; of a sub-agent also what for, since several may be at work."""
    kind, task = request.subagent_type, request.source_description
    if kind and task:
        return say("sub-agent {kind}: {task}", kind=kind, task=task)
    if kind or task:
        return say("sub-agent {kind}", kind=kind) if kind else str(task)
    if request.source_kind == "background_task":
        return say("background task {id}", id=request.source_id or "").strip()
    return say("main agent")
