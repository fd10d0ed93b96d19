"""Workspace: a view of directories whose changes are kept apart until they are committed."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from kimi_tui.workspaces.command_process import CommandProcess, DirectStarter
from kimi_tui.workspaces.effects import CommitPlan, CommitResult, Effects
from kimi_tui.workspaces.run_report import RunReport

Backend = Literal["overlayfs", "none"]


class Workspace(Protocol):
    """One open workspace. It is a `ProcessStarter`: a `Shell` runs commands in it."""

    @property
    def is_private(self) -> bool:
        """Whether commands see a workspace. Otherwise they change the working directory directly."""
        ...

    @property
    def report(self) -> RunReport:
        """What the last command did besides changing files, known after `finish` if it had bounds."""
        ...

    @property
    def stop_reason(self) -> str:
        """Why the last command was ended before it was done; empty if it wasn't."""
        ...

    async def start_process(
        self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], output: int
    ) -> CommandProcess:
        """Start a command in the view; see `ProcessStarter`. Raises OSError, ValueError."""
        ...

    async def finish(self, output: str = "") -> str:
        """End what the last command left running, and return why it must run directly; empty if it needn't.

        With a reason, discard its effects and run it again without a workspace. `output` is what it
        printed: it may name a failure that the exit status of a pipeline hides.
        """
        ...

    async def effects(self) -> Effects:
        """Return what the commands have changed, in O(changed). Raises OSError."""
        ...

    async def plan(self, *, again: bool = False) -> CommitPlan:
        """Compare the effects with the current working directory, or with the state when they were last read.

        `again` reads them again, since the working directory may have changed since. Raises OSError.
        """
        ...

    async def commit(self, plan: CommitPlan, *, only: Collection[str] | None = None) -> CommitResult:
        """Apply the effects of `plan` to the working directory, and empty the workspace.

        `only` selects paths, which may be conflicts; by default all effects without conflict are applied.
        A path that changed since the plan was made is left alone. Raises OSError if the commit can't start.
        """
        ...

    async def discard(self) -> None:
        """Drop the effects, and empty the workspace."""
        ...


class DirectWorkspace:
    """Workspace of the "none" backend: commands change the working directory directly."""

    is_private = False
    report = RunReport()
    stop_reason = ""

    def __init__(self) -> None:
        self._starter = DirectStarter()

    async def start_process(
        self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], output: int
    ) -> CommandProcess:
        """Implement `Workspace.start_process`."""
        return await self._starter.start_process(argv, cwd=cwd, environment=environment, output=output)

    async def finish(self, output: str = "") -> str:
        """Implement `Workspace.finish`."""
        return ""

    async def effects(self) -> Effects:
        """Implement `Workspace.effects`."""
        return Effects()

    async def plan(self, *, again: bool = False) -> CommitPlan:
        """Implement `Workspace.plan`."""
        return CommitPlan()

    async def commit(self, plan: CommitPlan, *, only: Collection[str] | None = None) -> CommitResult:
        """Implement `Workspace.commit`."""
        return CommitResult()

    async def discard(self) -> None:
        """Implement `Workspace.discard`."""
