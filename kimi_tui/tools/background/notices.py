"""What the user is told of background tasks."""

from collections.abc import Sequence
from typing import Literal

from kimi_tui.base.identity import new_id
from kimi_tui.tools.background.words import described, lasted
from kimi_tui.wire.background import BackgroundTask
from kimi_tui.wire.events import Notification


def ended_notice(task: BackgroundTask, *, at: float) -> Notification:
    """A task has ended by itself, or was found lost. `at` is in seconds since the epoch."""
    happened = "was lost" if task.status == "lost" else "has ended"
    return _notice(
        f"task.{task.status}",
        task.id,
        f"Background task {task.id} {happened}: {task.description}.",
        f"{task.outcome}{lasted(task)}. /tasks shows its output.",
        severity="info" if task.status == "done" else "warning",
        at=at,
    )


def stopped_notice(tasks: Sequence[BackgroundTask]) -> Notification:
    """These were stopped, since the program ends."""
    return _notice(
        "task.stopped",
        "",
        f"{len(tasks)} background task{' was' if len(tasks) == 1 else 's were'} stopped with kimi-tui:",
        f"{', '.join(map(described, tasks))}.",
        severity="warning",
    )


def _notice(
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
