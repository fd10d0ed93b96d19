"""Giving work to sub-agents: a call waits for the report, or a background task is made of it."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

from kimi_tui.agentspec.spec import ResolvedAgentSpec, SubagentSpec
from kimi_tui.base.completion import run_to_end
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.engine.subagents.activity import Activity
from kimi_tui.engine.subagents.nested import NestedSend
from kimi_tui.engine.subagents.records import SubagentRecord, SubagentRecords
from kimi_tui.engine.subagents.report import Refused, Report
from kimi_tui.engine.subagents.stint import Stint
from kimi_tui.engine.subagents.workshop import Workshop
from kimi_tui.hooks.hooks import Firing
from kimi_tui.soul.approval import ApprovalSource
from kimi_tui.soul.send import Send
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.background.work import Ending, Order, RunningTask
from kimi_tui.tools.shell.output import OutputFolder, OutputKeeper
from kimi_tui.tools.task import Assignment, Delegation
from kimi_tui.tools.tool import RunningCall, failed, ok
from kimi_tui.wire.display import BackgroundTaskBlock
from kimi_tui.wire.events import Event, ToolReturn

DEEPEST = 3
"""How deep agents may give on what they were given."""


class Office:
    """What the delegations of one session share, whoever gives work to whom."""

    def __init__(
        self,
        *,
        workshop: Workshop,
        records: SubagentRecords,
        tasks: BackgroundTasks,
        hooks: Firing,
        output_folder: OutputFolder,
        timeout_s: int,
        most_at_once: int,
    ) -> None:
        self.workshop = workshop
        self.records = records
        self.tasks = tasks
        self.hooks = hooks
        self.output_folder = output_folder
        self.timeout_s = timeout_s
        self.desks = asyncio.Semaphore(most_at_once)
        self.at_work: set[str] = set()
        """Ids of the sub-agents that work right now."""


class Subagents:
    """`tools.task.Delegation` of one agent: those that its spec names."""

    def __init__(
        self,
        subagents: Mapping[str, SubagentSpec],
        *,
        office: Office,
        send: Callable[[Event], None],
        depth: int = 0,
    ) -> None:
        self._subagents = subagents
        self._office = office
        self._send = send
        self._depth = depth
        """How many agents stand above the one that gives the work."""

    @property
    def kinds(self) -> Mapping[str, str]:
        """`Delegation.kinds`."""
        return {name: subagent.description for name, subagent in self._subagents.items()}

    async def give(self, assignment: Assignment, call: RunningCall) -> ToolReturn:
        """`Delegation.give`."""
        try:
            record = await self._record_for(assignment, call)
        except KimiTuiError as problem:
            return failed(str(problem), brief=problem.what)
        if assignment.in_background:
            return await self._in_background(record, assignment, call)
        return await self._in_foreground(record, assignment, call)

    async def _record_for(self, assignment: Assignment, call: RunningCall) -> SubagentRecord:
        """The sub-agent that gets the work, on disk and marked as at work."""
        records = self._office.records
        if assignment.resume is None:
            record = records.new(assignment.kind, assignment.description, model=assignment.model)
        else:
            record = await self._earlier(assignment.resume)
        record = replace(
            record,
            description=assignment.description,
            status="running",
            problem="",
            model=assignment.model or record.model,
            calls=(*record.calls, call.id),
        )
        self._office.at_work.add(record.id)
        try:
            await run_to_end(records.write, record)
        except OSError as error:
            self._office.at_work.discard(record.id)
            raise Refused(
                f"The sub-agent can't be kept on disk: {error.strerror or error}.",
                hint="Do the work yourself, and tell the user of it.",
            ) from error
        return record

    async def _earlier(self, agent_id: str) -> SubagentRecord:
        if agent_id in self._office.at_work:
            raise Refused(
                f"Sub-agent {agent_id} is still at work.", hint="Wait until it is done, or stop its task."
            )
        record = await asyncio.to_thread(self._office.records.find, agent_id)
        if record is None or record.kind not in self._subagents:
            raise Refused(
                f"There is no sub-agent “{agent_id}” that could go on.",
                hint="Leave `resume` out to begin anew.",
            )
        return record

    # in the foreground

    async def _in_foreground(
        self, record: SubagentRecord, assignment: Assignment, call: RunningCall
    ) -> ToolReturn:
        await call.leave_word(
            f"The sub-agent was {record.id} ({record.kind}): "
            f'{call.tool_name}(resume="{record.id}") lets it go on where it stopped.'
        )
        send = NestedSend(self._send, agent_id=record.id, kind=record.kind, call_id=call.id)
        source = ApprovalSource(
            record.id, record.kind, assignment.description, kind="foreground_turn", id=call.id
        )
        try:
            report = await self._work(record, assignment, source=source, send=send)
        finally:
            send.flush()
        return self._result(report, call)

    def _result(self, report: Report, call: RunningCall) -> ToolReturn:
        keeper = OutputKeeper(self._office.output_folder)
        keeper.add(report.answer)
        keeper.close()
        steps = report.record.steps
        brief = f"{report.record.kind}: {steps} step{'' if steps == 1 else 's'}"
        if report.status == "done":
            return ok(keeper.text(), message=report.words(call.tool_name), brief=brief)
        return failed(
            report.words(call.tool_name),
            output=keeper.text(),
            brief=f"{report.record.kind}: {report.problem}",
        )

    # in the background

    async def _in_background(
        self, record: SubagentRecord, assignment: Assignment, call: RunningCall
    ) -> ToolReturn:
        async def work(running: RunningTask) -> Ending:
            activity = Activity(running, self._send)
            source = ApprovalSource(
                record.id, record.kind, assignment.description, kind="background_agent", id=running.id
            )
            report = await self._work(record, assignment, source=source, send=activity)
            activity.settle()
            return Ending(report.status, report.problem or "finished")

        order = Order(
            kind="agent",
            description=assignment.description,
            command=assignment.prompt,
            work=work,
            call_id=call.id,
            agent_id=record.id,
        )
        try:
            task = await self._office.tasks.start(order)
        except KimiTuiError as problem:
            self._office.at_work.discard(record.id)
            await run_to_end(
                self._office.records.write, replace(record, status="failed", problem=problem.what)
            )
            return failed(str(problem), brief=problem.what)
        return ok(
            message=f"Sub-agent {record.id} ({record.kind}) works in the background as {task.id}. You are "
            f'told when it is done; TaskOutput(task_id="{task.id}") gives its report. Go on with other work.',
            brief=f"in the background: {task.id}",
            display=(BackgroundTaskBlock(task.id, task.kind, task.status, task.description),),
        )

    # the work itself

    async def _work(
        self, record: SubagentRecord, assignment: Assignment, *, source: ApprovalSource, send: Send
    ) -> Report:
        """Have it done. Raises CancelledError alone."""
        office = self._office
        stint = Stint(
            record,
            assignment.prompt,
            subagent=self._subagents[record.kind],
            timeout_s=assignment.timeout_s or office.timeout_s,
            workshop=office.workshop,
            records=office.records,
            hooks=office.hooks,
        )
        try:
            return await stint.run(
                source=source,
                send=send,
                delegation=lambda spec: self._below(spec, send),
                # Those further below need none: whoever gave them work has one, and waits for them.
                desk=office.desks if self._depth == 0 else None,
            )
        finally:
            office.at_work.discard(record.id)

    def _below(self, spec: ResolvedAgentSpec, send: Send) -> Delegation | None:
        """What a sub-agent may give on: nothing, unless its own file names sub-agents."""
        if not spec.names_subagents or self._depth + 1 >= DEEPEST:
            return None
        return Subagents(spec.subagents, office=self._office, send=send, depth=self._depth + 1)
