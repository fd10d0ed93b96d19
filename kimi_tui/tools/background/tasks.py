"""The background tasks of a session."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import change_text, msg
from kimi_tui.base.shielding import run_in_thread_shielded
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.tools.background.messages import build_ended_notification, build_stopped_notification
from kimi_tui.tools.background.movable_commands import MovableCommands
from kimi_tui.tools.background.task_handle import RunningTask, TaskRequest
from kimi_tui.tools.background.task_log import TaskLog, read_chunk
from kimi_tui.tools.background.task_record import TaskRecord, last_number, read_records, write_record
from kimi_tui.tools.background.task_text import format_ended, format_lost_outcome, format_running
from kimi_tui.tools.change_tracker import PendingCommit
from kimi_tui.tools.shell.orphan_processes import kill_marked, kill_orphans
from kimi_tui.wire.background import BackgroundTask, TaskStatus, TasksUpdate
from kimi_tui.wire.event_sender import EventSender

logger = logging.getLogger(__name__)

MAX_RUNNING = 20
"""Default of the maximum number of tasks that run at the same time."""
_MAX_ENDED_SHOWN = 30
"""Maximum number of ended tasks that front ends get."""


class TaskTracker(Protocol):
    """Observes the changes that tasks make to files."""

    def tracking_task(self, task_id: str, command: str) -> AbstractAsyncContextManager[None]:
        """Return a context that is entered before a task may change files, and exited afterwards."""
        ...

    def tracking_task_commit(self, task_id: str, commit: PendingCommit) -> AbstractAsyncContextManager[None]:
        """Return a context in which the changes of `commit` are recorded as those of a running task."""
        ...


class CallOwner(Protocol):
    """An agent that makes tool calls."""

    def owns(self, call_id: str) -> bool:
        """Return whether the call is one of the agent's."""
        ...


class TooManyTasks(KimiTuiError):
    """Raised if no more tasks can be started at the moment. The model reads the message."""


class BackgroundTasks:
    """Starts, stops and tracks tasks. Each is saved in `folder`, so that none is lost if the program dies."""

    def __init__(
        self,
        folder: Path,
        *,
        sender: EventSender,
        tracker: TaskTracker | None = None,
        max_running: int = MAX_RUNNING,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._sender = sender
        self._tracker = tracker
        self._max_running = max_running
        self._clock = clock
        self._records: dict[str, TaskRecord] = {}
        self._running_work: dict[str, asyncio.Task[None]] = {}
        self._outcomes: dict[str, str] = {}
        self._last_number = 0
        self._lost: tuple[BackgroundTask, ...] = ()
        self.movable = MovableCommands()
        """Commands in the foreground that the user may make tasks."""

    # life cycle

    def open(self) -> None:
        """Read the saved tasks and end processes that an earlier run of the program left running. Blocks."""
        self._last_number = last_number(self._folder)
        lost = []
        for record in read_records(self._folder):
            if record.task.status == "running":
                ended = _kill_leftovers(record)
                task = replace(record.task, status="lost", outcome=format_lost_outcome(ended, record.group))
                record = replace(record, task=replace(task, ended=self._clock(), activity=""))
                self._write(record)
                lost.append(record.task)
            self._records[record.task.id] = record
        self._lost = tuple(lost)

    def publish_initial_state(self) -> None:
        """Send the tasks to front ends and notify the user of lost ones."""
        if self._records:
            self._send_update()
        for task in self._lost:
            self._notify(task)
        self._lost = ()

    async def close(self) -> None:
        """Stop all running tasks and notify the user."""
        if self.running:
            self._sender.send(build_stopped_notification(self.running))
        for task_id, work in self._running_work.items():
            self._cancel(task_id, work, outcome=msg("stopped when kimi-tui exited"))
        if self._running_work:
            await asyncio.wait(list(self._running_work.values()))

    # tasks

    @property
    def all(self) -> Sequence[BackgroundTask]:
        """All tasks of the session, oldest first."""
        return [record.task for record in self._records.values()]

    @property
    def running(self) -> Sequence[BackgroundTask]:
        """The running tasks."""
        return [task for task in self.all if task.status == "running"]

    def find(self, task_id: str) -> BackgroundTask | None:
        """Return the task with that id, or None."""
        record = self._records.get(task_id)
        return record.task if record is not None else None

    async def start(self, request: TaskRequest) -> BackgroundTask:
        """Start a task. Raises TooManyTasks; KimiTuiError if its output can't be saved."""
        if len(self._running_work) >= self._max_running:
            raise TooManyTasks(
                f"{len(self._running_work)} background tasks are already running, which is the limit.",
                hint="Wait for one to end, or stop one that is no longer needed.",
            )
        self._last_number += 1
        task_id = f"{request.kind}-{self._last_number}"
        log = TaskLog(self._folder / f"{task_id}.log")
        task = BackgroundTask(
            id=task_id,
            kind=request.kind,
            description=sanitize_line(request.description) or sanitize_line(request.command),
            command=request.command,
            started=self._clock(),
            output=str(log.path),
            agent_id=request.agent_id,
        )
        record = TaskRecord(task=task, call_id=request.call_id)
        try:
            await run_in_thread_shielded(_create_files, log, self._folder, record)
        except OSError as error:
            raise KimiTuiError(
                f"Can't save the task's output: {error.strerror or error} ({self._folder}).",
                hint="Run it in the foreground, or free some disk space.",
            ) from error
        self._records[task_id] = record
        running = RunningTask(task_id, log, owner=self)
        self._running_work[task_id] = asyncio.create_task(self._run(running, log, request))
        self._send_update()
        return task

    async def stop(self, task_id: str, *, outcome: str) -> BackgroundTask | None:
        """Stop a task and everything it started. Return the task, or None if it doesn't exist.

        `outcome` says who stops it, such as `stopped by the user`.
        """
        work = self._running_work.get(task_id)
        if work is not None:
            self._cancel(task_id, work, outcome=outcome)
            await asyncio.wait([work])
        return self.find(task_id)

    async def wait_for(self, task_id: str, *, timeout_s: float) -> BackgroundTask | None:
        """Wait until the task has ended, at most `timeout_s`. Return it, or None if it doesn't exist."""
        if (work := self._running_work.get(task_id)) is not None:
            await asyncio.wait([work], timeout=timeout_s)
        return self.find(task_id)

    async def read(self, task_id: str, offset: int, limit: int) -> tuple[int, str, int]:
        """Return a chunk of a task's output like `read_chunk`; empty if the task doesn't exist."""
        return await read_chunk(self._folder / f"{task_id}.log", offset, limit)

    async def save_process_group(self, task_id: str, group: int) -> None:
        """Save the process group of a task, so that the next run can end it if the program is killed."""
        await self._save(replace(self._records[task_id], group=group))

    # reports to the model

    async def remind(self, add_reminder: Callable[[str], Awaitable[None]], /) -> None:
        """Report the tasks that have ended since the last report. Implements `soul.Reminder`."""
        unreported = [it for it in self._records.values() if it.task.status != "running" and not it.told]
        if not unreported:
            return
        await add_reminder("\n".join(format_ended(record.task) for record in unreported))
        for record in unreported:
            await self.mark_reported(record.task.id)

    def ended_tasks_of(self, owner: CallOwner) -> list[BackgroundTask]:
        """Return the ended tasks that calls of `owner` started."""
        return [
            record.task
            for record in self._records.values()
            if record.task.status != "running" and owner.owns(record.call_id)
        ]

    async def mark_reported(self, task_id: str) -> None:
        """Record that the model knows that a task has ended."""
        record = self._records.get(task_id)
        if record is not None and record.task.status != "running" and not record.told:
            await self._save(replace(record, told=True))

    def summarize_running(self) -> str:
        """Return the running tasks as text for a compacted conversation; empty without tasks."""
        return format_running(self.running)

    def _cancel(self, task_id: str, work: asyncio.Task[None], *, outcome: str) -> None:
        self._outcomes.setdefault(task_id, outcome)
        # Deferred: a task that is canceled before its first step never runs, so it can't record its end.
        asyncio.get_running_loop().call_soon(work.cancel)

    async def _run(self, running: RunningTask, log: TaskLog, request: TaskRequest) -> None:
        task_id = running.id
        status: TaskStatus = "stopped"
        try:
            async with (
                self._tracker.tracking_task(task_id, request.command)
                if self._tracker is not None
                else nullcontext()
            ):
                result = await request.work(running)
            status, outcome = result.status, result.outcome
        except asyncio.CancelledError:
            outcome = self._outcomes[task_id]
        except Exception as error:
            logger.exception("background task %s failed", task_id)
            status, outcome = "failed", f"{type(error).__name__}: {error}"
        finally:
            log.close()
        record = self._records[task_id]
        task = replace(
            record.task,
            status=status,
            outcome=change_text(outcome, sanitize_line),
            ended=self._clock(),
            activity="",
        )
        try:
            await self._save(replace(record, task=task, group=None))
        finally:
            del self._running_work[task_id]
            self._send_update()
        if status != "stopped":
            self._notify(task)

    async def _save(self, record: TaskRecord) -> None:
        self._records[record.task.id] = record
        await run_in_thread_shielded(self._write, record)

    def _write(self, record: TaskRecord) -> None:
        try:
            write_record(self._folder, record)
        except OSError:
            logger.warning("can't save background task %s", record.task.id, exc_info=True)

    def set_activity(self, task_id: str, activity: str) -> None:
        """Set what a running task is doing at the moment."""
        record = self._records[task_id]
        activity = change_text(activity, sanitize_line)
        if record.task.status == "running" and record.task.activity != activity:
            self._records[task_id] = replace(record, task=replace(record.task, activity=activity))
            self._send_update()

    def tracking_commit(self, task_id: str, commit: PendingCommit) -> AbstractAsyncContextManager[None]:
        """Return a context in which the changes of `commit` are recorded as the task's."""
        return (
            self._tracker.tracking_task_commit(task_id, commit)
            if self._tracker is not None
            else nullcontext()
        )

    def _send_update(self) -> None:
        ended = [task for task in self.all if task.status != "running"]
        hidden = {task.id for task in ended[:-_MAX_ENDED_SHOWN]}
        self._sender.send(TasksUpdate(tuple(task for task in self.all if task.id not in hidden)))

    def _notify(self, task: BackgroundTask) -> None:
        self._sender.send(build_ended_notification(task, at=self._clock()))


def _create_files(log: TaskLog, folder: Path, record: TaskRecord) -> None:
    log.open()
    try:
        write_record(folder, record)
    except OSError:
        log.close()
        raise


def _kill_leftovers(record: TaskRecord) -> bool | None:
    """End the processes that a task left running. Return the result like `kill_orphans`."""
    if record.group is not None:
        return kill_orphans(record.group, record.task.output)
    if record.task.kind == "bash" and kill_marked(record.task.output):
        return True
    return None


class SubagentTaskReminder:
    """Reports the end of a sub-agent's tasks to it. The session's main agent gets the same reports.

    Implements `soul.Reminder`.
    """

    def __init__(self, tasks: BackgroundTasks, owner: CallOwner) -> None:
        self._tasks = tasks
        self._owner = owner
        self._reported: set[str] = set()

    async def remind(self, add_reminder: Callable[[str], Awaitable[None]], /) -> None:
        """Report the tasks that have ended since the last report."""
        for task in self._tasks.ended_tasks_of(self._owner):
            if task.id not in self._reported:
                await add_reminder(format_ended(task))
                self._reported.add(task.id)
