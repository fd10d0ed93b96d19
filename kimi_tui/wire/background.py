"""Background tasks on the Wire: what runs behind the conversation. All of it is ours."""

from typing import Literal

from kimi_tui.base.value import value

TaskKind = Literal["bash", "agent"]
TaskStatus = Literal["running", "done", "failed", "timed_out", "stopped", "lost"]
"""`stopped`: by somebody, or since the program ended; `lost`: the program was killed while it ran."""


@value
class BackgroundTask:
    """One task, as it stands."""

    id: str
    kind: TaskKind
    description: str
    """What it is for, on one line."""
    command: str = ""
    """The command line, or what the agent was told."""
    status: TaskStatus = "running"
    started: float = 0.0
    """In seconds since the epoch, as is `ended`."""
    ended: float | None = None
    outcome: str = ""
    """How it ended, in a few words, such as `exit code 1`."""
    activity: str = ""
    """What an agent is doing right now."""
    output: str = ""
    """The file that holds its output."""
    agent_id: str | None = None
    """The sub-agent that works on it."""


@value
class TasksUpdate:
    """The background tasks of the session, oldest first: all that run, and the latest that have ended."""

    tasks: tuple[BackgroundTask, ...]


@value
class TaskText:
    """A piece of a task's output: the answer to ReadTask. Offsets count bytes."""

    task_id: str
    offset: int
    text: str
    end: int
    """Where the next piece begins."""
