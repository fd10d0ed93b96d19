"""Notifications about background tasks."""

from collections.abc import Sequence
from typing import Literal

from kimi_tui.base.ids import new_id
from kimi_tui.base.message_text import msg, msg_n
from kimi_tui.tools.background.task_text import format_task_duration, task_label
from kimi_tui.wire.background import BackgroundTask
from kimi_tui.wire.events import Notification


def build_ended_notification(task: BackgroundTask, *, at: float) -> Notification:
    """Return the notification for a task that ended without being stopped, or that was lost.

    `at` is in seconds since the epoch.
    """
    names = {"id": task.id, "description": task.description}
    duration = format_task_duration(task)
    return _build_notification(
        f"task.{task.status}",
        task.id,
        msg("Background task {id} was lost: {description}.", **names)
        if task.status == "lost"
        else msg("Background task {id} has ended: {description}.", **names),
        msg("{outcome}. /tasks shows its output.", outcome=task.outcome)
        if not duration
        else msg("{outcome} after {time}. /tasks shows its output.", outcome=task.outcome, time=duration),
        severity="info" if task.status == "done" else "warning",
        at=at,
    )


def build_stopped_notification(tasks: Sequence[BackgroundTask]) -> Notification:
    """Return the notification that `tasks` were stopped because the program exits."""
    return _build_notification(
        "task.stopped",
        "",
        msg_n(
            "{count} background task was stopped on exit:",
            "{count} background tasks were stopped on exit:",
            len(tasks),
        ),
        f"{', '.join(map(task_label, tasks))}.",
        severity="warning",
    )


def _build_notification(
    kind: str, task_id: str, title: str, body: str, *, severity: Literal["info", "warning"], at: float = 0.0
) -> Notification:
    return Notification(
        id=new_id(),
        category="task",
        type=kind,
        source_kind="background_task",
        source_id=task_id,
        title=title,
        body=body,
        severity=severity,
        created_at=at,
    )
