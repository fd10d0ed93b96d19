"""Background tasks in words, for the model."""

from collections.abc import Sequence

from kimi_tui.wire.background import BackgroundTask

_LONGEST_DESCRIPTION = 200


def described(task: BackgroundTask) -> str:
    """`bash-1 (run the tests)`."""
    return f"{task.id} ({task.description[:_LONGEST_DESCRIPTION]})"


def status_line(task: BackgroundTask, *, now: float) -> str:
    """How a task stands, on one line."""
    if task.status == "running":
        doing = f", now: {task.activity}" if task.activity else ""
        return f"{described(task)}: running for {_seconds(now - task.started)}{doing}"
    return f"{described(task)}: {task.status.replace('_', ' ')}, {task.outcome}{lasted(task)}"


def ended_note(task: BackgroundTask) -> str:
    """What the model is told when a task has ended."""
    again = f' A new task with resume="{task.agent_id}" lets its agent go on.' if task.agent_id else ""
    what = "was lost" if task.status == "lost" else "has ended"
    return (
        f"Background task {described(task)} {what}: {task.outcome}{lasted(task)}. "
        f'TaskOutput(task_id="{task.id}") gives its output.{again if task.status != "done" else ""}'
    )


def restated(tasks: Sequence[BackgroundTask]) -> str:
    """The tasks that run, for a conversation that was compacted. Empty when there are none."""
    if not tasks:
        return ""
    lines = (f"- {described(task)}" for task in tasks)
    return "\n".join(("Background tasks that run (TaskOutput, TaskStop):", *lines))


def lasted(task: BackgroundTask) -> str:
    """` after 32 s`; empty when nobody knows."""
    if task.ended is None or task.status == "lost":
        return ""
    return f" after {_seconds(task.ended - task.started)}"


def lost_outcome(ended: bool | None, group: int | None) -> str:
    """What became of a task that the program left behind: of its processes, when it had some."""
    what = "kimi-tui ended at once while it ran"
    match ended:
        case True:
            return f"{what}; its processes went on and were ended now"
        case False:
            return f"{what}; whether its processes (group {group}) still run is not known"
        case None:
            return what


def _seconds(duration: float) -> str:
    whole = max(0, round(duration))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
