"""Delegation of tasks to sub-agents, in the foreground or as background tasks."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from kimi_tui.agentspec.spec import ResolvedAgentSpec, SubagentSpec
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.base.shielding import run_in_thread_shielded
from kimi_tui.engine.subagents.event_forwarder import SubagentEventForwarder
from kimi_tui.engine.subagents.factory import SubagentFactory
from kimi_tui.engine.subagents.report import DelegationRefused, SubagentReport
from kimi_tui.engine.subagents.store import SubagentRecord, SubagentStore
from kimi_tui.engine.subagents.task_log import SubagentTaskLog
from kimi_tui.engine.subagents.task_run import SubagentRun
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.hooks.dispatcher import HookDispatcher
from kimi_tui.soul.wire_approval import ApprovalSource
from kimi_tui.tools.background.task_handle import RunningTask, TaskOutcome, TaskRequest
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.shell.captured_output import CapturedOutput, OutputFolder
from kimi_tui.tools.task import SubagentRunner, TaskAssignment
from kimi_tui.tools.tool import CallContext, failure, success
from kimi_tui.wire.display_blocks import BackgroundTaskBlock
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import ToolReturn

MAX_DEPTH = 3
"""Maximum depth of nested delegation."""


class DelegationServices:
    """Services shared by all delegating agents of one session."""

    def __init__(
        self,
        *,
        factory: SubagentFactory,
        store: SubagentStore,
        tasks: BackgroundTasks,
        hooks: HookDispatcher,
        output_folder: OutputFolder,
        timeout_s: int,
        max_concurrent: int,
    ) -> None:
        self.factory = factory
        self.store = store
        self.tasks = tasks
        self.hooks = hooks
        self.output_folder = output_folder
        self.timeout_s = timeout_s
        self.slots = asyncio.Semaphore(max_concurrent)
        self.running: set[str] = set()
        """Ids of the running sub-agents."""


class AgentDelegation:
    """Implements `tools.task.SubagentRunner` for one agent, with the sub-agents that its spec names."""

    def __init__(
        self,
        specs: Mapping[str, SubagentSpec],
        *,
        services: DelegationServices,
        sender: EventSender,
        depth: int = 0,
    ) -> None:
        self._specs = specs
        self._services = services
        self._sender = sender
        self._depth = depth
        """Number of agents above the delegating agent."""

    @property
    def agent_types(self) -> Mapping[str, str]:
        """Implements `SubagentRunner.agent_types`."""
        return {name: subagent.description for name, subagent in self._specs.items()}

    async def delegate(self, assignment: TaskAssignment, call: CallContext) -> ToolReturn:
        """Implement `SubagentRunner.delegate`."""
        try:
            record = await self._create_record(assignment, call)
        except KimiTuiError as error:
            return failure(str(error), brief=error.what)
        if assignment.in_background:
            return await self._run_in_background(record, assignment, call)
        return await self._run_in_foreground(record, assignment, call)

    async def _create_record(self, assignment: TaskAssignment, call: CallContext) -> SubagentRecord:
        """Create or resume a sub-agent, and save it as running."""
        store = self._services.store
        if assignment.resume is None:
            record = store.new(assignment.agent_type, assignment.description, model=assignment.model)
        else:
            record = await self._find_resumable(assignment.resume)
        record = replace(
            record,
            description=assignment.description,
            status="running",
            problem="",
            model=assignment.model or record.model,
            calls=(*record.calls, call.id),
        )
        self._services.running.add(record.id)
        try:
            await run_in_thread_shielded(store.write, record)
        except OSError as error:
            self._services.running.discard(record.id)
            raise DelegationRefused(
                f"Can't save the sub-agent: {error.strerror or error}.",
                hint="Do the work yourself, and tell the user.",
            ) from error
        return record

    async def _find_resumable(self, agent_id: str) -> SubagentRecord:
        if agent_id in self._services.running:
            raise DelegationRefused(
                f"Sub-agent {agent_id} is still running.", hint="Wait until it finishes, or stop its task."
            )
        record = await asyncio.to_thread(self._services.store.find, agent_id)
        if record is None or record.kind not in self._specs:
            raise DelegationRefused(
                f"Sub-agent “{agent_id}” doesn't exist or can't be resumed.",
                hint="Omit `resume` to start a new one.",
            )
        return record

    # in the foreground

    async def _run_in_foreground(
        self, record: SubagentRecord, assignment: TaskAssignment, call: CallContext
    ) -> ToolReturn:
        await call.set_interrupted_note(
            f"The sub-agent was {record.id} ({record.kind}). "
            f'{call.tool_name}(resume="{record.id}") resumes it where it stopped.'
        )
        forwarder = SubagentEventForwarder(
            self._sender, agent_id=record.id, kind=record.kind, call_id=call.id
        )
        source = ApprovalSource(
            record.id, record.kind, assignment.description, kind="foreground_turn", id=call.id
        )
        try:
            report = await self._run(record, assignment, source=source, sender=forwarder, author=call.author)
        finally:
            forwarder.flush()
        return self._to_tool_return(report, call)

    def _to_tool_return(self, report: SubagentReport, call: CallContext) -> ToolReturn:
        output = CapturedOutput(self._services.output_folder)
        output.add(report.response)
        output.close()
        steps = report.record.steps
        brief = f"{report.record.kind}: {steps} step{'' if steps == 1 else 's'}{report.workspace_brief}"
        if report.status == "done":
            return success(output.text(), message=report.describe(call.tool_name), brief=brief)
        return failure(
            report.describe(call.tool_name),
            output=output.text(),
            brief=f"{report.record.kind}: {report.problem}{report.workspace_brief}",
        )

    # in the background

    async def _run_in_background(
        self, record: SubagentRecord, assignment: TaskAssignment, call: CallContext
    ) -> ToolReturn:
        author = call.author

        async def run_task(running: RunningTask) -> TaskOutcome:
            log = SubagentTaskLog(running, self._sender)
            source = ApprovalSource(
                record.id, record.kind, assignment.description, kind="background_agent", id=running.id
            )
            report = await self._run(record, assignment, source=source, sender=log, author=author)
            log.flush_text()
            if report.workspace is not None:
                running.write(f"\n[{report.workspace.describe()}]\n")
            return TaskOutcome(report.status, f"{report.problem or 'finished'}{report.workspace_brief}")

        request = TaskRequest(
            kind="agent",
            description=assignment.description,
            command=assignment.prompt,
            work=run_task,
            call_id=call.id,
            agent_id=record.id,
        )
        try:
            task = await self._services.tasks.start(request)
        except KimiTuiError as error:
            self._services.running.discard(record.id)
            await run_in_thread_shielded(
                self._services.store.write, replace(record, status="failed", problem=error.what)
            )
            return failure(str(error), brief=error.what)
        return success(
            message=f"Sub-agent {record.id} ({record.kind}) is running in the background as {task.id}. You "
            f'are notified when it finishes; TaskOutput(task_id="{task.id}") returns its report. Continue '
            "with other work.",
            brief=msg("in the background: {task_id}", task_id=task.id),
            display=(BackgroundTaskBlock(task.id, task.kind, task.status, task.description),),
        )

    # both

    async def _run(
        self,
        record: SubagentRecord,
        assignment: TaskAssignment,
        *,
        source: ApprovalSource,
        sender: EventSender,
        author: ChangeAuthor,
    ) -> SubagentReport:
        """Run the sub-agent until its report. Raises CancelledError only."""
        services = self._services
        run = SubagentRun(
            record,
            assignment.prompt,
            spec=self._specs[record.kind],
            timeout_s=assignment.timeout_s or services.timeout_s,
            factory=services.factory,
            store=services.store,
            hooks=services.hooks,
            author=replace(author, agent=record.id),
        )
        try:
            return await run.run(
                source=source,
                sender=sender,
                delegation=lambda spec: self._nested_delegation(spec, sender),
                # Nested sub-agents need no slot: the agent that waits for them holds one.
                slot=services.slots if self._depth == 0 else None,
            )
        finally:
            services.running.discard(record.id)

    def _nested_delegation(self, spec: ResolvedAgentSpec, sender: EventSender) -> SubagentRunner | None:
        """Return the delegation for a sub-agent; None if its own spec names no sub-agents or at MAX_DEPTH."""
        if not spec.declares_subagents or self._depth + 1 >= MAX_DEPTH:
            return None
        return AgentDelegation(spec.subagents, services=self._services, sender=sender, depth=self._depth + 1)
