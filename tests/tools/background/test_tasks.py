"""Background tasks: life cycle, persistence and reports."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.tools.background.task_handle import RunningTask, TaskOutcome, TaskRequest
from kimi_tui.tools.background.task_record import TaskRecord, write_record
from kimi_tui.tools.background.tasks import MAX_RUNNING, BackgroundTasks, TooManyTasks
from kimi_tui.wire.background import BackgroundTask, TasksUpdate
from kimi_tui.wire.event_sender import EventList
from kimi_tui.wire.events import Notification
from tests.timeouts import TEST_TIMEOUT_S
from tests.tools.orphan_process import start_orphan


class TaskEnv:
    """Background tasks in a directory, with the events and reminders they produce."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sent = EventList()
        self.reminders: list[str] = []
        self.now = 1000.0
        self.tasks = BackgroundTasks(folder, sender=self.sent, clock=lambda: self.now)
        self.tasks.open()

    async def start(
        self,
        work: Callable[[RunningTask], Awaitable[TaskOutcome]],
        description: str = "the work",
        **more: Any,
    ) -> BackgroundTask:
        return await self.tasks.start(
            TaskRequest(kind="bash", description=description, command="make", work=work, **more)
        )

    async def wait_for_end(self, task_id: str) -> BackgroundTask:
        task = await self.tasks.wait_for(task_id, timeout_s=TEST_TIMEOUT_S)
        assert task is not None
        assert task.status != "running"
        return task

    async def collect_reminders(self) -> list[str]:
        """Return the reminders that the model gets now."""
        self.reminders.clear()

        async def add_reminder(text: str) -> None:
            self.reminders.append(text)

        await self.tasks.remind(add_reminder)
        return list(self.reminders)

    def sent_of(self, kind: type) -> list[Any]:
        return [event for event in self.sent if isinstance(event, kind)]


@pytest.fixture
async def task_env(tmp_path: Path) -> AsyncIterator[TaskEnv]:
    task_env = TaskEnv(tmp_path / "tasks")
    yield task_env
    await task_env.tasks.close()


async def succeed(running: RunningTask) -> TaskOutcome:
    running.write("all fine\n")
    return TaskOutcome("done", "exit code 0")


async def run_forever(running: RunningTask) -> TaskOutcome:
    running.write("working\n")
    await asyncio.Event().wait()
    raise AssertionError


async def fail(running: RunningTask) -> TaskOutcome:
    raise ValueError("oops")


async def test_the_end_of_a_task_is_reported_to_the_user_and_the_model(task_env: TaskEnv) -> None:
    task = await task_env.start(succeed)
    assert (task.id, task.status) == ("bash-1", "running")
    task_env.now += 32
    task = await task_env.wait_for_end("bash-1")

    assert (task.status, task.outcome) == ("done", "exit code 0")
    assert [[it.status for it in update.tasks] for update in task_env.sent_of(TasksUpdate)] == [
        ["running"],
        ["done"],
    ]
    (notice,) = task_env.sent_of(Notification)
    assert "bash-1" in notice.title
    assert "exit code 0 after 32 s" in notice.body
    (note,) = await task_env.collect_reminders()
    assert "bash-1 (the work) has ended: exit code 0 after 32 s" in note
    assert await task_env.collect_reminders() == []


async def test_output_is_read_in_chunks(task_env: TaskEnv) -> None:
    await task_env.start(succeed)
    await task_env.wait_for_end("bash-1")
    assert await task_env.tasks.read("bash-1", 0, 4) == (0, "all ", 4)
    assert await task_env.tasks.read("bash-1", 4, 100) == (4, "fine\n", 9)
    assert await task_env.tasks.read("bash-1", 9, 100) == (9, "", 9)
    assert await task_env.tasks.read("bash-1", -5, 100) == (4, "fine\n", 9)
    assert await task_env.tasks.read("nothing", 0, 100) == (0, "", 0)


async def test_a_chunk_never_splits_a_character(task_env: TaskEnv) -> None:
    async def write_text(running: RunningTask) -> TaskOutcome:
        running.write("äöü€𝄞")
        return TaskOutcome("done", "well")

    await task_env.start(write_text)
    await task_env.wait_for_end("bash-1")
    text, offset = "", 0
    while True:
        start, chunk, end = await task_env.tasks.read("bash-1", offset, 4)
        assert start == offset
        if not chunk:
            break
        text, offset = text + chunk, end
    assert text == "äöü€𝄞"
    for back in range(1, 14):
        _, chunk, _ = await task_env.tasks.read("bash-1", -back, 100)
        assert "äöü€𝄞".endswith(chunk)


async def test_work_that_raises_fails_the_task(task_env: TaskEnv) -> None:
    await task_env.start(fail)
    task = await task_env.wait_for_end("bash-1")
    assert (task.status, task.outcome) == ("failed", "ValueError: oops")
    assert task_env.sent_of(Notification)[0].severity == "warning"


async def test_a_stopped_task_ends_and_the_model_learns_who_stopped_it(task_env: TaskEnv) -> None:
    await task_env.start(run_forever)
    task = await task_env.tasks.stop("bash-1", outcome="stopped by the user")
    assert task is not None
    assert (task.status, task.outcome) == ("stopped", "stopped by the user")
    assert not task_env.sent_of(Notification)  # the user stopped it
    assert "stopped by the user" in (await task_env.collect_reminders())[0]
    assert await task_env.tasks.stop("bash-1", outcome="stopped by the user") == task
    assert await task_env.tasks.stop("bash-2", outcome="stopped by the user") is None


async def test_waiting_times_out(task_env: TaskEnv) -> None:
    await task_env.start(run_forever)
    task = await task_env.tasks.wait_for("bash-1", timeout_s=0.01)
    assert task is not None
    assert task.status == "running"


async def test_the_number_of_running_tasks_is_limited(task_env: TaskEnv) -> None:
    for _ in range(MAX_RUNNING):
        await task_env.start(run_forever)
    with pytest.raises(TooManyTasks, match="already running"):
        await task_env.start(run_forever)
    await task_env.tasks.stop("bash-3", outcome="stopped by the user")
    assert (await task_env.start(run_forever)).id == f"bash-{MAX_RUNNING + 1}"


async def test_a_task_whose_files_cannot_be_saved_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    task_env = TaskEnv(tmp_path / "file" / "tasks")
    with pytest.raises(KimiTuiError, match="Can't save"):
        await task_env.start(succeed)
    assert not task_env.tasks.all


async def test_closing_stops_running_tasks_and_the_next_session_reports_them(task_env: TaskEnv) -> None:
    await task_env.start(run_forever, "the server")
    await task_env.start(succeed)
    await task_env.wait_for_end("bash-2")
    await task_env.collect_reminders()
    await task_env.tasks.close()

    later = TaskEnv(task_env.folder)
    assert [task.status for task in later.tasks.all] == ["stopped", "done"]
    (note,) = await later.collect_reminders()
    assert "bash-1 (the server)" in note
    assert "stopped when kimi-tui exited" in note
    assert "bash-2" not in note
    assert (await later.start(succeed)).id == "bash-3"
    await later.wait_for_end("bash-3")


async def test_lost_tasks_are_reported_once_at_the_next_start(tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    write_record(folder, TaskRecord(task=BackgroundTask("bash-1", "bash", "the server", started=990.0)))
    write_record(folder, TaskRecord(task=BackgroundTask("agent-2", "agent", "the search", agent_id="a1")))
    (folder / "bash-3.json").write_text("{broken")

    task_env = TaskEnv(folder)
    task_env.tasks.publish_initial_state()
    assert [task.status for task in task_env.tasks.all] == ["lost", "lost"]
    assert ["the server" in it.title for it in task_env.sent_of(Notification)] == [True, False]
    (note,) = await task_env.collect_reminders()
    assert 'resume="a1"' in note
    assert (await task_env.start(succeed)).id == "bash-4"
    await task_env.wait_for_end("bash-4")

    again = TaskEnv(folder)
    again.tasks.publish_initial_state()
    assert [it.title for it in again.sent_of(Notification)] == []


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
async def test_a_process_whose_group_was_not_saved_yet_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    output = str(folder / "bash-1.log")
    process = start_orphan(output)
    task = BackgroundTask("bash-1", "bash", "the server", started=990.0, output=output)
    write_record(folder, TaskRecord(task=task))
    task_env = TaskEnv(folder)
    assert process.wait(TEST_TIMEOUT_S) == -signal.SIGKILL
    assert "have now been stopped" in task_env.tasks.all[0].outcome


async def test_only_processes_left_behind_are_killed(tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    own, unrelated = (start_orphan(str(folder / name)) for name in ("bash-1.log", "other.log"))
    for number, process in enumerate((own, unrelated), 1):
        output = str(folder / f"bash-{number}.log")
        task = BackgroundTask(f"bash-{number}", "bash", "sleep", output=output)
        write_record(folder, TaskRecord(task=task, group=process.pid))
    try:
        task_env = TaskEnv(folder)
        assert await asyncio.to_thread(own.wait, TEST_TIMEOUT_S) == -signal.SIGKILL
        assert unrelated.poll() is None
        first, second = task_env.tasks.all
        assert "have now been stopped" in first.outcome
        assert "stopped" not in second.outcome
    finally:
        for process in (own, unrelated):
            process.kill()
            process.wait()


async def test_running_tasks_are_listed_after_a_compaction(task_env: TaskEnv) -> None:
    assert task_env.tasks.summarize_running() == ""
    await task_env.start(run_forever, "the server")
    await task_env.start(succeed)
    await task_env.wait_for_end("bash-2")
    assert task_env.tasks.summarize_running().splitlines()[1:] == ["- bash-1 (the server)"]


async def test_saved_output_is_limited(tmp_path: Path) -> None:
    from kimi_tui.tools.background.task_log import TaskLog, read_chunk

    log = TaskLog(tmp_path / "t.log", limit=10)
    log.open()
    for _ in range(5):
        log.write("12345678")
    log.close()
    _, text, _ = await read_chunk(log.path, 0, 1000)
    assert text.startswith("1234567812\n")
    assert text.count("is not saved") == 1
