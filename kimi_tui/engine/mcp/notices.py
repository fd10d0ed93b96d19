"""Notifications about MCP servers."""

from typing import Literal

from kimi_tui.base.ids import new_id
from kimi_tui.base.message_text import change_text
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.wire.events import Notification


def mcp_notice(title: str, body: str, severity: Literal["info", "warning"] = "warning") -> Notification:
    """Return a notification about MCP servers. Escape sequences are removed from its body."""
    return Notification(
        id=new_id(),
        category="mcp",
        type="mcp",
        source_kind="engine",
        source_id="",
        title=title,
        body=change_text(body, sanitize),
        severity=severity,
    )
