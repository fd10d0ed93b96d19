"""Consent: the options that a client offers, and what each of them means."""

from acp.schema import AllowedOutcome, PermissionOption, RequestPermissionResponse

from kimi_tui.base.terminal import plain_line
from kimi_tui.wire.events import ApprovalAnswer
from kimi_tui.wire.requests import ApprovalRequest

_ANSWERS: dict[str, ApprovalAnswer] = {
    "allow_once": "approve",
    "allow_for_session": "approve_for_session",
    "allow_always": "approve_always",
    "reject": "reject",
}


def options_for(request: ApprovalRequest) -> list[PermissionOption]:
    """What the user may choose. What must be asked for each time can't be allowed for longer."""
    options = [PermissionOption(option_id="allow_once", name="Allow once", kind="allow_once")]
    if request.rule is not None:
        rule = plain_line(request.rule)
        options += [
            PermissionOption(
                option_id="allow_for_session", name=f"Allow {rule} in this session", kind="allow_always"
            ),
            PermissionOption(
                option_id="allow_always", name=f"Always allow {rule} in this project", kind="allow_always"
            ),
        ]
    return [*options, PermissionOption(option_id="reject", name="Reject", kind="reject_once")]


def answer_in(response: RequestPermissionResponse, request: ApprovalRequest) -> ApprovalAnswer | None:
    """What the user chose; None when the turn is to be cancelled. What was not offered is a rejection."""
    if not isinstance(response.outcome, AllowedOutcome):
        return None
    chosen = response.outcome.option_id
    offered = {option.option_id for option in options_for(request)}
    return _ANSWERS[chosen] if chosen in offered else "reject"
