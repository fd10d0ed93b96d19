"""Background tasks and sub-agents of a session."""

import asyncio
import time
from typing import Literal

from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.ids import new_id
from kimi_tui.base.message_text import msg
from kimi_tui.config.settings import SubagentSettings as SubagentSettings
from kimi_tui.engine.slash.registry import SlashCommand
from kimi_tui.engine.subagents.delegation import AgentDelegation, DelegationServices
from kimi_tui.engine.subagents.factory import SharedServices, SubagentFactory
from kimi_tui.engine.subagents.store import SubagentRecord, SubagentStore
from kimi_tui.history.session import Session
from kimi_tui.tools.background.task_text import format_status
from kimi_tui.tools.background.tasks import MAX_RUNNING, BackgroundTasks, TaskTracker
from kimi_tui.tools.shell.captured_output import OutputFolder
from kimi_tui.wire.background import TaskText
from kimi_tui.wire.commands import ReadTask
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import Notification

MAX_READ_BYTES = 64 * 1024
"""Maximum number of bytes of a task's output that one ReadTask returns."""


class BackgroundWork:
    """Tracks background tasks and sub-agents across runs of the program."""

    def __init__(
        self,
        session: Session,
        *,
        sender: EventSender,
        tracker: TaskTracker,
        max_running_tasks: int = MAX_RUNNING,
    ) -> None:
        self.tasks = BackgroundTasks(
            session.dir / "tasks", sender=sender, tracker=tracker, max_running=max_running_tasks
        )
        self._subagent_store = SubagentStore(session.dir / "subagents")
        self._output_folder = OutputFolder(session.dir / "output")
        self._sender = sender
        self._interrupted: list[SubagentRecord] = []

    async def load(self) -> None:
        """Load the state that an earlier run left and end the tasks that are still running."""
        await asyncio.to_thread(self._load_state)

    def send_initial_state(self) -> None:
        """Send the tasks to front ends, and a notice if sub-agents were interrupted."""
        self.tasks.publish_initial_state()
        if self._interrupted:
            self._sender.send(_interrupted_notice(self._interrupted))
            self._interrupted = []

    async def read_task(self, command: ReadTask) -> None:
        """Send part of a task's output. Raises KimiTuiError if the task doesn't exist."""
        self._require_task(command.task_id)
        offset = max(command.offset, -MAX_READ_BYTES)
        start, text, end = await self.tasks.read(command.task_id, offset, MAX_READ_BYTES)
        self._sender.send(TaskText(command.task_id, start, text, end))

    def move_commands(self, call_id: str) -> None:
        """Move a call's command to the background, or all commands if `call_id` is empty.

        Raises KimiTuiError if no command can move.
        """
        if not self.tasks.movable.request_move(call_id):
            raise KimiTuiError(
                "The agent isn't running a command that can move to the background.",
                hint=(
                    "Press the key again while one is running. In plan mode, commands stay in the foreground."
                ),
            )

    async def stop_task(self, task_id: str) -> None:
        """Stop a task. Raises KimiTuiError if it doesn't exist."""
        self._require_task(task_id)
        await self.tasks.stop(task_id, outcome=msg("stopped by the user"))

    @property
    def command(self) -> SlashCommand:
        """The `/tasks` command, for front ends that have no task list."""
        return SlashCommand(
            "tasks", "List background tasks: /tasks [stop ID]", self._run_command, aliases=("task",)
        )

    async def _run_command(self, argument: str) -> None:
        match argument.split():
            case []:
                now = time.time()
                lines = [format_status(task, now=now) for task in self.tasks.all]
                self._sender.send(
                    _build_notice("Background tasks", "\n".join(lines) or "No background tasks.")
                )
            case ["stop", task_id]:
                await self.stop_task(task_id)
            case _:
                raise UsageError("Invalid arguments for /tasks.", hint="Use /tasks, or /tasks stop ID.")

    async def close(self) -> None:
        """Stop all background work."""
        await self.tasks.close()

    def build_delegation(
        self, spec: ResolvedAgentSpec, shared: SharedServices, settings: SubagentSettings
    ) -> AgentDelegation:
        """Return the sub-agents that the agent of `spec` can delegate work to."""
        services = DelegationServices(
            factory=SubagentFactory(shared, self._subagent_store),
            store=self._subagent_store,
            tasks=self.tasks,
            hooks=shared.hooks,
            output_folder=self._output_folder,
            timeout_s=settings.timeout,
            max_concurrent=settings.max_at_once,
        )
        return AgentDelegation(spec.subagents, services=services, sender=self._sender)

    def _require_task(self, task_id: str) -> None:
        if self.tasks.find(task_id) is None:
            raise KimiTuiError(
                msg("Background task “{task_id}” doesn't exist.", task_id=task_id),
                hint="Use /tasks to list the tasks.",
            )

    def _load_state(self) -> None:
        self.tasks.open()
        self._interrupted = self._subagent_store.mark_interrupted()


def _interrupted_notice(records: list[SubagentRecord]) -> Notification:

    lines = (f"{it.id} ({it.kind}): {it.description}" for it in records)
    return _build_notice(
        msg("Sub-agents interrupted when kimi-tui exited: {count}", count=len(records)),
        "\n".join((*lines, "To continue their work, ask the agent to resume them.")),
        severity="warning",
    )


def _build_notice(title: str, body: str, *, severity: Literal["info", "warning"] = "info") -> Notification:
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
