"""Notifications about background tasks."""

from collections.abc import Sequence
from typing import Literal

from kimi_tui.base.ids import new_id
from kimi_tui.tools.background.task_text import format_duration_suffix, task_label
from kimi_tui.wire.background import BackgroundTask
from kimi_tui.wire.events import Notification


def build_ended_notification(task: BackgroundTask, *, at: float) -> Notification:
    """Return the notification for a task that ended without being stopped, or that was lost.

    `at` is in seconds since the epoch.
    """
    event = "was lost" if task.status == "lost" else "has ended"
    return _build_notification(
        f"task.{task.status}",
        task.id,
        f"Background task {task.id} {event}: {task.description}.",
        f"{task.outcome}{format_duration_suffix(task)}. /tasks shows its output.",
        severity="info" if task.status == "done" else "warning",
        at=at,
    )


def build_stopped_notification(tasks: Sequence[BackgroundTask]) -> Notification:
    """Return the notification that `tasks` were stopped because the program exits."""
    return _build_notification(
        "task.stopped",
        "",
        f"{len(tasks)} background task{' was' if len(tasks) == 1 else 's were'} stopped on exit:",
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
