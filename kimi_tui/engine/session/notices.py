"""Notices from the engine to the user."""

from typing import Literal

from kimi_tui.base.ids import new_id
from kimi_tui.wire.events import Notification

Severity = Literal["info", "warning", "error"]


def build_notice(
    title: str, body: str, *, category: str = "session", source_id: str = "", severity: Severity = "info"
) -> Notification:
    """Return a notice from the engine. `source_id` is the ID of the session that the notice is about."""
    return Notification(
        id=new_id(),
        category=category,
        type="notice",
        source_kind="engine",
        source_id=source_id,
        title=title,
        body=body,
        severity=severity,
    )
