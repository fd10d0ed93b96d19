"""Text about background tasks, for the model."""

from collections.abc import Sequence

from kimi_tui.wire.background import BackgroundTask

_MAX_DESCRIPTION_CHARS = 200


def task_label(task: BackgroundTask) -> str:
    """Return the id and the description: `bash-1 (run the tests)`."""
    return f"{task.id} ({task.description[:_MAX_DESCRIPTION_CHARS]})"


def format_status(task: BackgroundTask, *, now: float) -> str:
    """Return a task's status on one line."""
    if task.status == "running":
        activity = f", now: {task.activity}" if task.activity else ""
        return f"{task_label(task)}: running for {_format_duration(now - task.started)}{activity}"
    return f"{task_label(task)}: {task.status.replace('_', ' ')}, {task.outcome}{_format_suffix(task)}"


def format_ended(task: BackgroundTask) -> str:
    """Return the note that notifies the model that a task has ended."""
    resume_hint = f' To continue it, start a Task with resume="{task.agent_id}".' if task.agent_id else ""
    event = "was lost" if task.status == "lost" else "has ended"
    return (
        f"Background task {task_label(task)} {event}: {task.outcome}{_format_suffix(task)}. "
        f'TaskOutput(task_id="{task.id}") returns its output.{resume_hint if task.status != "done" else ""}'
    )


def format_running(tasks: Sequence[BackgroundTask]) -> str:
    """Return the list of running tasks, to be added to a compacted conversation; empty without tasks."""
    if not tasks:
        return ""
    lines = (f"- {task_label(task)}" for task in tasks)
    return "\n".join(("Running background tasks (TaskOutput, TaskStop):", *lines))


def format_task_duration(task: BackgroundTask) -> str:
    """Return how long an ended task ran, such as `32 s`; empty if that isn't known."""
    if task.ended is None or task.status == "lost":
        return ""
    return _format_duration(task.ended - task.started)


def _format_suffix(task: BackgroundTask) -> str:
    duration = format_task_duration(task)
    return f" after {duration}" if duration else ""


def format_lost_outcome(ended: bool | None, group: int | None) -> str:
    """Return the outcome of a task that was running when the program was killed.

    `ended` is the result of `kill_orphans` for the task's process `group`.
    """
    cause = "kimi-tui was killed while it ran"
    match ended:
        case True:
            return f"{cause}; its processes were still running and have now been stopped"
        case False:
            return f"{cause}; its processes (group {group}) may still be running"
        case None:
            return cause


def _format_duration(duration: float) -> str:
    whole = max(0, round(duration))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
