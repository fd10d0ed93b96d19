"""Outcomes of timeline commands."""

from collections.abc import Sequence

from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import TimelineCommand
from kimi_tui.wire.events import Notification


async def run_timeline_command(wire: Wire, command: TimelineCommand) -> Sequence[Outgoing]:
    """Run `command` and return all messages sent while it ran. Raises WireClosed."""
    subscription = wire.subscribe()
    try:
        await wire.command_and_wait(command)
        return subscription.pop_pending()
    finally:
        subscription.close()


def find_failure(events: Sequence[Outgoing]) -> Notification | None:
    """Return the notification that explains why a command failed or was canceled; None without notifications.

    This is the first error. Without errors, it is the last notification.
    """
    notifications = [event for event in events if isinstance(event, Notification)]
    last = notifications[-1] if notifications else None
    return next((it for it in notifications if it.severity == "error"), last)
