"""Background tasks on the Wire. Not in kimi-cli."""

from typing import Literal

from kimi_tui.base.frozen import frozen

TaskKind = Literal["bash", "agent"]
TaskStatus = Literal["running", "done", "failed", "timed_out", "stopped", "lost"]
"""`stopped`: stopped by the user, the agent or the exit of the program. `lost`: the program was killed while
the task was running.
"""


@frozen
class BackgroundTask:
    """Current state of a background task."""

    id: str
    kind: TaskKind
    description: str
    """Purpose of the task, on one line."""
    command: str = ""
    """Command line, or the agent's prompt."""
    status: TaskStatus = "running"
    started: float = 0.0
    """Start time in seconds since the epoch, like `ended`."""
    ended: float | None = None
    outcome: str = ""
    """How the task ended, such as `exit code 1`."""
    activity: str = ""
    """What the agent is currently doing."""
    output: str = ""
    """Path of the output file."""
    agent_id: str | None = None
    """The sub-agent that runs the task."""


@frozen
class TasksUpdate:
    """Background tasks of the session, oldest first: all running tasks and the most recently ended ones."""

    tasks: tuple[BackgroundTask, ...]


@frozen
class TaskText:
    """Part of a task's output, the reply to ReadTask. Offsets are in bytes."""

    task_id: str
    offset: int
    text: str
    end: int
    """Offset of the next part."""
