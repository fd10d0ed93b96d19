"""Interface of a backend."""

from typing import Protocol

from kimi_tui.base.frozen import frozen
from kimi_tui.fleet.attempt import AttemptJob, AttemptResult


@frozen
class AttemptStarted:
    """The process of an attempt has started on this machine."""

    task_id: str
    folder: str
    process: str


BackendEvent = AttemptStarted | AttemptResult


class Backend(Protocol):
    """Runs attempts. Everything that happens is returned by `poll`."""

    name: str
    is_remote: bool
    """Whether attempts may run on other machines: sources, config and budgets then travel with the job."""

    @property
    def slots(self) -> int:
        """How many attempts may be submitted at the same time."""
        ...

    def submit(self, job: AttemptJob) -> None:
        """Start an attempt, or queue it."""
        ...

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """Return what has happened since the last call, after at most `timeout_s`."""
        ...

    def close(self) -> None:
        """Stop all attempts."""
        ...
