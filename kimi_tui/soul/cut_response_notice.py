"""Notices for the user and the model about a response that reached the model's output limit."""

from kimi_tui.base.ids import new_id
from kimi_tui.wire.events import Notification

CUT_NOTE = (
    "Your response reached the output limit, so its last tool call may be incomplete. Check what was done, "
    "and do the rest in smaller parts: write a long file with several calls."
)
"""Note for the model."""


def cut_response_notice() -> Notification:
    """Return the notification for the user."""
    return Notification(
        id=new_id(),
        category="session",
        type="output_limit",
        source_kind="soul",
        source_id="",
        title="The response reached the model's output limit and is incomplete.",
        body="Ask the agent to continue, or raise the model's max_output_tokens.",
        severity="warning",
    )
