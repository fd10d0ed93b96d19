"""Tasks dialog: status, output and stopping of background tasks; and their count in the status bar."""

from typing import Any

from kimi_tui.frontend.session_state import SessionViewState, reduce
from kimi_tui.tui.dialogs.tasks import TasksDialog
from kimi_tui.wire.background import BackgroundTask, TasksUpdate, TaskText
from kimi_tui.wire.commands import ReadTask, RunSlash, StopTask
from kimi_tui.wire.events import TurnBegin, TurnEnd
from kimi_tui.wire.requests import ApprovalRequest

SERVER = BackgroundTask("bash-1", "bash", "the server", command="npm start", started=100.0)
SEARCH = BackgroundTask("agent-2", "agent", "the search", started=100.0, activity="Grep login")
BUILD = BackgroundTask(
    "bash-3", "bash", "the build", "make", "failed", started=100.0, ended=132.0, outcome="exit code 2"
)


async def open_tasks(harness: Any, *tasks: BackgroundTask) -> TasksDialog:
    if tasks:
        await harness.send(TasksUpdate(tasks))
    await harness.type_text("/tasks")
    await harness.driver.press("enter")
    await harness.wait_until(lambda: isinstance(harness.app.screen, TasksDialog))
    await harness.driver.pause()
    dialog = harness.app.screen
    assert isinstance(dialog, TasksDialog)
    return dialog


async def test_the_status_bar_shows_the_number_of_running_tasks(open_app: Any) -> None:
    async with open_app() as harness:
        assert "in background" not in harness.screen_text()
        await harness.send(TasksUpdate((SERVER, SEARCH, BUILD)))
        assert "2 in background" in harness.screen_text()


async def test_tasks_are_listed_with_their_status_newest_first(open_app: Any) -> None:
    async with open_app() as harness:
        await open_tasks(harness, SERVER, SEARCH, BUILD)
        lines = [line for line in harness.screen_text().split("\n") if " the " in line]
        assert [("bash-3" in lines[0]), ("agent-2" in lines[1]), ("bash-1" in lines[2])] == [True] * 3
        assert "Grep login" in lines[1]
        assert "exit code 2 · 32 s" in harness.unwrapped_text()
        assert "2 running" in harness.screen_text()


async def test_the_output_of_the_highlighted_task_is_followed(open_app: Any) -> None:
    async with open_app() as harness:
        await open_tasks(harness, SERVER, BUILD)
        assert harness.commands_of(ReadTask)[-1] == ReadTask("bash-3", -60_000)
        await harness.send(TaskText("bash-3", 0, "error: no rule\n", 15))
        assert "error: no rule" in harness.screen_text()
        await harness.driver.press("down")
        await harness.wait_until(lambda: ReadTask("bash-1", -60_000) in harness.commands_of(ReadTask))
        assert "error: no rule" not in harness.screen_text()
        await harness.send(TaskText("bash-1", 0, "listening\n", 10))
        await harness.wait_until(lambda: ReadTask("bash-1", 10) in harness.commands_of(ReadTask))
        await harness.send(TaskText("bash-1", 10, "\x1b[2Jrequest 1\n", 24))
        assert "listening" in harness.screen_text()
        assert "request 1" in harness.screen_text()
        await harness.send(TaskText("bash-1", 0, "listening\n", 10))  # a duplicate reply
        assert harness.screen_text().count("listening") == 1


async def test_a_running_task_can_be_stopped(open_app: Any) -> None:
    async with open_app() as harness:
        await open_tasks(harness, SERVER, BUILD)
        await harness.driver.press("x")
        assert not harness.commands_of(StopTask)  # the build has ended
        await harness.driver.press("down", "x")
        await harness.wait_until(lambda: harness.commands_of(StopTask) == [StopTask("bash-1")])
        await harness.driver.press("escape")
        await harness.wait_until(lambda: not isinstance(harness.app.screen, TasksDialog))


async def test_the_highlight_stays_on_its_task_when_another_one_starts(open_app: Any) -> None:
    async with open_app() as harness:
        dialog = await open_tasks(harness, SERVER)
        await harness.send(TasksUpdate((SERVER, SEARCH)))
        assert dialog.highlighted_task == SERVER


async def test_without_tasks_the_dialog_explains_what_they_are(open_app: Any) -> None:
    async with open_app(size=(60, 16)) as harness:
        await open_tasks(harness)
        assert "No background tasks." in harness.unwrapped_text()
        await harness.driver.press("x", "enter", "down")


async def test_an_argument_is_sent_to_the_engine(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/tasks stop bash-1")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(RunSlash) == [RunSlash("tasks stop bash-1")])


def test_a_request_of_a_background_task_outlives_the_turn() -> None:
    state = SessionViewState()
    foreground = ApprovalRequest("r1", "c1", "Bash", "run command", "Run it")
    background = ApprovalRequest(
        "r2", "c2", "Bash", "run command", "Run it", source_kind="background_agent", source_id="agent-2"
    )
    for message in (TurnBegin("go"), foreground, background, TurnEnd()):
        state = reduce(state, message, now=0.0)
    assert state.requests == (background,)
