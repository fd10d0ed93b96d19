"""Run of one task by a sub-agent, from its start to its report."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from kimi_tui.agentspec.spec import ResolvedAgentSpec, SubagentSpec
from kimi_tui.base.shielding import run_in_thread_shielded
from kimi_tui.engine.subagents.factory import SubagentFactory, SubagentInstance
from kimi_tui.engine.subagents.isolated_workspace import NOTE
from kimi_tui.engine.subagents.report import (
    DelegationRefused,
    SubagentReport,
    describe_problem,
    final_response,
)
from kimi_tui.engine.subagents.store import SubagentRecord, SubagentStatus, SubagentStore
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.hooks.dispatcher import HookDispatcher
from kimi_tui.hooks.events import SubagentStart, SubagentStop
from kimi_tui.soul.wire_approval import ApprovalSource
from kimi_tui.tools.task import SubagentRunner
from kimi_tui.wire.event_sender import EventSender

logger = logging.getLogger(__name__)


class SubagentRun:
    """Runs `prompt` with the sub-agent of `record`, and saves its state."""

    def __init__(
        self,
        record: SubagentRecord,
        prompt: str,
        *,
        spec: SubagentSpec,
        timeout_s: int,
        factory: SubagentFactory,
        store: SubagentStore,
        hooks: HookDispatcher,
        author: ChangeAuthor,
    ) -> None:
        """`author` is the call that starts the run. It becomes the author of adopted changes."""
        self._record = record
        self._prompt = prompt
        self._spec = spec
        self._timeout_s = timeout_s
        self._factory = factory
        self._store = store
        self._hooks = hooks
        self._author = author
        self._instance: SubagentInstance | None = None

    async def run(
        self,
        *,
        source: ApprovalSource,
        sender: EventSender,
        delegation: Callable[[ResolvedAgentSpec], SubagentRunner | None],
        slot: asyncio.Semaphore | None,
    ) -> SubagentReport:
        """Run the task, after waiting for `slot` unless it's None. Raises CancelledError only."""
        status: SubagentStatus = "interrupted"
        problem = "it was stopped"
        try:
            if slot is None:
                report = await self._run_with_timeout(source, sender, delegation)
            else:
                async with slot:
                    report = await self._run_with_timeout(source, sender, delegation)
            status = "finished" if report.status == "done" else "failed"
            problem = report.problem
        finally:
            if self._instance is not None:
                steps = self._record.steps + self._instance.soul.steps
                self._record = replace(self._record, steps=steps, todos=self._instance.todos.items)
                await self._instance.close(self._prompt)
            self._record = replace(self._record, status=status, problem=problem)
            await self._save_record()
        return replace(report, record=self._record)

    async def _run_with_timeout(
        self,
        source: ApprovalSource,
        sender: EventSender,
        delegation: Callable[[ResolvedAgentSpec], SubagentRunner | None],
    ) -> SubagentReport:
        limit = asyncio.timeout(self._timeout_s)
        status: Literal["done", "failed", "timed_out"] = "done"
        problem = ""
        try:
            async with limit:
                await self._start_and_run(source, sender, delegation)
        except Exception as error:
            logger.info("sub-agent %s stopped", self._record.id, exc_info=True)
            status, problem = "failed", describe_problem(error)
            if isinstance(error, TimeoutError) and limit.expired():
                status, problem = "timed_out", f"it timed out after {self._timeout_s} s."
        report = SubagentReport(self._record, status, self._final_response, problem)
        if self._instance is not None and self._instance.workspace is not None:
            adopted = await self._instance.workspace.adopt(self._author, self._prompt)
            report = replace(report, workspace=adopted)
        if self._instance is not None:
            await self._hooks.fire(SubagentStop(agent_name=self._record.kind, response=report.response))
        return report

    async def _start_and_run(
        self,
        source: ApprovalSource,
        sender: EventSender,
        delegation: Callable[[ResolvedAgentSpec], SubagentRunner | None],
    ) -> None:
        outcome = await self._hooks.fire(SubagentStart(agent_name=self._record.kind, prompt=self._prompt))
        if outcome.blocked:
            raise DelegationRefused(f"A hook blocked it: {outcome.reason}")
        self._instance = await self._factory.build(
            self._record,
            self._spec,
            source=source,
            sender=sender,
            delegation=delegation,
        )
        isolated = self._instance.workspace is not None
        await self._instance.soul.run(f"{self._prompt}\n\n{NOTE}" if isolated else self._prompt)

    @property
    def _final_response(self) -> str:
        return final_response(self._instance.context.history) if self._instance is not None else ""

    async def _save_record(self) -> None:
        try:
            await run_in_thread_shielded(self._store.write, self._record)
        except OSError:
            logger.warning("can't save the state of sub-agent %s", self._record.id, exc_info=True)
