"""Notices: what the engine tells the user by itself."""

from typing import Literal

from kimi_tui.base.identity import new_id
from kimi_tui.wire.events import Notification

Severity = Literal["info", "warning", "error"]


def notice(
    title: str, body: str, *, category: str = "session", source_id: str = "", severity: Severity = "info"
) -> Notification:
    """Something that the user should know, from the engine; `source_id` is the session it is about."""
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
