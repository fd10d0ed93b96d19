import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.tools.background.record import TaskRecord, write_record
from kimi_tui.tools.background.tasks import MOST_RUNNING, BackgroundTasks, TooManyTasks
from kimi_tui.tools.background.work import Ending, Order, RunningTask
from kimi_tui.wire.background import BackgroundTask, TasksUpdate
from kimi_tui.wire.events import Notification
from tests.patience import PATIENCE_S
from tests.tools.marked import left_behind


class Bench:
    """Background tasks in a folder, and what was told of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sent: list[Any] = []
        self.said: list[str] = []
        self.now = 1000.0
        self.tasks = BackgroundTasks(folder, send=self.sent.append, clock=lambda: self.now)
        self.tasks.open()

    async def start(
        self, work: Callable[[RunningTask], Awaitable[Ending]], description: str = "the work", **more: Any
    ) -> BackgroundTask:
        return await self.tasks.start(
            Order(kind="bash", description=description, command="make", work=work, **more)
        )

    async def ended(self, task_id: str) -> BackgroundTask:
        task = await self.tasks.wait(task_id, timeout_s=PATIENCE_S)
        assert task is not None
        assert task.status != "running"
        return task

    async def hear(self) -> list[str]:
        """What the model is told now."""
        self.said.clear()

        async def say(text: str) -> None:
            self.said.append(text)

        await self.tasks.remind(say)
        return list(self.said)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.sent if isinstance(event, kind)]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path / "tasks")
    yield bench
    await bench.tasks.close()


async def goes_well(running: RunningTask) -> Ending:
    running.write("all fine\n")
    return Ending("done", "exit code 0")


async def never_ends(running: RunningTask) -> Ending:
    running.write("at it\n")
    await asyncio.Event().wait()
    raise AssertionError


async def breaks(running: RunningTask) -> Ending:
    raise ValueError("oops")


async def test_a_task_runs_and_ends_and_everybody_is_told(bench: Bench) -> None:
    task = await bench.start(goes_well)
    assert (task.id, task.status) == ("bash-1", "running")
    bench.now += 32
    task = await bench.ended("bash-1")

    assert (task.status, task.outcome) == ("done", "exit code 0")
    assert [[it.status for it in update.tasks] for update in bench.of(TasksUpdate)] == [["running"], ["done"]]
    (notice,) = bench.of(Notification)
    assert "bash-1" in notice.title
    assert "exit code 0 after 32 s" in notice.body
    (note,) = await bench.hear()
    assert "bash-1 (the work) has ended: exit code 0 after 32 s" in note
    assert await bench.hear() == []


async def test_its_output_is_read_in_pieces(bench: Bench) -> None:
    await bench.start(goes_well)
    await bench.ended("bash-1")
    assert await bench.tasks.read("bash-1", 0, 4) == (0, "all ", 4)
    assert await bench.tasks.read("bash-1", 4, 100) == (4, "fine\n", 9)
    assert await bench.tasks.read("bash-1", 9, 100) == (9, "", 9)
    assert await bench.tasks.read("bash-1", -5, 100) == (4, "fine\n", 9)
    assert await bench.tasks.read("nothing", 0, 100) == (0, "", 0)


async def test_a_piece_never_cuts_a_character(bench: Bench) -> None:
    async def speaks(running: RunningTask) -> Ending:
        running.write("äöü€𝄞")
        return Ending("done", "well")

    await bench.start(speaks)
    await bench.ended("bash-1")
    text, offset = "", 0
    while True:
        start, piece, end = await bench.tasks.read("bash-1", offset, 4)
        assert start == offset
        if not piece:
            break
        text, offset = text + piece, end
    assert text == "äöü€𝄞"
    for back in range(1, 14):
        _, piece, _ = await bench.tasks.read("bash-1", -back, 100)
        assert "äöü€𝄞".endswith(piece)


async def test_work_that_fails_is_a_task_that_failed(bench: Bench) -> None:
    await bench.start(breaks)
    task = await bench.ended("bash-1")
    assert (task.status, task.outcome) == ("failed", "ValueError: oops")
    assert bench.of(Notification)[0].severity == "warning"


async def test_a_stopped_task_ends_at_once_and_the_model_learns_who_did_it(bench: Bench) -> None:
    await bench.start(never_ends)
    task = await bench.tasks.stop("bash-1", by="by the user")
    assert task is not None
    assert (task.status, task.outcome) == ("stopped", "stopped by the user")
    assert not bench.of(Notification)  # who stopped it knows
    assert "stopped by the user" in (await bench.hear())[0]
    assert await bench.tasks.stop("bash-1", by="by the user") == task
    assert await bench.tasks.stop("bash-2", by="by the user") is None


async def test_waiting_gives_up_after_its_time(bench: Bench) -> None:
    await bench.start(never_ends)
    task = await bench.tasks.wait("bash-1", timeout_s=0.01)
    assert task is not None
    assert task.status == "running"


async def test_there_is_a_most_that_may_run(bench: Bench) -> None:
    for _ in range(MOST_RUNNING):
        await bench.start(never_ends)
    with pytest.raises(TooManyTasks, match="run already"):
        await bench.start(never_ends)
    await bench.tasks.stop("bash-3", by="by the user")
    assert (await bench.start(never_ends)).id == f"bash-{MOST_RUNNING + 1}"


async def test_where_nothing_can_be_kept_nothing_starts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    bench = Bench(tmp_path / "file" / "tasks")
    with pytest.raises(KimiTuiError, match="can't be kept"):
        await bench.start(goes_well)
    assert not bench.tasks.all


async def test_closing_stops_what_runs_and_the_next_session_tells(bench: Bench) -> None:
    await bench.start(never_ends, "the server")
    await bench.start(goes_well)
    await bench.ended("bash-2")
    await bench.hear()
    await bench.tasks.close()

    later = Bench(bench.folder)
    assert [task.status for task in later.tasks.all] == ["stopped", "done"]
    (note,) = await later.hear()
    assert "bash-1 (the server)" in note
    assert "stopped when kimi-tui ended" in note
    assert "bash-2" not in note
    assert (await later.start(goes_well)).id == "bash-3"
    await later.ended("bash-3")


async def test_what_was_cut_off_is_named_once_at_the_next_start(tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    write_record(folder, TaskRecord(task=BackgroundTask("bash-1", "bash", "the server", started=990.0)))
    write_record(folder, TaskRecord(task=BackgroundTask("agent-2", "agent", "the search", agent_id="a1")))
    (folder / "bash-3.json").write_text("{broken")

    bench = Bench(folder)
    bench.tasks.introduce()
    assert [task.status for task in bench.tasks.all] == ["lost", "lost"]
    assert ["the server" in it.title for it in bench.of(Notification)] == [True, False]
    (note,) = await bench.hear()
    assert 'resume="a1"' in note
    assert (await bench.start(goes_well)).id == "bash-4"
    await bench.ended("bash-4")

    again = Bench(folder)
    again.tasks.introduce()
    assert [it.title for it in again.of(Notification)] == []


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="there is no /proc")
async def test_a_process_that_had_begun_but_was_not_noted_yet_is_ended(tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    output = str(folder / "bash-1.log")
    process = left_behind(output)
    task = BackgroundTask("bash-1", "bash", "the server", started=990.0, output=output)
    write_record(folder, TaskRecord(task=task))
    bench = Bench(folder)
    assert process.wait(PATIENCE_S) == -signal.SIGKILL
    assert "were ended now" in bench.tasks.all[0].outcome


async def test_processes_that_were_left_behind_are_ended_and_no_others(tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    mine, foreign = (left_behind(str(folder / name)) for name in ("bash-1.log", "other.log"))
    for number, process in enumerate((mine, foreign), 1):
        output = str(folder / f"bash-{number}.log")
        task = BackgroundTask(f"bash-{number}", "bash", "sleep", output=output)
        write_record(folder, TaskRecord(task=task, group=process.pid))
    try:
        bench = Bench(folder)
        assert await asyncio.to_thread(mine.wait, PATIENCE_S) == -signal.SIGKILL
        assert foreign.poll() is None
        first, second = bench.tasks.all
        assert "were ended now" in first.outcome
        assert "ended" not in second.outcome.removeprefix("kimi-tui ended")
    finally:
        for process in (mine, foreign):
            process.kill()
            process.wait()


async def test_the_running_tasks_are_restated_after_a_compaction(bench: Bench) -> None:
    assert bench.tasks.restated() == ""
    await bench.start(never_ends, "the server")
    await bench.start(goes_well)
    await bench.ended("bash-2")
    assert bench.tasks.restated().splitlines()[1:] == ["- bash-1 (the server)"]


async def test_a_flood_of_output_stays_bounded(tmp_path: Path) -> None:
    from kimi_tui.tools.background.log import TaskLog, read_piece

    log = TaskLog(tmp_path / "t.log", limit=10)
    log.open()
    for _ in range(5):
        log.write("12345678")
    log.close()
    _, text, _ = read_piece(log.path, 0, 1000)
    assert text.startswith("1234567812\n")
    assert "more than is kept" in text
    assert text.count("more than is kept") == 1
