"""The background tasks of a session: started, followed, stopped, and never left behind."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from kimi_tui.base.completion import run_to_end
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal import plain_line
from kimi_tui.tools.background.log import TaskLog, read_piece
from kimi_tui.tools.background.notices import ended_notice, stopped_notice
from kimi_tui.tools.background.record import TaskRecord, last_number, read_records, write_record
from kimi_tui.tools.background.words import ended_note, lost_outcome, restated
from kimi_tui.tools.background.work import Order, RunningTask
from kimi_tui.tools.shell.orphans import end_marked, end_orphans
from kimi_tui.wire.background import BackgroundTask, TaskStatus, TasksUpdate
from kimi_tui.wire.events import Notification

logger = logging.getLogger(__name__)

MOST_RUNNING = 20
_SHOWN_ENDED = 30
"""How many tasks that have ended front ends are told of."""

Reminder = Callable[[Callable[[str], Awaitable[None]]], Coroutine[Any, Any, None]]
"""Says what is to be said, by the function that it gets."""
Watch = Callable[[str, str], AbstractAsyncContextManager[None]]
"""Stands around a task, given its id and command, as long as it may change files."""


class TooManyTasks(KimiTuiError):
    """No more tasks can be started now. Its reader is the model."""


class BackgroundTasks:
    """Keeps every task in `folder`, so that none is forgotten, whatever ends the program."""

    def __init__(
        self,
        folder: Path,
        *,
        send: Callable[[TasksUpdate | Notification], None],
        watch: Watch = lambda _task_id, _command: nullcontext(),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._send = send
        self._watch = watch
        self._clock = clock
        self._records: dict[str, TaskRecord] = {}
        self._works: dict[str, asyncio.Task[None]] = {}
        self._stopped_by: dict[str, str] = {}
        self._number = 0
        self._lost: tuple[BackgroundTask, ...] = ()

    # at the beginning and at the end

    def open(self) -> None:
        """Read what is kept; end what an earlier run of the program left running. Blocks."""
        self._number = last_number(self._folder)
        lost = []
        for record in read_records(self._folder):
            if record.task.status == "running":
                ended = _end_what_it_left(record)
                task = replace(record.task, status="lost", outcome=lost_outcome(ended, record.group))
                record = replace(record, task=replace(task, ended=self._clock(), activity=""))
                self._write(record)
                lost.append(record.task)
            self._records[record.task.id] = record
        self._lost = tuple(lost)

    def introduce(self) -> None:
        """Tell front ends what there is, and the user what was lost."""
        if self._records:
            self._tell()
        for task in self._lost:
            self._notify(task)
        self._lost = ()

    async def close(self) -> None:
        """Stop whatever runs, and tell the user so."""
        if self.running:
            self._send(stopped_notice(self.running))
        for task_id, work in self._works.items():
            self._cancel(task_id, work, by="when kimi-tui ended")
        if self._works:
            await asyncio.wait(list(self._works.values()))

    # tasks

    @property
    def all(self) -> Sequence[BackgroundTask]:
        """Every task of the session, oldest first."""
        return [record.task for record in self._records.values()]

    @property
    def running(self) -> Sequence[BackgroundTask]:
        """Those that run."""
        return [task for task in self.all if task.status == "running"]

    def find(self, task_id: str) -> BackgroundTask | None:
        """The task of that id."""
        record = self._records.get(task_id)
        return record.task if record is not None else None

    async def start(self, order: Order) -> BackgroundTask:
        """Start a task. Raises TooManyTasks, and KimiTuiError when its output can't be kept."""
        if len(self._works) >= MOST_RUNNING:
            raise TooManyTasks(
                f"{len(self._works)} background tasks run already, the most there may be.",
                hint="Wait for one to end, or stop one that is not needed any more.",
            )
        self._number += 1
        task_id = f"{order.kind}-{self._number}"
        log = TaskLog(self._folder / f"{task_id}.log")
        task = BackgroundTask(
            id=task_id,
            kind=order.kind,
            description=plain_line(order.description) or plain_line(order.command),
            command=order.command,
            started=self._clock(),
            output=str(log.path),
            agent_id=order.agent_id,
        )
        record = TaskRecord(task=task, call_id=order.call_id)
        try:
            await run_to_end(_prepare, log, self._folder, record)
        except OSError as error:
            raise KimiTuiError(
                f"The task's output can't be kept: {error.strerror or error} ({self._folder}).",
                hint="Run it in the foreground, or free some space.",
            ) from error
        self._records[task_id] = record
        running = RunningTask(task_id, log, is_doing=lambda activity: self._is_doing(task_id, activity))
        self._works[task_id] = asyncio.create_task(self._run(running, log, order))
        self._tell()
        return task

    async def stop(self, task_id: str, *, by: str) -> BackgroundTask | None:
        """Stop a task and all that it started; `by` whom: `by the user`. None when there is no such task."""
        work = self._works.get(task_id)
        if work is not None:
            self._cancel(task_id, work, by=by)
            await asyncio.wait([work])
        return self.find(task_id)

    async def wait(self, task_id: str, *, timeout_s: float) -> BackgroundTask | None:
        """The task when it has ended, or as it stands after `timeout_s`. None when there is no such task."""
        if (work := self._works.get(task_id)) is not None:
            await asyncio.wait([work], timeout=timeout_s)
        return self.find(task_id)

    async def read(self, task_id: str, offset: int, limit: int) -> tuple[int, str, int]:
        """A piece of a task's output, as `read_piece` gives it; nothing when there is no such task."""
        return await asyncio.to_thread(read_piece, self._folder / f"{task_id}.log", offset, limit)

    async def keep_group(self, task_id: str, group: int) -> None:
        """Remember the process group of a task, should the program be killed."""
        await self._save(replace(self._records[task_id], group=group))

    # what the model is told

    async def remind(self, say: Callable[[str], Awaitable[None]]) -> None:
        """Say which tasks have ended since the model was last told."""
        news = [it for it in self._records.values() if it.task.status != "running" and not it.told]
        if not news:
            return
        await say("\n".join(ended_note(record.task) for record in news))
        for record in news:
            await self.note_told(record.task.id)

    def news_for(self, owns: Callable[[str], bool]) -> Reminder:
        """A reminder for a sub-agent: says which of the tasks that it has started have ended.

        `owns` says whether a call is the sub-agent's. The session's own agent is told of them as well.
        """
        heard: set[str] = set()

        async def remind(say: Callable[[str], Awaitable[None]]) -> None:
            for record in list(self._records.values()):
                task = record.task
                if task.status != "running" and task.id not in heard and owns(record.call_id):
                    await say(ended_note(task))
                    heard.add(task.id)

        return remind

    async def note_told(self, task_id: str) -> None:
        """The model knows that a task has ended."""
        record = self._records.get(task_id)
        if record is not None and record.task.status != "running" and not record.told:
            await self._save(replace(record, told=True))

    def restated(self) -> str:
        """What a compacted conversation is told: the tasks that run. Empty when none does."""
        return restated(self.running)

    # within

    def _cancel(self, task_id: str, work: asyncio.Task[None], *, by: str) -> None:
        self._stopped_by.setdefault(task_id, by)
        # Not at once: a task that is cancelled before its first step can't even say that it has ended.
        asyncio.get_running_loop().call_soon(work.cancel)

    async def _run(self, running: RunningTask, log: TaskLog, order: Order) -> None:
        task_id = running.id
        status: TaskStatus = "stopped"
        try:
            async with self._watch(task_id, order.command):
                ending = await order.work(running)
            status, outcome = ending.status, ending.outcome
        except asyncio.CancelledError:
            outcome = f"stopped {self._stopped_by[task_id]}"
        except Exception as error:
            logger.exception("background task %s failed", task_id)
            status, outcome = "failed", f"{type(error).__name__}: {error}"
        finally:
            log.close()
        record = self._records[task_id]
        task = replace(
            record.task, status=status, outcome=plain_line(outcome), ended=self._clock(), activity=""
        )
        try:
            await self._save(replace(record, task=task, group=None))
        finally:
            del self._works[task_id]
            self._tell()
        if status != "stopped":
            self._notify(task)

    async def _save(self, record: TaskRecord) -> None:
        self._records[record.task.id] = record
        await run_to_end(self._write, record)

    def _write(self, record: TaskRecord) -> None:
        try:
            write_record(self._folder, record)
        except OSError:
            logger.warning("background task %s can't be kept on disk", record.task.id, exc_info=True)

    def _is_doing(self, task_id: str, activity: str) -> None:
        record = self._records[task_id]
        activity = plain_line(activity)
        if record.task.status == "running" and record.task.activity != activity:
            self._records[task_id] = replace(record, task=replace(record.task, activity=activity))
            self._tell()

    def _tell(self) -> None:
        ended = [task for task in self.all if task.status != "running"]
        hidden = {task.id for task in ended[:-_SHOWN_ENDED]}
        self._send(TasksUpdate(tuple(task for task in self.all if task.id not in hidden)))

    def _notify(self, task: BackgroundTask) -> None:
        self._send(ended_notice(task, at=self._clock()))


def _prepare(log: TaskLog, folder: Path, record: TaskRecord) -> None:
    log.open()
    try:
        write_record(folder, record)
    except OSError:
        log.close()
        raise


def _end_what_it_left(record: TaskRecord) -> bool | None:
    """End what still runs of a task; what that came to, as `end_orphans` says it."""
    if record.group is not None:
        return end_orphans(record.group, record.task.output)
    if record.task.kind == "bash" and end_marked(record.task.output):
        return True
    return None
