"""Background tasks on the screen: how many run, what they print, stopping them."""

from typing import Any

from kimi_tui.tui.dialogs.tasks import TasksDialog
from kimi_tui.tui.state import ScreenState, apply
from kimi_tui.wire.background import BackgroundTask, TasksUpdate, TaskText
from kimi_tui.wire.commands import ReadTask, RunSlash, StopTask
from kimi_tui.wire.events import TurnBegin, TurnEnd
from kimi_tui.wire.requests import ApprovalRequest

SERVER = BackgroundTask("bash-1", "bash", "the server", command="npm start", started=100.0)
SEARCH = BackgroundTask("agent-2", "agent", "the search", started=100.0, activity="Grep login")
BUILD = BackgroundTask(
    "bash-3", "bash", "the build", "make", "failed", started=100.0, ended=132.0, outcome="exit code 2"
)


async def open_tasks(desk: Any, *tasks: BackgroundTask) -> TasksDialog:
    if tasks:
        await desk.say(TasksUpdate(tasks))
    await desk.write("/tasks")
    await desk.pilot.press("enter")
    await desk.until(lambda: isinstance(desk.app.screen, TasksDialog))
    await desk.pilot.pause()
    dialog = desk.app.screen
    assert isinstance(dialog, TasksDialog)
    return dialog


async def test_the_status_bar_says_how_many_run(open_desk: Any) -> None:
    async with open_desk() as desk:
        assert "in background" not in desk.shown()
        await desk.say(TasksUpdate((SERVER, SEARCH, BUILD)))
        assert "2 in background" in desk.shown()


async def test_tasks_are_listed_with_how_they_stand_the_newest_first(open_desk: Any) -> None:
    async with open_desk() as desk:
        await open_tasks(desk, SERVER, SEARCH, BUILD)
        lines = [line for line in desk.shown().split("\n") if " the " in line]
        assert [("bash-3" in lines[0]), ("agent-2" in lines[1]), ("bash-1" in lines[2])] == [True] * 3
        assert "Grep login" in lines[1]
        assert "exit code 2 · 32 s" in desk.words()
        assert "2 running" in desk.shown()


async def test_the_output_of_the_marked_task_is_read_as_it_grows(open_desk: Any) -> None:
    async with open_desk() as desk:
        await open_tasks(desk, SERVER, BUILD)
        assert desk.told(ReadTask)[-1] == ReadTask("bash-3", -60_000)
        await desk.say(TaskText("bash-3", 0, "error: no rule\n", 15))
        assert "error: no rule" in desk.shown()
        await desk.pilot.press("down")
        await desk.until(lambda: ReadTask("bash-1", -60_000) in desk.told(ReadTask))
        assert "error: no rule" not in desk.shown()
        await desk.say(TaskText("bash-1", 0, "listening\n", 10))
        await desk.until(lambda: ReadTask("bash-1", 10) in desk.told(ReadTask))
        await desk.say(TaskText("bash-1", 10, "\x1b[2Jrequest 1\n", 24))
        assert "listening" in desk.shown()
        assert "request 1" in desk.shown()
        await desk.say(TaskText("bash-1", 0, "listening\n", 10))  # an answer that came twice
        assert desk.shown().count("listening") == 1


async def test_a_task_that_runs_can_be_stopped(open_desk: Any) -> None:
    async with open_desk() as desk:
        await open_tasks(desk, SERVER, BUILD)
        await desk.pilot.press("x")
        assert not desk.told(StopTask)  # the build has ended
        await desk.pilot.press("down", "x")
        await desk.until(lambda: desk.told(StopTask) == [StopTask("bash-1")])
        await desk.pilot.press("escape")
        await desk.until(lambda: not isinstance(desk.app.screen, TasksDialog))


async def test_the_mark_stays_on_its_task_when_another_one_starts(open_desk: Any) -> None:
    async with open_desk() as desk:
        dialog = await open_tasks(desk, SERVER)
        await desk.say(TasksUpdate((SERVER, SEARCH)))
        assert dialog.marked == SERVER


async def test_without_tasks_it_says_what_they_are(open_desk: Any) -> None:
    async with open_desk(size=(60, 16)) as desk:
        await open_tasks(desk)
        assert "Nothing runs in the background" in desk.words()
        await desk.pilot.press("x", "enter", "down")


async def test_with_an_argument_the_engine_does_it(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("/tasks stop bash-1")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(RunSlash) == [RunSlash("tasks stop bash-1")])


def test_a_request_of_a_background_task_outlives_the_turn() -> None:
    state = ScreenState()
    mine = ApprovalRequest("r1", "c1", "Bash", "run command", "Run it")
    theirs = ApprovalRequest(
        "r2", "c2", "Bash", "run command", "Run it", source_kind="background_agent", source_id="agent-2"
    )
    for message in (TurnBegin("go"), mine, theirs, TurnEnd()):
        state = apply(state, message, now=0.0)
    assert state.requests == (theirs,)
