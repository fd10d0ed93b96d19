"""Answers to a permission request."""

import re
from dataclasses import replace
from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.wire.events import ApprovalAnswer
from kimi_tui.wire.requests import ApprovalRequest

ChoiceId = Literal["once", "session", "always", "direct", "no", "feedback", "edit"]
ALLOWING: frozenset[ChoiceId] = frozenset({"once", "session", "always", "direct"})
"""Choices that let a command take effect. The whole command must have been visible first."""

LabelLength = Literal["full", "short", "shortest"]
_SCOPE = re.compile(r"(?:Bash|Edit|Read)\((?:\./)?([^()]+)\)")
"""Matches a rule about one file, folder or command. The group is the rule's argument, shown as the scope."""
_MAX_SCOPE_CHARS = 28

RESPONSES: dict[ChoiceId, ApprovalAnswer] = {
    "once": "approve",
    "session": "approve_for_session",
    "always": "approve_always",
    "direct": "run_directly",
    "no": "reject",
}
"""Wire responses of the choices that answer immediately. The other choices ask for text first."""


@frozen
class AnswerChoice:
    """One possible answer. Its texts are in English and translated for display."""

    id: ChoiceId
    binding_id: str
    label: str
    tooltip: str
    short_label: str = ""
    """Label for narrow screens, if the full one is long."""
    shortest_label: str = ""
    """Label for screens where the short labels don't fit either. Empty: same as `short_label`."""
    scope: str = ""
    """Calls that the answer allows besides this one, as a file, folder or command. Empty: only this call."""

    def label_text(self, length: LabelLength = "full") -> str:
        """Return the translated label, with the scope unless `length` is "shortest"."""
        if length == "full" or not self.short_label:
            return tr("Yes, for this session: {scope}", scope=self.scope) if self.scope else tr(self.label)
        if length == "short" and self.scope:
            return tr("Session: {scope}", scope=self.scope)
        return tr((length == "shortest" and self.shortest_label) or self.short_label)


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
        tr_lazy("Feedback"),
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

    "Yes, for this session" and "Always allow" require a rule. A proposal that the user edited has neither.
    """
    excluded: set[ChoiceId] = set()
    if request.rule is None or is_edited:
        excluded |= {"session", "always"}
    if request.effects is None:
        excluded.add("direct")
    if request.proposal is None:
        excluded.add("edit")
    return tuple(
        replace(choice, scope=_scope_of(request.rule)) if choice.id == "session" and request.rule else choice
        for choice in CHOICES
        if choice.id not in excluded
    )


def _scope_of(rule: str) -> str:
    match = _SCOPE.fullmatch(rule)
    scope = sanitize_line(match[1] if match else rule)
    return scope if len(scope) <= _MAX_SCOPE_CHARS else f"{scope[: _MAX_SCOPE_CHARS - 1]}…"
