"""What runs beside the conversation: background tasks and sub-agents, of this run and of earlier ones."""

import asyncio
import time
from collections.abc import Callable
from typing import Literal, assert_never

from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.identity import new_id
from kimi_tui.config.settings import Subagents as SubagentSettings
from kimi_tui.engine.slash_book import SlashCommand
from kimi_tui.engine.subagents.delegation import Office, Subagents
from kimi_tui.engine.subagents.records import SubagentRecord, SubagentRecords
from kimi_tui.engine.subagents.workshop import Household, Workshop
from kimi_tui.history.session import Session
from kimi_tui.tools.background.tasks import BackgroundTasks, Watch
from kimi_tui.tools.background.words import status_line
from kimi_tui.tools.shell.output import OutputFolder
from kimi_tui.wire.background import TaskText
from kimi_tui.wire.commands import ReadTask, StopTask
from kimi_tui.wire.events import Event, Notification

PIECE = 64 * 1024
"""Bytes of a task's output that one ReadTask shows at most."""


class SideWork:
    """Keeps account of it, from one run of the program to the next."""

    def __init__(self, session: Session, *, send: Callable[[Event], None], watch: Watch) -> None:
        self.tasks = BackgroundTasks(session.dir / "tasks", send=send, watch=watch)
        self._records = SubagentRecords(session.dir / "subagents")
        self._output_folder = OutputFolder(session.dir / "output")
        self._send = send
        self._cut_off: list[SubagentRecord] = []

    async def open(self) -> None:
        """See what an earlier run left behind, and end what still goes on of it."""
        await asyncio.to_thread(self._take_stock)

    def introduce(self) -> None:
        """Tell front ends what there is, and the user what was lost."""
        self.tasks.introduce()
        if self._cut_off:
            self._send(_notice_of(self._cut_off))
            self._cut_off = []

    async def follow(self, command: ReadTask | StopTask) -> None:
        """Do what a front end asks for. Raises KimiTuiError when there is no such task."""
        if self.tasks.find(command.task_id) is None:
            raise KimiTuiError(
                f"There is no background task “{command.task_id}”.", hint="/tasks lists those that there are."
            )
        match command:
            case ReadTask(task_id=task_id, offset=offset):
                start, text, end = await self.tasks.read(task_id, max(offset, -PIECE), PIECE)
                self._send(TaskText(task_id, start, text, end))
            case StopTask(task_id=task_id):
                await self.tasks.stop(task_id, by="by the user")
            case _:
                assert_never(command)

    @property
    def command(self) -> SlashCommand:
        """`/tasks`, for front ends that have no list of their own."""
        return SlashCommand("tasks", "List the background tasks: /tasks [stop ID]", self._run_command)

    async def _run_command(self, argument: str) -> None:
        match argument.split():
            case []:
                now = time.time()
                lines = [status_line(task, now=now) for task in self.tasks.all]
                self._send(_notice("Background tasks", "\n".join(lines) or "There are none."))
            case ["stop", task_id]:
                await self.follow(StopTask(task_id))
            case _:
                raise UsageError("/tasks takes `stop ID`, or nothing.", hint="Type /tasks to see the ids.")

    async def close(self) -> None:
        """Stop all of it."""
        await self.tasks.close()

    def delegation(
        self, spec: ResolvedAgentSpec, household: Household, settings: SubagentSettings
    ) -> Subagents:
        """The sub-agents that the agent of `spec` may give work to."""
        office = Office(
            workshop=Workshop(household, self._records),
            records=self._records,
            tasks=self.tasks,
            hooks=household.hooks,
            output_folder=self._output_folder,
            timeout_s=settings.timeout,
            most_at_once=settings.max_at_once,
        )
        return Subagents(spec.subagents, office=office, send=self._send)

    def _take_stock(self) -> None:
        self.tasks.open()
        self._cut_off = self._records.take_stock()


def _notice_of(cut_off: list[SubagentRecord]) -> Notification:
    count = len(cut_off)
    lines = (f"{it.id} ({it.kind}): {it.description}" for it in cut_off)
    return _notice(
        f"{count} sub-agent{'' if count == 1 else 's'} had not finished when kimi-tui ended:",
        "\n".join((*lines, "Each can go on where it stopped: ask the agent to resume it.")),
        severity="warning",
    )


def _notice(title: str, body: str, *, severity: Literal["info", "warning"] = "info") -> Notification:
    return Notification(
        id=new_id(),
        category="task",
        type="notice",
        source_kind="engine",
        source_id="",
        title=title,
        body=body,
        severity=severity,
    )
