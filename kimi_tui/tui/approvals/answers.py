"""The answers that an approval can have."""

from dataclasses import dataclass
from typing import Literal

from kimi_tui.wire.events import ApprovalAnswer
from kimi_tui.wire.requests import ApprovalRequest

ChoiceId = Literal["once", "session", "always", "no", "feedback"]

RESPONSES: dict[ChoiceId, ApprovalAnswer] = {
    "once": "approve",
    "session": "approve_for_session",
    "always": "approve_always",
    "no": "reject",
    "feedback": "reject",
}


@dataclass(frozen=True, slots=True)
class AnswerChoice:
    """One way to answer."""

    id: ChoiceId
    binding_id: str
    label: str
    tooltip: str


CHOICES = (
    AnswerChoice("once", "approvals.once", "once", "Let this run, and ask again next time"),
    AnswerChoice("session", "approvals.session", "session", "Let this kind run until the session ends"),
    AnswerChoice("always", "approvals.always", "always", "Write a rule that lets this kind run always"),
    AnswerChoice("no", "approvals.no", "no", "Refuse, and end the turn"),
    AnswerChoice("feedback", "approvals.feedback", "no, and say", "Refuse, and say what to do instead"),
)


def choices_for(request: ApprovalRequest) -> tuple[AnswerChoice, ...]:
    """What can be answered; grants beyond this once only where a rule can say what they cover."""
    if request.rule is None:
        return tuple(choice for choice in CHOICES if choice.id not in ("session", "always"))
    return CHOICES


def question_of(request: ApprovalRequest) -> str:
    """What is asked, in a sentence."""
    act = request.action
    for noun in ("command", "file"):
        act = act.replace(f" {noun}", f" a {noun}", 1)
    return f"Allow {request.sender} to {act}?"


def source_of(request: ApprovalRequest) -> str:
    """Who asks."""
    if request.source_description:
        return request.source_description
    if request.subagent_type:
        return f"sub-agent {request.subagent_type}"
    if request.source_kind == "background_task":
        return f"background task {request.source_id or ''}".strip()
    return "main agent"
