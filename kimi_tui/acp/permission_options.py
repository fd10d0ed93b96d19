"""Options of permission requests, and the corresponding answers."""

from acp.schema import AllowedOutcome, PermissionOption, RequestPermissionResponse

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.wire.events import ApprovalAnswer
from kimi_tui.wire.requests import ApprovalRequest

_ANSWERS: dict[str, ApprovalAnswer] = {
    "allow_once": "approve",
    "allow_for_session": "approve_for_session",
    "allow_always": "approve_always",
    "run_directly": "run_directly",
    "reject": "reject",
}


def permission_options(request: ApprovalRequest) -> list[PermissionOption]:
    """Return the options for the user.

    A request without a rule can only be allowed once. A command that has run in a workspace can also be run
    without restrictions.
    """
    options = [PermissionOption(option_id="allow_once", name="Yes", kind="allow_once")]
    if request.rule is not None:
        rule = sanitize_line(request.rule)
        options += [
            PermissionOption(
                option_id="allow_for_session", name=f"Yes, for this session: {rule}", kind="allow_always"
            ),
            PermissionOption(option_id="allow_always", name=f"Always allow {rule}", kind="allow_always"),
        ]
    if request.effects is not None:
        options.append(PermissionOption(option_id="run_directly", name="Run it for real", kind="allow_once"))
    return [*options, PermissionOption(option_id="reject", name="No", kind="reject_once")]


def parse_outcome(response: RequestPermissionResponse, request: ApprovalRequest) -> ApprovalAnswer | None:
    """Return the user's answer; None if the client canceled the request, which cancels the turn.

    An option that wasn't offered counts as a rejection.
    """
    if not isinstance(response.outcome, AllowedOutcome):
        return None
    option_id = response.outcome.option_id
    offered = {option.option_id for option in permission_options(request)}
    return _ANSWERS[option_id] if option_id in offered else "reject"
