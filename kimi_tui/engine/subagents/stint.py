"""A stint: one piece of work of one sub-agent, from its start to its report."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from kimi_tui.agentspec.spec import ResolvedAgentSpec, SubagentSpec
from kimi_tui.base.completion import run_to_end
from kimi_tui.engine.subagents.records import SubagentRecord, SubagentRecords, SubagentStatus
from kimi_tui.engine.subagents.report import Refused, Report, last_words, problem_in_words
from kimi_tui.engine.subagents.workshop import Worker, Workshop
from kimi_tui.hooks.events import SubagentStart, SubagentStop
from kimi_tui.hooks.hooks import Firing
from kimi_tui.soul.approval import ApprovalSource
from kimi_tui.soul.send import Send
from kimi_tui.tools.task import Delegation
from kimi_tui.wire.display import TodoItem

logger = logging.getLogger(__name__)


class Stint:
    """Has the sub-agent of `record` do what `prompt` says, and keeps on disk how that went."""

    def __init__(
        self,
        record: SubagentRecord,
        prompt: str,
        *,
        subagent: SubagentSpec,
        timeout_s: int,
        workshop: Workshop,
        records: SubagentRecords,
        hooks: Firing,
    ) -> None:
        self._record = record
        self._prompt = prompt
        self._subagent = subagent
        self._timeout_s = timeout_s
        self._workshop = workshop
        self._records = records
        self._hooks = hooks
        self._worker: Worker | None = None

    async def run(
        self,
        *,
        source: ApprovalSource,
        send: Send,
        delegation: Callable[[ResolvedAgentSpec], Delegation | None],
        desk: asyncio.Semaphore | None,
    ) -> Report:
        """Do it, once there is a desk when it needs one. Raises CancelledError alone."""
        status: SubagentStatus = "interrupted"
        problem = "it was stopped"
        try:
            if desk is None:
                report = await self._report(source, send, delegation)
            else:
                async with desk:
                    report = await self._report(source, send, delegation)
            status = "finished" if report.status == "done" else "failed"
            problem = report.problem
        finally:
            if self._worker is not None:
                steps = self._record.steps + self._worker.soul.steps
                self._record = replace(self._record, steps=steps)
                await self._worker.close()
            self._record = replace(self._record, status=status, problem=problem)
            await self._keep()
        return replace(report, record=self._record)

    async def _report(
        self,
        source: ApprovalSource,
        send: Send,
        delegation: Callable[[ResolvedAgentSpec], Delegation | None],
    ) -> Report:
        limit = asyncio.timeout(self._timeout_s)
        status: Literal["done", "failed", "timed_out"] = "done"
        problem = ""
        try:
            async with limit:
                await self._work(source, send, delegation)
        except Exception as error:
            logger.info("sub-agent %s stopped", self._record.id, exc_info=True)
            status, problem = "failed", problem_in_words(error)
            if isinstance(error, TimeoutError) and limit.expired():
                status, problem = "timed_out", f"it was stopped after {self._timeout_s} s."
        report = Report(self._record, status, self._said, problem)
        if self._worker is not None:
            await self._hooks.fire(SubagentStop(agent_name=self._record.kind, response=report.answer))
        return report

    async def _work(
        self,
        source: ApprovalSource,
        send: Send,
        delegation: Callable[[ResolvedAgentSpec], Delegation | None],
    ) -> None:
        begun = await self._hooks.fire(SubagentStart(agent_name=self._record.kind, prompt=self._prompt))
        if begun.blocked:
            raise Refused(f"A hook kept it from starting: {begun.reason}")
        self._worker = await self._workshop.worker(
            self._record,
            self._subagent,
            source=source,
            send=send,
            delegation=delegation,
            keep_todos=self._keep_todos,
        )
        await self._worker.soul.run(self._prompt)

    @property
    def _said(self) -> str:
        return last_words(self._worker.context.history) if self._worker is not None else ""

    def _keep_todos(self, items: tuple[TodoItem, ...]) -> None:
        self._record = replace(self._record, todos=items)

    async def _keep(self) -> None:
        try:
            await run_to_end(self._records.write, self._record)
        except OSError:
            logger.warning("the state of sub-agent %s can't be kept", self._record.id, exc_info=True)
