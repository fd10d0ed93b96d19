"""The work of a background task: what is to be done, what it may do meanwhile, and how it ended."""

from collections.abc import Awaitable, Callable
from typing import Literal

from kimi_tui.base.value import value
from kimi_tui.tools.background.log import TaskLog
from kimi_tui.wire.background import TaskKind


@value
class Ending:
    """How a task's work ended by itself."""

    status: Literal["done", "failed", "timed_out"]
    outcome: str
    """In a few words."""


class RunningTask:
    """A task as its own work sees it."""

    def __init__(self, task_id: str, log: TaskLog, *, is_doing: Callable[[str], None]) -> None:
        self.id = task_id
        self._log = log
        self._is_doing = is_doing

    @property
    def mark(self) -> str:
        """What tells the processes that it starts from all others."""
        return str(self._log.path)

    def write(self, text: str) -> None:
        """Append to its output."""
        self._log.write(text)

    def is_doing(self, activity: str) -> None:
        """Say what it does right now."""
        self._is_doing(activity)


Work = Callable[[RunningTask], Awaitable[Ending]]


@value(kw_only=True)
class Order:
    """A task to start."""

    kind: TaskKind
    description: str
    command: str
    work: Work
    """Ends all that it started when it is cancelled."""
    call_id: str = ""
    """The tool call that starts it."""
    agent_id: str | None = None
