"""Runs commands of the corpus directly and in workspaces, and compares what they leave."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Literal

from kimi_tui.base.child_environment import ChildEnvironment
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.permission.bash.command_line import parse_command
from kimi_tui.tools.shell.direct_commands import direct_run_reason
from kimi_tui.tools.shell.shell import ExitStatus, Shell
from kimi_tui.workspaces.command_process import DirectStarter, ProcessStarter
from kimi_tui.workspaces.open_record import WorkspaceOwner
from kimi_tui.workspaces.workspace import Workspace
from kimi_tui.workspaces.workspaces import Workspaces
from tests.workspaces.corpus.corpus_command import CorpusCommand
from tests.workspaces.corpus.sample_project import LONG_AGO_S
from tests.workspaces.corpus_environment import CorpusEnvironment
from tests.workspaces.tree_state import EntryState, read_tree, tree_differences

_OWNER = WorkspaceOwner(author=ChangeAuthor(who="call", session="s", call="c", command="corpus"))
_AWAITS_S = 5.0
_OUTPUT_BYTES = 100_000
_TERM_GRACE_S = 0.3
_CLOCK_STEP_NS = 10**9
"""File systems take times from a clock that is behind by a few milliseconds."""

How = Literal["private", "detected", "direct", "skipped"]
"""How a command ran: in a workspace; directly because a workspace said so; directly; not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusResult:
    """What came out of one command."""

    command: CorpusCommand
    how: How
    reason: str = ""
    """Why it didn't run in a workspace."""
    differences: Sequence[str] = ()
    seconds: tuple[float, float] = (0.0, 0.0)
    """Duration directly and with the second way."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command."""

    tree: dict[bytes, EntryState]
    status: ExitStatus
    seconds: float
    how: How = "direct"
    reason: str = ""
    problems: Sequence[str] = ()
    """What kept the effects from being committed."""


class OutputTail:
    """Keeps the end of a command's output."""

    def __init__(self) -> None:
        self._content = b""

    @property
    def text(self) -> str:
        """What is kept."""
        return self._content.decode(errors="replace")

    def receive(self, data: bytes) -> None:
        """Implement `OutputReceiver.receive`."""
        self._content = (self._content + data)[-_OUTPUT_BYTES:]


class FixedEnvironment(ChildEnvironment):
    """The variables of the corpus, whatever those of this process are."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def variables(self) -> Mapping[str, str]:
        """Implement `ChildEnvironment.variables`."""
        return self._variables


class CorpusRunner:
    """Runs commands of the corpus in one environment, one after another."""

    def __init__(self, environment: CorpusEnvironment) -> None:
        self._environment = environment

    async def compare_direct_runs(self, command: CorpusCommand) -> CorpusResult:
        """Run a command twice directly: the comparison itself must find no difference."""
        if missing := self._environment.missing(command):
            return CorpusResult(command=command, how="skipped", reason=f"needs {missing}")
        self._environment.prepare(command)
        return _compare(command, await self._run_directly(command), await self._run_directly(command))

    async def compare_with_workspace(self, command: CorpusCommand, workspaces: Workspaces) -> CorpusResult:
        """Run a command directly, and in a workspace that is committed."""
        if missing := self._environment.missing(command):
            return CorpusResult(command=command, how="skipped", reason=f"needs {missing}")
        self._environment.prepare(command)
        direct = await self._run_directly(command)
        try:
            private = await self._run_in_workspace(command, workspaces)
        except (OSError, KimiTuiError) as error:
            return CorpusResult(command=command, how="private", differences=[f"raised {error!r}"])
        return _compare(command, direct, private)

    async def _run_in_workspace(self, command: CorpusCommand, workspaces: Workspaces) -> Run:
        if reason := direct_run_reason(parse_command(command.script)):
            return replace(await self._run_directly(command), how="detected", reason=reason)
        self._environment.reset()
        problems: list[str] = []
        async with self._shell() as shell:
            started_ns = time.time_ns() - _CLOCK_STEP_NS
            async with workspaces.open(self._environment.project, owner=_OWNER) as workspace:
                output = OutputTail()
                status = await self._run(shell, command, output, starter=workspace)
                how, reason = await _finish(workspace, output, status, problems)
                seconds = (time.time_ns() - started_ns - _CLOCK_STEP_NS) / 1e9
            if how == "detected" and workspace.is_private:
                status = await self._run(shell, command, OutputTail())
            await self._settle(command)
        return Run(self._tree(started_ns), status, seconds, how, reason, problems)

    async def _run_directly(self, command: CorpusCommand) -> Run:
        self._environment.reset()
        async with self._shell() as shell:
            started_ns = time.time_ns() - _CLOCK_STEP_NS
            status = await self._run(shell, command, OutputTail())
            seconds = (time.time_ns() - started_ns - _CLOCK_STEP_NS) / 1e9
            await self._settle(command)
        return Run(self._tree(started_ns), status, seconds)

    async def _run(
        self,
        shell: Shell,
        command: CorpusCommand,
        output: OutputTail,
        *,
        starter: ProcessStarter = DirectStarter(),
    ) -> ExitStatus:
        return await shell.run(
            command.script,
            work_dir=self._environment.project,
            timeout_s=command.time_limit_s,
            output=output,
            starter=starter,
        )

    @asynccontextmanager
    async def _shell(self) -> AsyncIterator[Shell]:
        shell = Shell(environment=FixedEnvironment(self._environment.variables), term_grace_s=_TERM_GRACE_S)
        try:
            yield shell
        finally:
            await shell.close()

    async def _settle(self, command: CorpusCommand) -> None:
        """Wait for what a process writes after the command has ended."""
        if command.awaits:
            awaited = self._environment.project / command.awaits
            with suppress(TimeoutError):
                async with asyncio.timeout(_AWAITS_S):
                    while not awaited.exists() or not awaited.stat().st_size:
                        await asyncio.sleep(0.02)

    def _tree(self, started_ns: int) -> dict[bytes, EntryState]:
        return read_tree(os.fsencode(self._environment.area), started_ns, old_folder_ns=LONG_AGO_S * 10**9)


async def _finish(
    workspace: Workspace, output: OutputTail, status: ExitStatus, problems: list[str]
) -> tuple[How, str]:
    """Commit what a command did in a workspace, or discard it if the command has to run directly."""
    if not workspace.is_private:
        return "detected", "not private"
    reason = await workspace.finish(output.text)
    if reason and not status.timed_out:
        await workspace.discard()
        return "detected", reason
    plan = await workspace.plan()
    problems += [f"conflict: {it.effect.path!r}: {it.conflict}" for it in plan.conflicts]
    result = await workspace.commit(plan)
    problems += [f"not committed: {path!r}: {reason}" for path, reason in result.failed.items()]
    return "private", ""


def _compare(command: CorpusCommand, first: Run, second: Run) -> CorpusResult:
    differences = [*second.problems, *tree_differences(first.tree, second.tree)]
    statuses = [(it.status.status, it.status.timed_out) for it in (first, second)]
    if statuses[0] != statuses[1]:
        differences.append(f"status and time limit: {statuses[0]} / {statuses[1]}")
    return CorpusResult(
        command=command,
        how=second.how,
        reason=second.reason,
        differences=differences,
        seconds=(first.seconds, second.seconds),
    )
