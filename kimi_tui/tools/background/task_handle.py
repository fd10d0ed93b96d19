"""A background task from the side of its work: the request, the running task and the outcome."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

from kimi_tui.base.frozen import frozen
from kimi_tui.tools.background.task_log import TaskLog
from kimi_tui.tools.change_tracker import PendingCommit
from kimi_tui.wire.background import TaskKind


@frozen
class TaskOutcome:
    """How a task ended that wasn't stopped."""

    status: Literal["done", "failed", "timed_out"]
    outcome: str
    """Short description, such as `exit code 0`."""


class TaskOwner(Protocol):
    """Tracks running tasks."""

    def set_activity(self, task_id: str, activity: str) -> None:
        """Set what a task is doing at the moment."""
        ...

    def tracking_commit(self, task_id: str, commit: PendingCommit) -> AbstractAsyncContextManager[None]:
        """Return a context in which the changes of `commit` are recorded as a task's."""
        ...


class RunningTask:
    """A running task, as its own work sees it."""

    def __init__(self, task_id: str, log: TaskLog, owner: TaskOwner) -> None:
        self.id = task_id
        self._log = log
        self._owner = owner

    @property
    def process_marker(self) -> str:
        """Marker that identifies the processes the task starts."""
        return str(self._log.path)

    def write(self, text: str) -> None:
        """Append `text` to the task's output."""
        self._log.write(text)

    def set_activity(self, activity: str) -> None:
        """Set what the task is doing at the moment."""
        self._owner.set_activity(self.id, activity)

    def tracking_commit(self, commit: PendingCommit) -> AbstractAsyncContextManager[None]:
        """Return a context in which the changes of `commit` are recorded as this task's."""
        return self._owner.tracking_commit(self.id, commit)


TaskWork = Callable[[RunningTask], Awaitable[TaskOutcome]]


@frozen(kw_only=True)
class TaskRequest:
    """A task to start."""

    kind: TaskKind
    description: str
    command: str
    work: TaskWork
    """Must end everything it started if it is canceled."""
    call_id: str = ""
    """Id of the tool call that starts the task."""
    agent_id: str | None = None
